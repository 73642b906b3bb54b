#include "ask/anomalies.h"

#include <algorithm>
#include <cmath>

#include "ask/distribution.h"

namespace edict {
namespace {

bool less_expected(const LeastExpected::Entry& a, const LeastExpected::Entry& b) {
  if (a.tail_probability != b.tail_probability) return a.tail_probability < b.tail_probability;
  const double off_a = std::abs(a.judged.surprise().z), off_b = std::abs(b.judged.surprise().z);
  if (off_a != off_b) return off_a > off_b;
  if (a.judged.event != b.judged.event) return a.judged.event < b.judged.event;
  return a.judged.feature < b.judged.feature;
}

}  // namespace

Surprise surprise(const Marginal& expected, double x) {
  Marginal in_deviations = expected;
  if (const double deviation = predictive_deviation(expected); std::isfinite(deviation))
    in_deviations.scale = deviation;
  return {standardised(in_deviations, x), -log_density(expected, x)};
}

Surprise JudgedEvent::surprise() const {
  if (!given) return edict::surprise(expected, observed);
  return {given->standard_score(observed), -given->log_density(observed)};
}

double JudgedEvent::probability_integral() const {
  return given ? given->probability_below(observed) : probability_below(expected, observed);
}

double JudgedEvent::tail_probability() const {
  return given ? given->tail_probability(observed) : edict::tail_probability(expected, observed);
}

double JudgedEvent::central_level() const {
  return given ? normal_central_level(given->standard_score(observed))
               : edict::central_level(expected, observed);
}

std::vector<JudgedEvent> judged_alone(const Expectations& series) {
  std::vector<JudgedEvent> judged;
  judged.reserve(series.observations.size());
  for (const ExpectedObservation& o : series.observations) judged.push_back({o, {}});
  return judged;
}

std::vector<JudgedEvent> judged_together(const Correlations& correlations,
                                         const Expectations& series) {
  std::vector<JudgedEvent> judged = judged_alone(series);
  each_event(correlations, std::span(judged),
             [](std::span<JudgedEvent> event, const JointDistribution& distribution,
                std::span<const double> observed) {
               const auto given = distribution.each_given_others(observed);
               for (std::size_t k = 0; k < event.size(); ++k) event[k].given = given[k];
             });
  return judged;
}

void LeastExpected::add(std::size_t series, const JudgedEvent& judged) {
  entries_.push_back({series, judged, judged.tail_probability()});
  if (entries_.size() >= 2 * count_ + 1024) shrink();
}

void LeastExpected::add(const LeastExpected& other) {
  entries_.insert(entries_.end(), other.entries_.begin(), other.entries_.end());
  shrink();
}

void LeastExpected::shrink() {
  if (entries_.size() <= count_) return;
  std::nth_element(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(count_),
                   entries_.end(), less_expected);
  entries_.resize(count_);
}

std::vector<LeastExpected::Entry> LeastExpected::sorted() const {
  std::vector<Entry> result = entries_;
  std::sort(result.begin(), result.end(), less_expected);
  if (result.size() > count_) result.resize(count_);
  return result;
}

}  // namespace edict

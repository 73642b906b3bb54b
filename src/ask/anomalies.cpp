#include "ask/anomalies.h"

#include <algorithm>
#include <cmath>

#include "ask/distribution.h"
#include "ask/expectations.h"

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

std::vector<JudgedEvents> judged_events(const Model& model, const Dataset& data,
                                        std::span<const std::size_t> series, ThreadPool& pool,
                                        const Guard& guard, StopFlag stop) {
  ExpectationRequest request;
  request.guard = guard;
  request.stop = stop;
  const std::vector<Expectations> expected = expectations(model, data, series, request, pool);
  std::vector<JudgedEvents> result(series.size());
  for (std::size_t i = 0; i < series.size(); ++i) {
    result[i].series = series[i];
    auto marginal = expected[i].marginals.begin();
    auto clip = expected[i].clips.begin();
    for (std::size_t e = data.first_event[series[i]]; e < data.first_event[series[i] + 1]; ++e)
      for (std::size_t k = data.first_observation[e]; k < data.first_observation[e + 1]; ++k) {
        const auto j = static_cast<std::size_t>(data.feature[k]);
        result[i].observations.push_back({e, j, data.value[k], *marginal++});
        for (; clip != expected[i].clips.end() && clip->observation == k; ++clip)
          result[i].clips.push_back({data.times[e], j, data.value[k], clip->used, clip->sigmas});
      }
  }
  return result;
}

void judge_together(const Correlations& correlations, JudgedEvents& judged) {
  each_event(correlations, std::span(judged.observations),
             [](std::span<JudgedEvent> event, const JointDistribution& distribution,
                std::span<const double> observed) {
               const auto given = distribution.each_given_others(observed);
               for (std::size_t k = 0; k < event.size(); ++k) event[k].given = given[k];
             });
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

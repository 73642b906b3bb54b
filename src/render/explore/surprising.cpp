#include "render/explore/surprising.h"

#include <algorithm>
#include <cmath>

#include "ask/anomalies.h"
#include "ask/distribution.h"

namespace edict::report {
namespace {

// Rows of the table.
constexpr std::size_t kSurprising = 100, kSurprisingOfFeature = 20, kSurprisingOfFeatures = 1000;

bool more_surprising(const SurprisingObservation& a, const SurprisingObservation& b) {
  if (a.surprise != b.surprise) return a.surprise > b.surprise;
  const double za = std::abs(a.z), zb = std::abs(b.z);
  return za != zb ? za > zb : a.observation < b.observation;
}

// The first `most` of a sorted list, with one more in it.
void insert(std::vector<SurprisingObservation>& kept, const SurprisingObservation& one,
            std::size_t most) {
  if (kept.size() == most && !more_surprising(one, kept.back())) return;
  kept.insert(std::upper_bound(kept.begin(), kept.end(), one, more_surprising), one);
  if (kept.size() > most) kept.pop_back();
}

}  // namespace

double surprise_of(const Marginal& m, double x) {
  constexpr double kLeast = 1e-307;  // below it nothing is told apart but by z
  return -std::log10(std::max(tail_probability(m, x), kLeast));
}

void SurprisingObservations::add(const Dataset& data, std::size_t place, std::size_t series,
                                 const Expectations& expected) {
  const std::size_t most =
      std::clamp<std::size_t>(kSurprisingOfFeatures / of_feature_.size(), 2, kSurprisingOfFeature);
  std::size_t k = 0;
  for (std::size_t e = data.first_event[series]; e < data.first_event[series + 1]; ++e)
    for (std::size_t o = data.first_observation[e]; o < data.first_observation[e + 1]; ++o) {
      const Marginal& m = expected.observations[k++].expected;
      const auto j = static_cast<std::size_t>(data.feature[o]);
      if (!features_.empty() && std::ranges::find(features_, j) == features_.end()) continue;
      const double x = data.value[o];
      const SurprisingObservation one{place, o, e, m, surprise(m, x).z, surprise_of(m, x)};
      insert(all_, one, kSurprising);
      insert(of_feature_[j], one, most);
    }
}

std::vector<SurprisingObservation> SurprisingObservations::sorted() const {
  std::vector<SurprisingObservation> all = all_;
  for (const auto& own : of_feature_) all.insert(all.end(), own.begin(), own.end());
  std::sort(all.begin(), all.end(), more_surprising);
  const auto same = [](const SurprisingObservation& a, const SurprisingObservation& b) {
    return a.observation == b.observation;
  };
  all.erase(std::unique(all.begin(), all.end(), same), all.end());
  return all;
}

}  // namespace edict::report

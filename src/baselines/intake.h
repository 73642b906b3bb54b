// What enters a model that reads whole series: of each example the stops it absorbs, in order, and
// nothing for what was not observed. Series lie one after the other, times count from their start.
#pragma once

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

#include "engine/network.h"

namespace edict {

template <class S>
struct Intake {
  std::vector<Index> first_event;        // series + 1
  std::vector<Index> first_observation;  // events + 1
  std::vector<double> time;              // of events
  std::vector<std::int32_t> feature;     // of observations
  std::vector<S> value;
  Matrix<S> covariates;  // covariates × series, 0 (the mean) where one is missing
  std::vector<std::int32_t> label;
  std::vector<std::uint64_t> dropout_key;

  Index series() const { return static_cast<Index>(label.size()); }
  Index events() const { return static_cast<Index>(time.size()); }
  Index observations() const { return static_cast<Index>(value.size()); }
  Index events(Index s) const { return first_event[s + 1] - first_event[s]; }
  Index first_of_series(Index s) const { return first_observation[first_event[s]]; }

  std::vector<Index> lengths() const {
    std::vector<Index> lengths;
    for (Index s = 0; s < series(); ++s) lengths.push_back(events(s));
    return lengths;
  }

  // Without a guard, as learning does.
  void take(std::span<const BasicExample<S>> examples, Index covariate_count) {
    take(examples, covariate_count, [](std::size_t, std::size_t, std::int32_t, S x) { return x; });
  }

  // The population clip needs no distribution; EDGR is refused in the name of `kind`.
  void take(std::span<const BasicExample<S>> examples, Index covariate_count,
            const InferenceOptions& options, std::span<std::vector<Clipped>> clips,
            std::string_view kind) {
    if (options.guard.kind == Guard::Kind::edgr) throw no_distribution(kind);
    take(examples, covariate_count, [&](std::size_t column, std::size_t stop, std::int32_t j, S x) {
      return guarded(
          options.guard, options.population, j, x, [] { return Marginal{}; }, stop,
          clips.empty() ? nullptr : &clips[column]);
    });
  }

 private:
  template <class Clip>
  void take(std::span<const BasicExample<S>> examples, Index covariate_count, const Clip& clip) {
    first_event = first_observation = {0};
    time.clear(), feature.clear(), value.clear(), label.clear(), dropout_key.clear();
    covariates.setZero(covariate_count, static_cast<Index>(examples.size()));
    for (std::size_t column = 0; column < examples.size(); ++column) {
      const BasicExample<S>& example = examples[column];
      const Timeline<S>& timeline = *example.timeline;
      for (std::size_t at = 0; at < timeline.stops.size(); ++at) {
        const auto& stop = timeline.stops[at];
        if (!(stop.what & Timeline<S>::kAbsorb) || stop.count == 0 ||
            stop.time >= example.absorb_until)
          continue;
        for (std::uint32_t k = stop.first; k < stop.first + stop.count; ++k) {
          feature.push_back(timeline.feature[k]);
          value.push_back(clip(column, at, timeline.feature[k], timeline.value[k]));
        }
        time.push_back(stop.time - timeline.start);
        first_observation.push_back(observations());
      }
      std::copy(timeline.covariates.begin(), timeline.covariates.end(),
                covariates.col(static_cast<Index>(column)).data());
      first_event.push_back(events());
      label.push_back(example.label);
      dropout_key.push_back(example.dropout_key);
    }
  }
};

}  // namespace edict

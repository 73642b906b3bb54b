// What enters a model that reads whole series: of each example the stops it absorbs, in order, and
// nothing for what was not observed. Series lie one after the other, times count from their start.
#pragma once

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

#include "edict/engine/network.h"

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
  void take(std::span<const BasicExample<S>> examples, Index covariate_count, const Asking& asking,
            std::string_view kind) {
    if (asking.guard.kind == Guard::Kind::edgr) throw no_distribution(kind);
    take(examples, covariate_count, [&](std::size_t slot, std::size_t stop, std::int32_t j, S x) {
      return guarded(asking, slot, stop, j, x);
    });
  }

 private:
  template <class Clip>
  void take(std::span<const BasicExample<S>> examples, Index covariate_count, const Clip& clip) {
    first_event = first_observation = {0};
    time.clear(), feature.clear(), value.clear(), label.clear(), dropout_key.clear();
    covariates.setZero(covariate_count, static_cast<Index>(examples.size()));
    for (std::size_t slot = 0; slot < examples.size(); ++slot) {
      const BasicExample<S>& example = examples[slot];
      const Agenda<S>& agenda = *example.agenda;
      for (std::size_t at = 0; at < agenda.stops.size(); ++at) {
        const auto& stop = agenda.stops[at];
        if (!(stop.what & Agenda<S>::kAbsorb) || stop.count == 0 ||
            stop.time >= example.absorb_until)
          continue;
        for (std::uint32_t k = stop.first; k < stop.first + stop.count; ++k) {
          feature.push_back(agenda.feature[k]);
          value.push_back(clip(slot, at, agenda.feature[k], agenda.value[k]));
        }
        time.push_back(stop.time - agenda.start);
        first_observation.push_back(observations());
      }
      std::copy(agenda.covariates.begin(), agenda.covariates.end(),
                covariates.col(static_cast<Index>(slot)).data());
      first_event.push_back(events());
      label.push_back(example.label);
      dropout_key.push_back(example.dropout_key);
    }
  }

  static S guarded(const Asking& asking, std::size_t slot, std::size_t stop, std::int32_t j, S x) {
    if (!asking.guard.active()) return x;
    const bool own = !asking.population_mean.empty();
    const Guard::Band band =
        asking.guard.band({}, own ? asking.population_mean[static_cast<std::size_t>(j)] : 0.0,
                          own ? asking.population_deviation[static_cast<std::size_t>(j)] : 1.0);
    const double raw = static_cast<double>(x), used = asking.guard.clip(raw, band);
    if (used == raw) return x;
    if (asking.on_clip) asking.on_clip(slot, stop, j, raw, used, (raw - band.centre) / band.sigma);
    return static_cast<S>(used);
  }
};

}  // namespace edict

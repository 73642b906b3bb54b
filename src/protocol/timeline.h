// What one series asks of a model: from where its clock starts and at which moments something
// happens. Times are in the model's unit, values standardised. Training, evaluation and prediction
// differ only in the timelines they write.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "base/types.h"

namespace edict {

template <class S>
struct Timeline {
  // What happens at a stop, any combination.
  static constexpr std::uint8_t kAbsorb = 1;  // the observations enter h(t)
  static constexpr std::uint8_t kScore = 2;   // their loss counts, judged before they enter
  static constexpr std::uint8_t kQuery = 4;   // the distribution just before them is reported

  struct Stop {
    double time;
    std::uint32_t first, count;  // observations [first, first + count)
    std::uint8_t what;
  };

  std::string id;    // of the series, for messages
  std::string unit;  // of what is judged: what belongs together, as a series or a group of them
  double start = 0.0;
  std::vector<Stop> stops;
  std::vector<std::int32_t> feature;
  std::vector<S> value;
  std::vector<S> covariates;
  // From here on nothing is absorbed where the series is judged by forecasts (Protocol::cut_of).
  double cut = std::numeric_limits<double>::infinity();
  // What is known at the start (Network::state_rows() numbers of each member, one after the other);
  // empty: nothing but the covariates.
  std::vector<S> state = {};
  // Where something came before the start: the last value of each feature, NaN where there is none.
  std::vector<S> last = {};

  // Empty again, without giving memory back.
  void clear(double from) {
    start = from;
    stops.clear();
    feature.clear();
    value.clear();
    covariates.clear();
    cut = std::numeric_limits<double>::infinity();
    state.clear();
    last.clear();
  }

  // Observations for the stop are appended with `observe` after it.
  void stop(double time, std::uint8_t what) {
    stops.push_back({time, static_cast<std::uint32_t>(feature.size()), 0, what});
  }
  void observe(std::int32_t observed, S x) {
    feature.push_back(observed);
    value.push_back(x);
    ++stops.back().count;
  }
};

}  // namespace edict

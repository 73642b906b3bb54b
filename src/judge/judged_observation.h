// The observations by which an evaluation judges a model, and their sums.
//
// Series are judged by threads and added up one after the other in their order, so that a sum
// neither depends on the number of threads nor keeps what was found of each series.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <tuple>
#include <vector>

#include "base/not_finite.h"
#include "base/threads/in_order.h"
#include "base/threads/thread_pool.h"
#include "model/expected_observation.h"
#include "model/infer.h"
#include "model/timelines.h"
#include "protocol/protocol.h"

namespace edict {

// In the model's units but for the horizon.
struct JudgedObservation : ExpectedObservation {
  bool extrapolated;  // lies after the cut-off
  bool informed;      // something of the series was absorbed before it
  double horizon;     // since the series was last observed, in the data's unit; NaN if it was not
  double last_value;  // of the feature, as it was observed; NaN if it was not
  // What each member of an ensemble expected, uncalibrated; empty of a single model, and from both
  // sides.
  std::vector<Marginal> members = {};
};

// What the model was shown while it was judged, and how much of it the guard changed.
struct ShownObservations {
  std::size_t absorbed = 0, clipped = 0;
};

// visit(stop, observation of the timeline, when the series was last absorbed, last values of all
// features) for each observation that is asked about, in order. NaN: nothing yet.
template <class Visit>
void each_asked_observation(const Timeline<float>& timeline, std::size_t features,
                            const Visit& visit) {
  std::vector<double> last_value(timeline.last.begin(), timeline.last.end());
  double last_time = timeline.last.empty() ? kNaN : timeline.start;
  last_value.resize(features, kNaN);
  for (std::size_t s = 0; s < timeline.stops.size(); ++s) {
    const auto& stop = timeline.stops[s];
    const std::uint32_t end = stop.first + stop.count;
    if (stop.what & Timeline<float>::kQuery)
      for (std::uint32_t o = stop.first; o < end; ++o)
        visit(s, o, last_time, std::span<const double>(last_value));
    if (!(stop.what & Timeline<float>::kAbsorb)) continue;
    last_time = stop.time;
    for (std::uint32_t o = stop.first; o < end; ++o)
      last_value[static_cast<std::size_t>(timeline.feature[o])] =
          static_cast<double>(timeline.value[o]);
  }
}

inline double horizon_at(const Model& model, double time, double last_time) {
  return (time - last_time) * model.protocol.time_unit;
}

// Of one series, in order. From both sides, horizon and last value still tell of the past.
std::vector<JudgedObservation> judged_observations(const Model& model,
                                                   const Timeline<float>& timeline,
                                                   const Answer& answer,
                                                   std::span<const Answer* const> members);

// Judges timelines [begin, begin + count).
template <class... Sums>
void add_block(const Model& model, const Timelines& all, std::size_t begin, std::size_t count,
               ThreadPool& pool, const InferenceOptions& options, Sides sides,
               ShownObservations& shown, Sums&... sums) {
  const std::vector<Timeline<float>> timelines = all.written(model, begin, count, pool, options);
  std::vector<std::vector<Answer>> members;
  const std::vector<Answer> answers =
      sides == Sides::both ? infer_smoothed(model, timelines, pool, options)
                           : infer(model, examples_of(timelines), pool, options, &members);
  for_each_in_order(
      pool, count,
      [&](std::size_t k) {
        std::vector<const Answer*> own_members;
        for (const auto& of_member : members) own_members.push_back(&of_member[k]);
        const std::vector<JudgedObservation> own =
            judged_observations(model, timelines[k], answers[k], own_members);
        return std::tuple(sums.of(std::span(own))...);
      },
      [&](const std::tuple<typename Sums::OfSeries...>& own) {
        (sums.add(std::get<typename Sums::OfSeries>(own)), ...);
      });
  for (std::size_t k = 0; k < count; ++k) {
    for (const auto& own : timelines[k].stops)
      if (own.what & Timeline<float>::kAbsorb) shown.absorbed += own.count;
    shown.clipped += answers[k].clips.size();
  }
}

// Each of `sums` tells by `of` what it makes of a series' observations, on any thread, and is given
// that by `add`, series after series.
template <class... Sums>
ShownObservations add_up(const Model& model, const Dataset& data,
                         std::span<const std::size_t> series, ThreadPool& pool, const Guard& guard,
                         StopFlag stop, Sides sides, Sums&... sums) {
  InferenceOptions options = model.inference_options(guard);
  options.marginals = InferenceOptions::Marginals::observed;
  options.stop = stop;
  ShownObservations shown;
  // Block after block, so that timelines and answers take the memory of some series only; the
  // origins of long series are spread over all of them.
  const std::size_t block = block_of_series(model);
  const std::size_t together = has_long_series(data, series) ? series.size() : block;
  for (std::size_t from = 0; from < series.size(); from += together) {
    const Timelines all =
        timelines_to_judge(model.protocol, model.config.data, data,
                           series.subspan(from, std::min(together, series.size() - from)));
    for (std::size_t begin = 0; begin < all.size(); begin += block)
      add_block(model, all, begin, std::min(block, all.size() - begin), pool, options, sides, shown,
                sums...);
  }
  return shown;
}

}  // namespace edict

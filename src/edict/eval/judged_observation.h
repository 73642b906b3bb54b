// The observations by which an evaluation judges a model, one by one.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "edict/core/not_finite.h"
#include "edict/core/thread_pool.h"
#include "edict/model/infer.h"
#include "edict/protocol/protocol.h"

namespace edict {

// In the model's units but for the horizon.
struct JudgedObservation {
  bool extrapolated;   // lies after t_cut
  bool informed;       // something of the series was absorbed before it
  std::size_t moment;  // those of a series with the same number came at once
  std::int32_t feature;
  Marginal expected;
  double x;
  double horizon;     // since the series was last observed, in the data's unit; NaN if it was not
  double last_value;  // of the feature, as it was observed; NaN if it was not
};

// What the model was shown while it was judged, and how much of it the guard changed.
struct ShownObservations {
  std::size_t absorbed = 0, clipped = 0;
};

// What each series shows a model that is judged, and what is asked about it.
inline std::vector<Agenda<float>> evaluation_agendas(const Model& model, const Dataset& data,
                                                     std::span<const std::size_t> series,
                                                     ThreadPool& pool) {
  std::vector<Agenda<float>> agendas(series.size());
  pool.for_each(series.size(), [&](std::size_t k, std::size_t) {
    agendas[k] = evaluation_agenda(model.protocol, model.config.data, data, series[k]);
  });
  return agendas;
}

// visit(place in `series`, observation), in order within a series; series on several threads. From
// both sides, horizon and last value still tell of the past.
template <class Visit>
ShownObservations each_judged_observation(const Model& model, const Dataset& data,
                                          std::span<const std::size_t> series, ThreadPool& pool,
                                          const Guard& guard, StopFlag stop, Sides sides,
                                          const Visit& visit) {
  const double cut = model.protocol.to_model_time(model.protocol.t_cut);
  InferenceOptions options = model.inference_options(guard);
  options.marginals = InferenceOptions::Marginals::observed;
  options.stop = stop;
  ShownObservations shown;
  // Block after block, so that agendas and answers take the memory of some series only.
  const std::size_t block = block_of_series(model);
  for (std::size_t begin = 0; begin < series.size(); begin += block) {
    const std::size_t count = std::min(block, series.size() - begin);
    const std::vector<Agenda<float>> agendas =
        evaluation_agendas(model, data, series.subspan(begin, count), pool);
    const std::vector<Answer> answers = infer_from(sides, model, agendas, pool, options);
    pool.for_each(count, [&](std::size_t k, std::size_t) {
      const std::size_t i = begin + k;
      const Agenda<float>& agenda = agendas[k];
      std::vector<double> last_value(model.features.size(), kNaN);
      double last_time = kNaN;
      std::size_t next = 0;  // stop that was not looked at for what it absorbs
      each_observation(
          agenda, answers[k],
          [&](std::size_t judged, std::int32_t feature, const Marginal& expected, double x) {
            for (; next < judged; ++next) {
              const auto& earlier = agenda.stops[next];
              if (!(earlier.what & Agenda<float>::kAbsorb)) continue;
              last_time = earlier.time;
              for (std::uint32_t o = earlier.first; o < earlier.first + earlier.count; ++o)
                last_value[static_cast<std::size_t>(agenda.feature[o])] =
                    static_cast<double>(agenda.value[o]);
            }
            const double time = agenda.stops[judged].time;
            visit(i, JudgedObservation{time >= cut, !std::isnan(last_time), judged, feature,
                                       expected, x, (time - last_time) * model.protocol.time_unit,
                                       last_value[static_cast<std::size_t>(feature)]});
          });
    });
    for (std::size_t k = 0; k < count; ++k) {
      for (const auto& own : agendas[k].stops)
        if (own.what & Agenda<float>::kAbsorb) shown.absorbed += own.count;
      shown.clipped += answers[k].clips.size();
    }
  }
  return shown;
}

}  // namespace edict

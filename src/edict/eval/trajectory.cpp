#include "edict/eval/trajectory.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "edict/math/student_t.h"
#include "edict/model/infer.h"

namespace edict {
namespace {

// For each stop, the event of the data that it absorbs: stops are queries and events, both in order
// of time, so it is the one after all that were absorbed before.
std::vector<std::size_t> events_of(const Dataset& data, std::size_t series,
                                   const Agenda<float>& agenda) {
  std::vector<std::size_t> events;
  std::size_t next = data.first_event[series];
  for (const auto& stop : agenda.stops) {
    events.push_back(next);
    next += (stop.what & Agenda<float>::kAbsorb) != 0;
  }
  return events;
}

// As it stands in the data: what went through the model's units and back differs in its last
// digits.
double observed_value(const Dataset& data, std::size_t event, std::int32_t feature) {
  for (const Observation& o : data.observed(event))
    if (o.feature == feature) return o.value;
  return std::numeric_limits<double>::quiet_NaN();  // never: what was clipped was observed
}

}  // namespace

double half_width(const Marginal& marginal, double level) {
  return marginal.scale * (std::isinf(marginal.dof) ? normal_half_width(level)
                                                    : student_t_half_width(level, marginal.dof));
}

void predict(const Model& model, const Dataset& data, const PredictRequest& request,
             ThreadPool& pool, const std::function<void(const Trajectory&)>& sink) {
  constexpr std::size_t kBlock = 512;
  std::vector<std::size_t> series = request.series;
  if (series.empty()) {
    series.resize(data.size());
    std::iota(series.begin(), series.end(), std::size_t{0});
  }
  InferenceOptions options = model.inference_options(request.guard);
  options.stop = request.stop;
  for (std::size_t begin = 0; begin < series.size(); begin += kBlock) {
    const std::size_t count = std::min(kBlock, series.size() - begin);
    std::vector<Agenda<float>> agendas;
    std::vector<Example> examples;
    std::vector<Trajectory> block(count);
    std::vector<std::vector<std::size_t>> events(count);  // of the stops, for the guard
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t own = series[begin + i];
      agendas.push_back(query_agenda(model.protocol, data, own,
                                     request.own_times ? request.own_times(own) : request.times));
      block[i].series = series[begin + i];
      if (request.guard.active()) events[i] = events_of(data, series[begin + i], agendas.back());
      block[i].features = model.features.size();
    }
    for (const auto& agenda : agendas)
      examples.push_back({&agenda, model.protocol.to_model_time(request.absorb_until)});
    const std::vector<Answer> answers = infer(model, examples, pool, options);
    pool.for_each(count, [&](std::size_t i, std::size_t) {
      const std::size_t features = model.features.size();
      block[i].marginals.reserve(answers[i].marginals.size());
      for (std::size_t k = 0; k < answers[i].marginals.size(); ++k)
        block[i].marginals.push_back(
            to_raw(model.protocol.standardisation, k % features, answers[i].marginals[k]));
      for (const Clipped& clip : answers[i].clips) {
        const auto j = static_cast<std::size_t>(clip.feature);
        const std::size_t event = events[i][clip.stop];
        block[i].clips.push_back({data.times[event], j, observed_value(data, event, clip.feature),
                                  model.protocol.standardisation.to_raw(j, clip.used),
                                  clip.sigmas});
      }
    });
    for (const Trajectory& trajectory : block) sink(trajectory);
  }
}

}  // namespace edict

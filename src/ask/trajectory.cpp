#include "ask/trajectory.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numeric>

#include "base/error.h"
#include "model/infer.h"
#include "protocol/filtering_timeline.h"

namespace edict {
namespace {

// The double nearest to the fifteen digits of a sum: what reading the decimal sum would give.
double decimal_sum(double a, double b) {
  return std::strtod(fmt::format("{:.15g}", a + b).c_str(), nullptr);
}

}  // namespace

std::vector<double> asked_times(const PredictRequest& request, const Dataset& data,
                                std::size_t series) {
  const std::vector<double> times = request.own_times ? request.own_times(series) : request.times;
  if (request.from == PredictRequest::From::clock) return times;
  std::size_t events = data.first_event[series + 1];
  while (events > data.first_event[series] && data.times[events - 1] >= request.absorb_until)
    --events;
  const double last = events > data.first_event[series] ? data.times[events - 1] : 0.0;
  std::vector<double> result;
  for (const double ahead : times) {
    if (ahead < 0)
      throw Error(fmt::format(
          "{} lies before the last observation; give times from 0 on, which is that observation",
          ahead));
    result.push_back(ahead == 0 ? last : decimal_sum(last, ahead));
  }
  return result;
}

std::vector<Trajectory> trajectories(const Model& model, const Dataset& data,
                                     const PredictRequest& request,
                                     std::span<const std::size_t> series, ThreadPool& pool) {
  const std::size_t features = model.features.size();
  InferenceOptions options = model.inference_options(request.guard);
  options.stop = request.stop;
  std::vector<Trajectory> result(series.size());
  std::vector<Timeline<float>> timelines;
  std::vector<Example> examples;
  for (std::size_t i = 0; i < series.size(); ++i) {
    result[i].series = series[i];
    result[i].features = features;
    result[i].times = asked_times(request, data, series[i]);
    timelines.push_back(request.from == PredictRequest::From::clock
                            ? query_timeline(model.protocol, data, series[i], result[i].times)
                            : filtering_timeline(model.protocol, data, series[i], result[i].times));
  }
  for (const auto& timeline : timelines)
    examples.push_back({&timeline, model.protocol.to_model_time(request.absorb_until)});
  std::vector<Answer> answers = infer(model, examples, pool, options);
  pool.for_each(series.size(), [&](std::size_t i, std::size_t) {
    for (std::size_t k = 0; k < answers[i].marginals.size(); ++k)
      answers[i].marginals[k] =
          to_raw(model.protocol.standardisation, k % features, answers[i].marginals[k]);
    result[i].marginals = std::move(answers[i].marginals);
    result[i].clips = clips_of(model, data, series[i], timelines[i], answers[i].clips);
  });
  return result;
}

void predict(const Model& model, const Dataset& data, const PredictRequest& request,
             ThreadPool& pool, const std::function<void(const Trajectory&)>& sink) {
  const std::vector<std::size_t> series = listed_or_all(data, request.series);
  for_each_part(
      series, series_at_once(model, request.times.size() * model.features.size()), pool,
      [&](std::span<const std::size_t> part) {
        return trajectories(model, data, request, part, pool);
      },
      [&](const std::vector<Trajectory>& part) {
        for (const Trajectory& trajectory : part) sink(trajectory);
      });
}

std::vector<std::size_t> listed_or_all(const Dataset& data, std::vector<std::size_t> listed) {
  if (!listed.empty()) return listed;
  listed.resize(data.size());
  std::iota(listed.begin(), listed.end(), std::size_t{0});
  return listed;
}

std::size_t series_at_once(const Model& model, std::size_t numbers_a_series) {
  constexpr std::size_t kNumbers = std::size_t{1} << 18;  // some ten megabytes of marginals
  return std::clamp<std::size_t>(kNumbers / std::max<std::size_t>(1, numbers_a_series), 1,
                                 static_cast<std::size_t>(model.config.train.chunk));
}

}  // namespace edict

#include "edict/eval/evaluate.h"

#include <algorithm>
#include <vector>

#include "edict/core/json_values.h"
#include "edict/model/infer.h"
#include "edict/protocol/holdout.h"

namespace edict {
namespace {

std::optional<CalibrationResult> judged(std::span<const SeriesCalibration> series) {
  const bool any = std::any_of(series.begin(), series.end(),
                               [](const SeriesCalibration& s) { return s.observations > 0; });
  return any ? std::optional(summarise(series)) : std::nullopt;
}

}  // namespace

Evaluation evaluate(const Model& model, const Dataset& data, std::span<const std::size_t> series,
                    ThreadPool& pool, const Guard& guard, StopFlag stop) {
  const DataSettings& settings = model.config.data;
  const Holdout holdout = draw_holdout(data, model.protocol.t_cut, settings.holdout,
                                       static_cast<std::uint64_t>(settings.seed));
  std::vector<Agenda<float>> agendas;
  for (std::size_t i : series)
    agendas.push_back(evaluation_agenda(model.protocol, data, i, holdout));

  const double cut = model.protocol.to_model_time(model.protocol.t_cut);
  std::vector<SeriesCalibration> interpolation(series.size()), informed(series.size()),
      extrapolation(series.size());
  InferenceOptions options = model.inference_options(guard);
  options.marginals = InferenceOptions::Marginals::observed;
  options.stop = stop;
  const std::vector<Answer> answers = infer(model, examples_of(agendas), pool, options);
  pool.for_each(series.size(), [&](std::size_t i, std::size_t) {
    const auto& stops = agendas[i].stops;
    const auto first_absorbed = static_cast<std::size_t>(
        std::find_if(stops.begin(), stops.end(),
                     [](const auto& s) { return (s.what & Agenda<float>::kAbsorb) != 0; }) -
        stops.begin());
    each_observation(agendas[i], answers[i],
                     [&](std::size_t s, std::int32_t, const Marginal& expected, double x) {
                       if (stops[s].time >= cut) {
                         extrapolation[i].add(expected, x);
                         return;
                       }
                       interpolation[i].add(expected, x);
                       if (s > first_absorbed) informed[i].add(expected, x);
                     });
  });
  Evaluation result{judged(interpolation), judged(informed), judged(extrapolation)};
  for (std::size_t i = 0; i < series.size(); ++i) {
    for (const auto& stop : agendas[i].stops)
      if (stop.what & Agenda<float>::kAbsorb) result.absorbed += stop.count;
    result.clipped += answers[i].clips.size();
  }
  return result;
}

nlohmann::json to_json(const Evaluation& evaluation) {
  return {{"interpolation", json_or_null(evaluation.interpolation)},
          {"informed_interpolation", json_or_null(evaluation.informed_interpolation)},
          {"extrapolation", json_or_null(evaluation.extrapolation)},
          {"absorbed_observations", evaluation.absorbed},
          {"clipped_observations", evaluation.clipped}};
}

void from_json(const nlohmann::json& json, Evaluation& evaluation) {
  const auto read = [&](const char* task) {
    return optional_from_json<CalibrationResult>(json.at(task));
  };
  evaluation = {read("interpolation"), read("informed_interpolation"), read("extrapolation"),
                json.at("absorbed_observations").get<std::size_t>(),
                json.at("clipped_observations").get<std::size_t>()};
}

}  // namespace edict

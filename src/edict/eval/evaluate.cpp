#include "edict/eval/evaluate.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "edict/data/holdout.h"
#include "edict/models/ask_all.h"

namespace edict {
namespace {

std::optional<CalibrationResult> judged(std::span<const SeriesCalibration> series) {
  const bool any = std::any_of(series.begin(), series.end(),
                               [](const SeriesCalibration& s) { return s.observations > 0; });
  return any ? std::optional(summarise(series)) : std::nullopt;
}

nlohmann::json to_json(const std::optional<CalibrationResult>& result) {
  return result ? edict::to_json(*result) : nlohmann::json(nullptr);
}

}  // namespace

Evaluation evaluate(const Model& model, const Dataset& data, std::span<const std::size_t> series,
                    ThreadPool& pool, const Guard& guard) {
  const DataConfig& settings = model.config.data;
  const Holdout holdout = draw_holdout(data, settings.t_cut, settings.holdout,
                                       static_cast<std::uint64_t>(settings.seed));
  std::vector<Agenda<float>> agendas;
  std::vector<Example> examples;
  for (std::size_t i : series) agendas.push_back(evaluation_agenda(model, data, i, holdout));
  for (const auto& agenda : agendas) examples.push_back({&agenda});

  const double cut = model.to_model_time(settings.t_cut);
  std::vector<SeriesCalibration> interpolation(series.size()), informed(series.size()),
      extrapolation(series.size());
  ask_all(model, examples, pool, [&](std::size_t first) {
    Asking asking = model.asking(guard);
    asking.on_query = [&, first](std::size_t slot, std::size_t stop,
                                 std::span<const Marginal> features, std::span<const float>) {
      const std::size_t i = first + slot;
      const Agenda<float>& agenda = agendas[i];
      const auto& at = agenda.stops[stop];
      for (std::uint32_t k = at.first; k < at.first + at.count; ++k) {
        const Marginal& expected = features[static_cast<std::size_t>(agenda.feature[k])];
        const double x = agenda.value[k];
        if (at.time >= cut) {
          extrapolation[i].add(expected, x);
          continue;
        }
        interpolation[i].add(expected, x);
        bool knows = false;
        for (std::size_t earlier = 0; earlier < stop && !knows; ++earlier)
          knows = (agenda.stops[earlier].what & Agenda<float>::kAbsorb) != 0;
        if (knows) informed[i].add(expected, x);
      }
    };
    return asking;
  });
  return {judged(interpolation), judged(informed), judged(extrapolation)};
}

nlohmann::json to_json(const Evaluation& evaluation) {
  return {{"interpolation", to_json(evaluation.interpolation)},
          {"informed_interpolation", to_json(evaluation.informed_interpolation)},
          {"extrapolation", to_json(evaluation.extrapolation)}};
}

}  // namespace edict

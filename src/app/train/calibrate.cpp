#include "app/train/calibrate.h"

#include <fmt/core.h>

#include <set>

#include "base/error.h"
#include "learn/posthoc/calibrate.h"

namespace edict::app {
namespace {

constexpr const char* kValidation = "validation";

// The series to calibrate by, as their part of the model's split.
std::vector<std::size_t> calibration_series(const Model& model, const Dataset& data,
                                            const CalibrateRequest& request) {
  const bool validation = request.split == kValidation;
  if (validation && model.split(data).validation.empty())
    throw Error(ErrorCode::mismatch,
                {.problem = "none of the series is in the model's validation split",
                 .remedy = "give the data it was trained on, or calibrate on new series with " +
                           option("split", "unseen")});
  const std::vector<std::size_t> series = model.series_of(data, request.split);
  return validation ? after_training(data, model.config.data, series) : series;
}

// The series of the half that did not fit the maps; of few series all of them.
std::vector<std::size_t> series_to_judge(const Dataset& data,
                                         const std::vector<std::size_t>& series,
                                         const Timelines& timelines,
                                         const CalibrationHalves& halves) {
  if (halves.promise.empty()) return series;
  std::set<std::string> fit;
  for (const std::size_t i : halves.fit) fit.insert(timelines[i].id);
  std::vector<std::size_t> judged;
  for (const std::size_t i : series)
    if (!fit.contains(data.ids[i])) judged.push_back(i);
  return judged;
}

}  // namespace

void check(const CalibrateRequest& request, const Model& model) {
  if (!model.network->has_distribution()) throw no_distribution(model.config.model.kind);
  if (request.split != kValidation && request.split != "unseen")
    throw Error(ErrorCode::invalid, {.subject = option("split", request.split),
                                     .problem = "give validation or unseen"});
}

CalibrateResult calibrate(Model model, const Dataset& data, const CalibrateRequest& request,
                          ThreadPool& pool) {
  check(request, model);
  const std::vector<std::size_t> series = calibration_series(model, data, request);
  const Timelines timelines = validation_timelines(model, data, series);
  Calibration calibration = fit_calibration(model, timelines, pool);
  if (calibration.empty())
    throw Error(ErrorCode::invalid,
                {.problem = fmt::format("{} series are too few to calibrate on", series.size()),
                 .remedy = "give more data, or another " + option("split")});
  const CalibrationHalves halves = calibration_halves(timelines);
  const std::vector<std::size_t> judged = series_to_judge(data, series, timelines, halves);
  CalibrateResult result;
  result.judged = judged.size();
  result.judged_by_all = halves.promise.empty();
  model.calibration = {};
  result.before = edict::evaluate(model, data, judged, pool);
  model.calibration = std::move(calibration);
  result.after = evaluate_in_detail(model, data, judged, pool);
  Split chose;  // the model: they are no longer unseen
  chose.validation = series;
  model.seen.add(data, chose, model.config.data.split);
  result.model = std::move(model);
  return result;
}

}  // namespace edict::app

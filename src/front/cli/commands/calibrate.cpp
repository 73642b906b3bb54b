#include "learn/posthoc/calibrate.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "base/error.h"
#include "base/json/json.h"
#include "base/json/json_values.h"
#include "base/text/counted.h"
#include "front/cli/command.h"
#include "front/cli/given_data.h"
#include "front/cli/terminal/progress.h"
#include "judge/detailed_evaluation.h"

namespace edict::cli {
namespace {

struct CalibrateArguments {
  std::string model, data, out, json, split = "validation";
  ReadOptions reading;
  int threads = 0;
};

// The series to calibrate by, as their part of the model's split.
std::vector<std::size_t> calibration_series(const CalibrateArguments& options, const Model& model,
                                            const Dataset& data) {
  if (options.split == "validation" && model.split(data).validation.empty())
    throw Error(
        "none of the series is in the model's validation split; give the data it was trained on, "
        "or calibrate on new series with --split unseen");
  const std::vector<std::size_t> series = model.series_of(data, options.split);
  return options.split == "validation" ? after_training(data, model.config.data, series) : series;
}

void print_task(std::FILE* to, const char* name, const std::optional<CalibrationResult>& before,
                const std::optional<CalibrationResult>& after) {
  if (!before || !after) return;
  fmt::print(to, "  {:<14} {:>7} → {:<8} {:>8} → {:<8} {:>7} → {:<8}\n", name,
             fmt::format("{:.4f}", before->ece), fmt::format("{:.4f}", after->ece),
             fmt::format("{:.4f}", before->nll.mean), fmt::format("{:.4f}", after->nll.mean),
             fmt::format("{:.4f}", before->crps.mean), fmt::format("{:.4f}", after->crps.mean));
}

void print_features(std::FILE* to, const Model& model) {
  fmt::print(to, "\n  {:<16} {:>6} {:>6} {:>7} {:>6}   {}\n", "feature", "width", "slope",
             "horizon", "dof", "conformal 90 %");
  for (std::size_t j = 0; j < model.features.size(); ++j) {
    const FeatureCalibration& own = model.calibration.features[j];
    std::string levels;
    for (const ConformalRange& range : own.ranges) {
      const double level = conformal_level(range.steps, 0.9);
      levels += fmt::format("{}{}", levels.empty() ? "" : ", ",
                            level < 1 ? fmt::format("{:.1f} %", 100 * level) : "too few");
    }
    fmt::print(to, "  {:<16} {:>6.2f} {:>6.2f} {:>7.2f} {:>6.1f}   {}\n", model.features[j],
               std::exp(own.log_factor), own.slope, own.horizon_slope, own.dof_at(0),
               levels.empty() ? "too few series" : levels);
  }
  fmt::print(
      to,
      "width: factor on the scale; slope: above 0, wider where the model is less certain; "
      "horizon: above 0,\nwider further ahead; dof: degrees of freedom, fewer are heavier tails; "
      "conformal 90 %: the central interval\nthat --conformal uses for near, middle and far "
      "forecasts\n");
}

void print_task(std::FILE* to, const char* name, const std::optional<JointScore>& score) {
  if (score)
    fmt::print(to, "  {:<14} {:>8.4f} → {:<8.4f}\n", name, score->alone_nll, score->together_nll);
}

void print_correlations(std::FILE* to, const Model& model,
                        const std::optional<JointScores>& joint) {
  if (!joint) {
    fmt::print(to, "\nno features have correlated errors\n");
    return;
  }
  constexpr std::size_t kTold = 5;
  const std::vector<CorrelatedPair> pairs = model.calibration.correlations.pairs();
  fmt::print(to, "\n{} of features with correlated errors, the strongest:\n\n",
             counted(pairs.size(), "pair"));
  for (std::size_t k = 0; k < std::min(kTold, pairs.size()); ++k)
    fmt::print(to, "  {:+.2f}  {} and {}\n", pairs[k].correlation, model.features[pairs[k].first],
               model.features[pairs[k].second]);
  fmt::print(to, "\n  {:<14} {:>20}\n", "", "joint NLL per value");
  print_task(to, "interpolation", joint->interpolation);
  print_task(to, "extrapolation", joint->extrapolation);
  fmt::print(to, "on the same series, for features at the same time: each by itself → together\n");
}

void run(const CalibrateArguments& options) {
  check_files({options.model, options.data}, {options.out, options.json});
  Progress progress("calibrating");
  progress.begin();
  Model model = load_model(options.model);
  if (!model.network->has_distribution()) throw no_distribution(model.config.model.kind);
  const Dataset data = open_for(model, options.data, options.reading);
  const std::vector<std::size_t> series = calibration_series(options, model, data);
  const Timelines timelines = validation_timelines(model, data, series);
  ThreadPool pool(static_cast<std::size_t>(options.threads));
  Calibration calibration = fit_calibration(model, timelines, pool);
  if (calibration.empty())
    throw Error(
        fmt::format("{} series are too few to calibrate on; give more data, or another --split",
                    series.size()));
  // Judged by the half that did not fit the maps; of few series by all of them.
  const CalibrationHalves halves = calibration_halves(timelines);
  std::set<std::string> fit;
  if (!halves.promise.empty())
    for (const std::size_t i : halves.fit) fit.insert(timelines[i].id);
  std::vector<std::size_t> judged;
  for (const std::size_t i : series)
    if (!fit.contains(data.ids[i])) judged.push_back(i);
  model.calibration = {};
  const Evaluation before = evaluate(model, data, judged, pool);
  model.calibration = std::move(calibration);
  const DetailedEvaluation detailed = evaluate_in_detail(model, data, judged, pool);
  const Evaluation& after = detailed.evaluation;
  Split chose;  // the model: they are no longer unseen
  chose.validation = series;
  model.seen.add(data, chose, split_by(model.config.data));
  save_model(model, options.out);
  progress.end();
  std::FILE* const text = text_stream({options.out, options.json});
  const std::size_t fitting = model.calibration.fit_series;
  const std::string what = calibrating(model, fitting);
  fmt::print(text, "{}: calibrated on {} {} {}; on the {}, before and after:\n\n", options.out,
             fitting, options.split, what,
             fit.empty()        ? "same"
             : what == "series" ? fmt::format("other {}", judged.size())
                                : fmt::format("{} series of the others", judged.size()));
  fmt::print(text, "  {:<14} {:>18} {:>19} {:>18}\n", "", "ECE      ", "NLL      ", "CRPS      ");
  print_task(text, "interpolation", before.interpolation, after.interpolation);
  print_task(text, "extrapolation", before.extrapolation, after.extrapolation);
  print_features(text, model);
  print_correlations(text, model, detailed.joint);
  write_json(options.json, {{"before", to_json(before)},
                            {"after", to_json(after)},
                            {"joint", json_or_null(detailed.joint)},
                            {"calibration", to_json(model.calibration)},
                            {"features", model.features},
                            {"split", options.split}});
}

}  // namespace

void add_calibrate(CLI::App& app) {
  auto options = std::make_shared<CalibrateArguments>();
  CLI::App* command = app.add_subcommand("calibrate", "Calibrate a model's intervals");
  command->add_option("model", options->model, "a trained model")->required()->type_name("MODEL");
  command->add_option("data", options->data, "the data")->required()->type_name("DATA");
  add_output(*command, "--out", options->out, "the calibrated model")
      ->required()
      ->type_name("MODEL");
  command
      ->add_option("--split", options->split,
                   "calibrate on the validation series of the training, or on new ones, for which "
                   "alone --conformal is exact; they count as seen afterwards")
      ->check(one_of({"validation", "unseen"}))
      ->capture_default_str();
  add_json(*command, options->json);
  add_reading(*command, options->reading);
  add_threads(*command, options->threads);
  command->callback([options] { run(*options); });
}

}  // namespace edict::cli

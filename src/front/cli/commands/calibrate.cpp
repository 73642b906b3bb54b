#include "app/train/calibrate.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "base/json/json.h"
#include "base/json/json_values.h"
#include "base/text/counted.h"
#include "front/cli/command.h"
#include "front/cli/given_data.h"
#include "front/cli/terminal/progress.h"
#include "render/json/scores_json.h"

namespace edict::cli {
namespace {

struct CalibrateArguments {
  std::string model, data, out, json, split = "validation";
  ReadOptions reading;
  int threads = 0;
};

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

void print(std::FILE* text, const CalibrateArguments& options, const app::CalibrateResult& result) {
  const std::size_t fitting = result.model.calibration.fit_series;
  const std::string what = calibrating(result.model, fitting);
  fmt::print(text, "{}: calibrated on {} {} {}; on the {}, before and after:\n\n", options.out,
             fitting, options.split, what,
             result.judged_by_all ? "same"
             : what == "series"   ? fmt::format("other {}", result.judged)
                                  : fmt::format("{} series of the others", result.judged));
  fmt::print(text, "  {:<14} {:>18} {:>19} {:>18}\n", "", "ECE      ", "NLL      ", "CRPS      ");
  const Evaluation &before = result.before, &after = result.after.evaluation;
  print_task(text, "interpolation", before.interpolation, after.interpolation);
  print_task(text, "extrapolation", before.extrapolation, after.extrapolation);
  print_features(text, result.model);
  print_correlations(text, result.model, result.after.joint);
}

void run(const CalibrateArguments& options) {
  check_files({options.model, options.data}, {options.out, options.json});
  Progress progress("calibrating");
  progress.begin();
  const app::CalibrateRequest request{options.split};
  Model model = load_model(options.model);
  check(request, model);
  const Dataset data = open_for(model, options.data, options.reading);
  ThreadPool pool(static_cast<std::size_t>(options.threads));
  const app::CalibrateResult result = app::calibrate(std::move(model), data, request, pool);
  save_model(result.model, options.out);
  progress.end();
  print(text_stream({options.out, options.json}), options, result);
  write_json(options.json, {{"before", to_json(result.before)},
                            {"after", to_json(result.after.evaluation)},
                            {"joint", json_or_null(result.after.joint)},
                            {"calibration", to_json(result.model.calibration)},
                            {"features", result.model.features},
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

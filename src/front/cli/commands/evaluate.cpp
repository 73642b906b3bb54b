#include "app/evaluate.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

#include "base/files/atomic_file.h"
#include "base/json/json.h"
#include "base/json/json_text.h"
#include "front/cli/command.h"
#include "front/cli/given_data.h"
#include "front/cli/processes.h"
#include "front/cli/terminal/progress.h"
#include "front/cli/terminal/score_tables.h"
#include "front/cli/time_grid.h"
#include "learn/checkpoint.h"
#include "render/evaluation_page.h"
#include "render/json/evaluation_json.h"

namespace edict::cli {
namespace {

struct EvaluateArguments {
  std::string model, data, json, html, split = "test", horizons, positive;
  std::vector<std::string> by;
  bool smooth = false;
  GuardOptions guard;
  ReadOptions reading;
  int threads = 0;

  bool asks(const char* what) const { return std::find(by.begin(), by.end(), what) != by.end(); }
};

void print_row(std::FILE* to, const char* name, const std::optional<CalibrationResult>& result) {
  if (!result) {
    fmt::print(to, "  {:<24} nothing to judge\n", name);
    return;
  }
  const CalibrationResult& r = *result;
  fmt::print(to, "  {:<24} {:>8} ± {:<7} {:>7.4f} {:>9} {:>8}\n", name, decimals(r.mse.mean, 4),
             decimals(r.mse.std, 4), r.ece, decimals(r.nll.mean, 4), decimals(r.crps.mean, 4));
}

void print(std::FILE* to, const DetailedEvaluation& result, const std::string& kind,
           const EvaluateArguments& options) {
  fmt::print(to, "  {:<24} {:>18} {:>7} {:>9} {:>8}\n", "mean over series", "MSE", "ECE", "NLL",
             "CRPS");
  print_row(to, "interpolation", result.evaluation.interpolation);
  print_row(to, "  after first event", result.evaluation.informed_interpolation);
  print_row(to, "extrapolation", result.evaluation.extrapolation);
  fmt::print(to, "{}", baselines_text(result.breakdown, kind));
  if (options.asks("feature")) fmt::print(to, "{}", breakdown_text(result.breakdown, By::feature));
  if (options.asks("horizon")) fmt::print(to, "{}", breakdown_text(result.breakdown, By::horizon));
}

void print_row(std::FILE* to, const char* name, const std::optional<EnsembleScore>& score) {
  if (score)
    fmt::print(to, "  {:<24} {:>8.4f} {:>16.4f} {:>15.0f} %\n", name, score->mixture_nll,
               score->members_nll, 100 * score->disagreement);
}

void print(std::FILE* to, std::size_t members, const EnsembleScores& scores) {
  fmt::print(to, "\n  {:<24} {:>8} {:>16} {:>17}\n", fmt::format("{} members", members), "NLL",
             "each by itself", "disagreement");
  print_row(to, "interpolation", scores.interpolation);
  print_row(to, "extrapolation", scores.extrapolation);
  fmt::print(
      to,
      "NLL of the mixture, and the mean over members; disagreement: its share of the epistemic "
      "variance\n");
}

void print_row(std::FILE* to, const char* name, const std::optional<JointScore>& score) {
  if (score)
    fmt::print(to, "  {:<24} {:>8.4f} {:>16.4f}\n", name, score->together_nll, score->alone_nll);
}

void print(std::FILE* to, const JointScores& scores) {
  fmt::print(to, "\n  {:<24} {:>8} {:>16}\n", "features of a moment", "NLL", "each by itself");
  print_row(to, "interpolation", scores.interpolation);
  print_row(to, "extrapolation", scores.extrapolation);
  fmt::print(
      to,
      "NLL per value of the joint distribution, with the correlations found by calibration and "
      "without\n");
}

// From when on series are forecast.
std::string cut_text(const Protocol& protocol) {
  constexpr double kNever = 1e29;  // larger cut-offs are none (learn/fit_settings.cpp)
  if (protocol.cut_share > 0)
    return fmt::format("cut after {:g} % of each series", 100 * protocol.cut_share);
  return protocol.t_cut > kNever ? "no cut-off" : fmt::format("t_cut {:.6g}", protocol.t_cut);
}

void print(std::FILE* to, const app::EvaluateResult& result, const Model& model,
           const EvaluateArguments& options) {
  const app::EvaluatedSeries& evaluated = result.evaluated;
  if (const std::string line = about(evaluated); !line.empty()) fmt::print(to, "{}\n", line);
  if (model.fine_tuned() && evaluated.trained > 0)
    fmt::print(
        to,
        "note: fine-tuning used values after t_cut of those series, so their extrapolation scores "
        "are too good\n");
  fmt::print(to, "{} split, {} series, {} units, {}\n", evaluated.split, evaluated.series.size(),
             model.config.data.standardise ? "standardised" : "raw", cut_text(model.protocol));
  if (!model.calibration.empty())
    fmt::print(to, "calibrated on {} {} (edict calibrate)\n", model.calibration.fit_series,
               calibrating(model, model.calibration.fit_series));
  if (options.smooth)
    fmt::print(
        to, "interpolation from both sides, weighted on {} series; extrapolation from the past\n",
        model.fusion.fit_series);
  if (const auto& found = result.distributions) {
    fmt::print(to, "\n");
    print(to, *found, model.config.model.kind, options);
    if (options.guard.kind != "none")
      fmt::print(to, "\n{}\n", clipped_text(found->evaluation.clipped, found->evaluation.absorbed));
    if (found->members) print(to, model.members.size(), *found->members);
    if (found->joint) print(to, *found->joint);
  }
  if (result.classes) fmt::print(to, "{}", classifier_text(*result.classes));
  if (!result.class_note.empty()) fmt::print(to, "\nnote: {}\n", result.class_note);
}

void write_numbers(const app::EvaluateResult& result, const Model& model,
                   const EvaluateArguments& options) {
  nlohmann::json json = evaluation_json(result.distributions, result.classes);
  json["model"] = options.model;
  json["data"] = options.data;
  json["split"] = result.evaluated.split;
  json["smooth"] = options.smooth;
  json["note"] = about(result.evaluated);
  json["config"] = to_json(model.config);
  write_atomically(options.json, json_text(json, 2) + "\n");
}

void write_page(const app::EvaluateResult& result, const Model& model,
                const EvaluateArguments& options, const std::vector<EpochRow>& epochs) {
  const std::string note = about(result.evaluated);
  const std::string data = options.data == "-"
                               ? "standard input"
                               : std::filesystem::path(options.data).filename().string();
  write_atomically(
      options.html,
      report::evaluation_page(
          model.config.model.kind + " on " + data,
          fmt::format("{} series{}", result.evaluated.series.size(),
                      note.empty() ? fmt::format(" of the {} split", result.evaluated.split)
                                   : fmt::format(" ({})", note)),
          result.distributions, result.classes, epochs));
}

// What training wrote beside the model, where it is still there.
std::vector<EpochRow> epochs_of(const std::string& model) {
  const std::filesystem::path path = metrics_path(model);
  return std::filesystem::exists(path) ? read_metrics(path) : std::vector<EpochRow>{};
}

void run(const EvaluateArguments& options) {
  check_files({options.model, options.data}, {options.json, options.html});
  app::EvaluateRequest request{.split = options.split,
                               .guard = options.guard.resolve(),
                               .both_sides = options.smooth,
                               .by_group = !options.by.empty(),
                               .positive = options.positive,
                               .model_name = options.model};
  if (!options.horizons.empty()) request.horizons = parse_times("--horizons", options.horizons);
  Progress progress("evaluating");
  progress.begin();
  const Model model = load_model(options.model);
  check(request, model);
  std::vector<EpochRow> epochs;
  if (!options.html.empty()) epochs = epochs_of(options.model);
  const Dataset data = open_for(model, options.data, options.reading);
  WorkPool pool(options.threads);
  const app::EvaluateResult result = app::evaluate(model, data, request, pool);
  progress.end();
  print(text_stream({options.json, options.html}), result, model, options);
  if (!options.html.empty()) write_page(result, model, options, epochs);
  if (!options.json.empty()) write_numbers(result, model, options);
}

}  // namespace

void add_evaluate(CLI::App& app) {
  auto options = std::make_shared<EvaluateArguments>();
  CLI::App* command = app.add_subcommand(
      "evaluate", "Evaluate a model: errors and calibration before and after t_cut, and classes");
  command->add_option("model", options->model, "a trained model")->required()->type_name("MODEL");
  command->add_option("data", options->data, "the data")->required()->type_name("DATA");
  add_split(*command, options->split);
  command
      ->add_option(
          "--by", options->by,
          "also print the scores of each feature, and by the time since the series was last "
          "observed")
      ->delimiter(',')
      ->check(one_of({"feature", "horizon"}))
      ->type_name("feature,horizon");
  command
      ->add_option("--horizons", options->horizons,
                   "where the ranges of --by horizon end, in the data's unit; default: round "
                   "numbers that divide the observations evenly")
      ->type_name("T1,T2,...");
  command
      ->add_option("--positive", options->positive,
                   "the class of AUROC, AUPRC, curves and reliability; default: the second of two, "
                   "each of more")
      ->type_name("CLASS");
  command->add_flag("--smooth", options->smooth,
                    "evaluate interpolation from both sides, for a model trained with "
                    "train.smooth; extrapolation does not change");
  add_output(*command, "--json", options->json,
             "all results as JSON, with curves and ranges; - is standard output")
      ->type_name("FILE");
  add_output(*command, "--html", options->html,
             "calibration, errors, classes and how training went, as a page")
      ->type_name("PAGE.html");
  options->guard.add_to(*command);
  add_reading(*command, options->reading);
  add_threads(*command, options->threads);
  command->callback([options] { run(*options); });
}

}  // namespace edict::cli

#include <fmt/core.h>

#include <algorithm>

#include "base/error.h"
#include "base/files/atomic_file.h"
#include "base/json/json.h"
#include "base/json/json_text.h"
#include "base/json/json_values.h"
#include "front/cli/command.h"
#include "front/cli/given_data.h"
#include "front/cli/judged_classes.h"
#include "front/cli/processes.h"
#include "front/cli/terminal/progress.h"
#include "front/cli/terminal/score_tables.h"
#include "front/cli/time_grid.h"
#include "judge/detailed_evaluation.h"

namespace edict::cli {
namespace {

struct EvaluateArguments {
  std::string model, data, json, split = "test", horizons, positive;
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

void run(const EvaluateArguments& options) {
  check_files({options.model, options.data}, {options.json});
  std::vector<double> edges;
  if (!options.horizons.empty()) edges = parse_times("--horizons", options.horizons);
  Progress progress("evaluating");
  progress.begin();
  const Model model = load_model(options.model);
  const bool distribution = model.network->has_distribution();
  if (!distribution && (!options.by.empty() || !edges.empty()))
    throw Error(fmt::format("--by: {} predicts no distribution, only classes; leave it out",
                            model.config.model.kind));
  if (options.smooth && model.fusion.empty())
    throw Error(fmt::format(
        "--smooth: {} was not trained to look at both sides; train with --set train.smooth=true, "
        "or leave the option out",
        options.model));
  const Dataset data = open_for(model, options.data, options.reading);
  const JudgedSeries judged = judged_series(model, data, options.split);
  WorkPool pool(options.threads);
  const Guard guard = options.guard.resolve();
  std::optional<DetailedEvaluation> result;
  if (distribution)
    result = evaluate_in_detail(model, data, judged.series, pool, guard, edges, nullptr,
                                options.smooth ? Sides::both : Sides::past);
  const JudgedClasses classes =
      judged_classes(model, data, judged.series, pool, guard, options.positive);
  progress.end();
  std::FILE* const text = text_stream({options.json});
  if (!judged.about.empty()) fmt::print(text, "{}\n", judged.about);
  if (model.fine_tuned() && judged.trained_on)
    fmt::print(
        text,
        "note: fine-tuning used values after t_cut of those series, so their extrapolation scores "
        "are too good\n");
  fmt::print(text, "{} split, {} series, {} units, {}\n", judged.split, judged.series.size(),
             model.config.data.standardise ? "standardised" : "raw", cut_text(model.protocol));
  if (!model.calibration.empty())
    fmt::print(text, "calibrated on {} {} (edict calibrate)\n", model.calibration.fit_series,
               calibrating(model, model.calibration.fit_series));
  if (options.smooth)
    fmt::print(
        text, "interpolation from both sides, weighted on {} series; extrapolation from the past\n",
        model.fusion.fit_series);
  if (result) {
    fmt::print(text, "\n");
    print(text, *result, model.config.model.kind, options);
    if (options.guard.kind != "none")
      fmt::print(text, "\n{}\n",
                 clipped_text(result->evaluation.clipped, result->evaluation.absorbed));
    if (result->members) print(text, model.members(), *result->members);
    if (result->joint) print(text, *result->joint);
  }
  if (classes.result) fmt::print(text, "{}", classifier_text(*classes.result));
  if (!classes.note.empty()) fmt::print(text, "\nnote: {}\n", classes.note);
  if (options.json.empty()) return;
  nlohmann::json json = nlohmann::json::object();
  if (result) {
    json = to_json(result->evaluation);
    json["breakdown"] = to_json(result->breakdown);
  }
  json["ensemble"] = result ? json_or_null(result->members) : nullptr;
  json["joint"] = result ? json_or_null(result->joint) : nullptr;
  json["classifier"] = json_or_null(classes.result);
  json["model"] = options.model;
  json["data"] = options.data;
  json["split"] = judged.split;
  json["smooth"] = options.smooth;
  json["note"] = judged.about;
  json["config"] = to_json(model.config);
  write_atomically(options.json, json_text(json, 2) + "\n");
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
  options->guard.add_to(*command);
  add_reading(*command, options->reading);
  add_threads(*command, options->threads);
  command->callback([options] { run(*options); });
}

}  // namespace edict::cli

#include "edict/eval/evaluate.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "edict/cli/command.h"
#include "edict/cli/given_data.h"
#include "edict/cli/progress.h"
#include "edict/core/atomic_file.h"
#include "edict/core/error.h"
#include "edict/core/json_text.h"

namespace edict::cli {
namespace {

struct Options {
  std::string model, data, json, split = "test";
  GuardOptions guard;
  int threads = 0;
};

void print_row(std::FILE* to, const char* name, const std::optional<CalibrationResult>& result) {
  if (!result) {
    fmt::print(to, "  {:<24} nothing to judge\n", name);
    return;
  }
  const CalibrationResult& r = *result;
  fmt::print(to,
             "  {:<24} {:>8.4f} ± {:<7.4f} {:>7.4f} {:>9.4f} {:>8.4f}   {:.3f} ± {:.3f} ({:.3f})\n",
             name, r.mse.mean, r.mse.std, r.ece, r.nll.mean, r.crps.mean, r.ece_per_series.mean,
             r.ece_per_series.std, r.ece_per_series_floor);
}

void run(const Options& options) {
  check_files({options.model, options.data}, {options.json});
  Progress progress("evaluating");
  progress.begin();
  const Model model = load_model(options.model);
  const Dataset data = open_for(model, options.data);
  const JudgedSeries judged = judged_series(model, data, options.split);
  ThreadPool pool(static_cast<std::size_t>(options.threads));
  const Evaluation result = evaluate(model, data, judged.series, pool, options.guard.resolve());
  progress.end();
  std::FILE* const text = text_stream({options.json});
  if (!judged.about.empty()) fmt::print(text, "{}\n", judged.about);
  if (model.fine_tuned() && judged.trained_on)
    fmt::print(
        text,
        "note: fine-tuning also showed it what lies after t_cut of those, so their extrapolation "
        "is none\n");
  fmt::print(text, "{} split, {} series, {} units, t_cut {:.6g}\n\n", judged.split,
             judged.series.size(), model.config.data.standardise ? "standardised" : "raw",
             model.protocol.t_cut);
  fmt::print(text, "  {:<24} {:>18} {:>7} {:>9} {:>8}   {}\n", "", "MSE", "ECE", "NLL", "CRPS",
             "ECE per series (floor)");
  print_row(text, "interpolation", result.interpolation);
  print_row(text, "  after first event", result.informed_interpolation);
  print_row(text, "extrapolation", result.extrapolation);
  if (options.guard.kind != "none")
    fmt::print(text, "\n{}\n", clipped_text(result.clipped, result.absorbed));
  if (options.json.empty()) return;
  nlohmann::json json = to_json(result);
  json["model"] = options.model;
  json["data"] = options.data;
  json["split"] = judged.split;
  json["note"] = judged.about;
  json["config"] = to_json(model.config);
  write_atomically(options.json, json_text(json, 2) + "\n");
}

}  // namespace

void add_evaluate(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "evaluate", "Calibration: interpolation before t_cut and extrapolation after it");
  command->add_option("model", options->model, "a trained model")->required()->type_name("MODEL");
  command->add_option("data", options->data, "the data")->required()->type_name("DATA.csv");
  add_split(*command, options->split);
  add_output(*command, "--json", options->json, "write everything there; - is standard output")
      ->type_name("FILE");
  options->guard.add_to(*command);
  add_threads(*command, options->threads);
  command->callback([options] { run(*options); });
}

}  // namespace edict::cli

#include <fmt/core.h>

#include <numeric>

#include "edict/cli/command.h"
#include "edict/cli/given_data.h"
#include "edict/cli/progress.h"
#include "edict/cli/time_grid.h"
#include "edict/core/atomic_file.h"
#include "edict/core/error.h"
#include "edict/eval/classification.h"
#include "edict/eval/trajectory.h"
#include "edict/sources/csv.h"

namespace edict::cli {
namespace {

struct Options {
  std::string model, data, out, at, clips;
  bool classes = false;
  double level = 0.9;
  GuardOptions guard;
  int threads = 0;
};

// id,time,feature,mean,… of every feature; what a guard changed goes to --clips.
void write_distributions(const Options& options, const Model& model, const Dataset& data,
                         const std::vector<double>& times, ThreadPool& pool) {
  Progress progress("predicting");
  progress.begin();
  AtomicFile out(options.out);
  out.write("id,time,feature,mean,aleatoric,epistemic,lower,upper\n");
  std::string clips = "id,time,feature,raw,used,sigmas\n";
  std::size_t rows = 0, clipped = 0, done = 0;
  predict(
      model, data, {times, {}, options.guard.resolve()}, pool, [&](const Trajectory& trajectory) {
        const std::string id = csv_cell(data.ids[trajectory.series]);
        std::string text;
        for (std::size_t t = 0; t < times.size(); ++t)
          for (std::size_t j = 0; j < model.features.size(); ++j) {
            const Marginal& m = trajectory.at(t, j);
            const double half = half_width(m, options.level);
            text += fmt::format("{},{},{},{:.9g},{:.9g},{:.9g},{:.9g},{:.9g}\n", id, times[t],
                                csv_cell(model.features[j]), m.mean, m.aleatoric, m.epistemic,
                                m.mean - half, m.mean + half);
            ++rows;
          }
        out.write(text);
        clipped += trajectory.clips.size();
        progress.update(static_cast<double>(++done) / static_cast<double>(data.size()));
        if (options.clips.empty()) return;
        for (const Clip& clip : trajectory.clips)
          clips +=
              fmt::format("{},{},{},{},{:.9g},{:.4g}\n", id, clip.time,
                          csv_cell(model.features[clip.feature]), clip.raw, clip.used, clip.sigmas);
      });
  if (!options.clips.empty()) write_atomically(options.clips, clips);
  out.commit();
  progress.end();
  std::FILE* const told = text_stream({options.out, options.clips});
  fmt::print(told, "{}: {} rows, {} series at {} times, {} % interval\n", options.out, rows,
             data.size(), times.size(), 100 * options.level);
  if (options.guard.kind != "none")
    fmt::print(told, "{}\n", clipped_text(clipped, data.observations()));
}

// id,time,class,probability; without --at once a series, with everything observed.
void write_classes(const Options& options, const Model& model, const Dataset& data,
                   const std::vector<double>& times, ThreadPool& pool) {
  Progress progress("predicting");
  progress.begin();
  std::vector<std::size_t> all(data.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  const Guard guard = options.guard.resolve();
  std::string text = times.empty() ? "id,class,probability\n" : "id,time,class,probability\n";
  const auto row = [&](const std::string& start, std::span<const double> probabilities) {
    for (std::size_t k = 0; k < probabilities.size(); ++k)
      text += fmt::format("{},{},{:.6g}\n", start, csv_cell(model.classes[k]), probabilities[k]);
  };
  std::size_t clipped = 0;
  if (times.empty()) {
    const ClassProbabilities end = class_probabilities(model, data, all, pool, guard);
    for (std::size_t i : all) row(csv_cell(data.ids[i]), end.row(i));
    clipped = end.clipped;
  } else {
    const auto paths = class_probabilities_over_time(model, data, all, times, pool, guard);
    for (std::size_t i : all)
      for (std::size_t t = 0; t < times.size(); ++t)
        row(fmt::format("{},{}", csv_cell(data.ids[i]), times[t]), paths[i].row(t));
  }
  AtomicFile out(options.out);
  out.write(text);
  out.commit();
  progress.end();
  std::FILE* const told = text_stream({options.out});
  fmt::print(told, "{}: probabilities of {} classes for {} series\n", options.out,
             model.classes.size(), data.size());
  if (options.guard.kind != "none" && times.empty())
    fmt::print(told, "{}\n", clipped_text(clipped, data.observations()));
}

void run(const Options& options) {
  check_files({options.model, options.data}, {options.out, options.clips});
  const Model model = load_model(options.model);
  const bool classes = options.classes || !model.network->has_distribution();
  if (options.at.empty() && !classes)
    throw Error("--at is missing: give the times to ask for, as START:STEP:END or t1,t2,…");
  const std::vector<double> times =
      options.at.empty() ? std::vector<double>{} : parse_times("--at", options.at);
  const Dataset data = open_for(model, options.data);
  ThreadPool pool(static_cast<std::size_t>(options.threads));
  if (classes)
    write_classes(options, model, data, times, pool);
  else
    write_distributions(options, model, data, times, pool);
}

}  // namespace

void add_predict(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "predict", "What was to be expected at any times: distributions, or class probabilities");
  command->add_option("model", options->model, "a trained model")->required()->type_name("MODEL");
  command->add_option("data", options->data, "the series")->required()->type_name("DATA.csv");
  command->add_option("--at", options->at, "times to ask for")
      ->type_name("START:STEP:END|T1,T2,...");
  add_output(*command, "--out", options->out, "where to write; - is standard output")
      ->required()
      ->type_name("PRED.csv");
  command->add_option("--level", options->level, "of the predictive interval [lower, upper]")
      ->check(CLI::Range(0.001, 0.999999))
      ->capture_default_str();
  command->add_flag("--classes", options->classes,
                    "class probabilities instead: at the times of --at, or at the end");
  add_output(*command, "--clips", options->clips, "write what the guard changed there")
      ->type_name("CLIPS.csv");
  options->guard.add_to(*command);
  add_threads(*command, options->threads);
  command->callback([options] { run(*options); });
}

}  // namespace edict::cli

#include "research/benchmark.h"

#include <fmt/core.h>

#include "base/error.h"
#include "base/files/atomic_file.h"
#include "base/files/read_file.h"
#include "base/json/json.h"
#include "base/json/json_values.h"
#include "front/cli/command.h"
#include "front/cli/terminal/progress.h"
#include "research/report/benchmark_page.h"

namespace edict::cli {
namespace {

struct BenchmarkArguments {
  std::string out, from, split = "validation", beside, json;
  std::vector<std::string> tasks, assignments;
  std::int64_t splits = 1;
  std::size_t series = 0, members = 1;
  int threads = 0;
};

std::vector<study::BenchmarkValue> beside(const std::string& path) {
  if (path.empty()) return {};
  return study::read_benchmark_values(read_file(path), path);
}

void run(BenchmarkArguments options) {
  check_files({options.beside}, {options.json});
  std::vector<study::BenchmarkValue> values;
  std::vector<study::BenchmarkValue> others = beside(options.beside);
  if (options.tasks.empty())
    for (const study::BenchmarkTask& task : study::benchmark_tasks())
      if (!task.needs_data || !options.from.empty()) options.tasks.push_back(task.name);
  Progress progress("benchmark");
  study::BenchmarkOptions benchmark;
  benchmark.from = options.from;
  benchmark.out = options.out;
  benchmark.split = options.split;
  benchmark.assignments = options.assignments;
  benchmark.series = options.series;
  benchmark.members = options.members;
  for (std::int64_t seed = 1; seed < options.splits; ++seed) benchmark.seeds.push_back(seed);
  benchmark.stop = &interrupt_flag("edict: stopped; the same command continues where it was\n");
  std::string stage;
  benchmark.on_stage = [&](const std::string& what) {
    stage = what;
    progress.begin(what);
  };
  benchmark.on_epoch = [&](const EpochRow& row) {
    progress.line(
        fmt::format("{}, epoch {}: validation nll {:.4f}", stage, row.epoch, row.validation_nll));
  };
  ThreadPool pool(static_cast<std::size_t>(options.threads));
  for (const std::string& task : options.tasks)
    for (study::BenchmarkValue& value : study::run_benchmark(task, pool, benchmark))
      values.push_back(std::move(value));
  values.insert(values.end(), others.begin(), others.end());
  for (study::BenchmarkValue& value : study::published_field()) values.push_back(std::move(value));
  const auto tables = report::benchmark_tables(values);
  const std::filesystem::path page = std::filesystem::path(options.out) / "index.html";
  make_folder(options.out);
  const std::string about = fmt::format(
      "Judged on the {} part of {} random split{}{}. Those who published had all 12,000 stays of "
      "PhysioNet; here it is the sets in the folder.",
      options.split, options.splits, options.splits > 1 ? "s" : "",
      options.split == "validation"
          ? ", which also chose the epoch and, by half of it, calibrated: it flatters a little"
          : "");
  write_atomically(page, report::benchmark_page(tables, about));
  progress.end();
  std::FILE* const text = text_stream({options.json});
  fmt::print(text, "{}\n{}\n", report::benchmark_text(tables),
             std::filesystem::absolute(page).lexically_normal().string());
  write_json(options.json, {{"split", options.split}, {"values", json_list(values)}});
}

}  // namespace

void add_benchmark(CLI::App& app) {
  auto options = std::make_shared<BenchmarkArguments>();
  CLI::App* command = app.add_subcommand(
      "benchmark", "The field's rules as code: ours beside what others published, in one page");
  std::vector<std::string> names;
  std::string help = "some of them; default: all, those of PhysioNet only with --from:";
  for (const study::BenchmarkTask& task : study::benchmark_tasks()) {
    names.push_back(task.name);
    help += fmt::format(" {} ({});", task.name, task.title);
  }
  help.pop_back();
  command->add_option("--out", options->out, "folder of the page and the models")
      ->required()
      ->type_name("DIR");
  command->add_option("--tasks", options->tasks, help)->delimiter(',')->check(one_of(names));
  command->add_option("--from", options->from, "folder with the downloads of PhysioNet 2012")
      ->check(CLI::ExistingDirectory)
      ->type_name("DIR");
  command
      ->add_option("--split", options->split, "the split to evaluate; make choices on validation")
      ->check(one_of({"validation", "test"}))
      ->capture_default_str();
  command
      ->add_option("--splits", options->splits,
                   "random splits, each with a model of its own; the figures are then means")
      ->check(within(std::int64_t{1}, std::int64_t{100}))
      ->capture_default_str();
  command
      ->add_option(
          "--members", options->members,
          "networks that answer together, in each split and fold (docs/how-to/ensembles.md)")
      ->check(within(std::size_t{1}, std::size_t{100}))
      ->capture_default_str();
  command->add_option("--series", options->series, "only the first N series, for a trial run")
      ->check(positive());
  command
      ->add_option("--beside", options->beside,
                   "figures of other programs for the same page: a table "
                   "task,method,metric,value, as bench/field_competitors.py writes it")
      ->check(CLI::ExistingFile);
  command->add_option("--set", options->assignments, "one setting, as train.epochs=3; repeatable")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  add_json(*command, options->json);
  add_threads(*command, options->threads);
  command->callback([options] { run(*options); });
}

}  // namespace edict::cli

#include <fmt/core.h>

#include "base/error.h"
#include "base/threads/interrupted.h"
#include "front/cli/command.h"
#include "front/cli/terminal/progress.h"
#include "research/report/results.h"
#include "research/report/study_page.h"

namespace edict::cli {
namespace {

struct ReproduceArguments {
  std::string out, plan, data = ".";
  std::vector<std::string> datasets;
  bool quick = false, claim = false;
  int threads = 0;
};

study::Plan plan_of(const ReproduceArguments& options) {
  if (!options.plan.empty() && options.quick)
    throw Error("--quick and --config each choose a plan; give one of them");
  study::Plan plan = !options.plan.empty() ? study::read_plan(options.plan)
                     : options.quick       ? study::quick_plan()
                                           : study::full_plan();
  if (!options.datasets.empty()) study::keep_datasets(plan, options.datasets);
  return plan;
}

void run(const ReproduceArguments& options) {
  const study::Plan plan = plan_of(options);
  Progress progress("reproducing");
  study::StudyOptions study_options{
      options.out,
      options.data,
      !options.datasets.empty(),
      static_cast<std::size_t>(options.threads),
      options.claim,
      &interrupt_flag("edict: stopped; the same command continues where it was\n"),
      [&](double share, const std::string& note) { progress.update(share, note); },
      [&](const std::string& text) { progress.line(text); }};
  const study::Study outcome = study::conduct(plan, study_options);
  if (outcome.interrupted) throw Interrupted();
  const report::Results results = report::write_report(outcome, options.out);
  progress.line(fmt::format("{} runs in {}", outcome.runs.size(), duration(progress.seconds())));
  progress.end();
  fmt::print("{}\n{}\n", report::results_text(results),
             std::filesystem::absolute(std::filesystem::path(options.out) / "index.html")
                 .lexically_normal()
                 .string());
  if (outcome.failures() == 0) return;
  fmt::print(stderr, "edict: {} of {} runs failed:\n", outcome.failures(), outcome.runs.size());
  for (const study::StudiedRun& one : outcome.runs)
    if (one.failure) fmt::print(stderr, "  {} on {}: {}\n", one.method, one.dataset, *one.failure);
  throw Exit{1};
}

}  // namespace

void add_reproduce(CLI::App& app) {
  auto options = std::make_shared<ReproduceArguments>();
  CLI::App* command = app.add_subcommand(
      "reproduce", "The paper's experiments and a report, ours beside the published");
  command->add_option("--out", options->out, "folder of the report and the runs")
      ->required()
      ->type_name("DIR");
  command->add_flag("--quick", options->quick, "Synthetic only, a few minutes");
  command
      ->add_option("--config", options->plan, "TOML file of experiments (presets/reproduce.toml)")
      ->check(CLI::ExistingFile);
  command
      ->add_option("--datasets", options->datasets,
                   "some of the plan's; default: all whose data are there")
      ->delimiter(',');
  command->add_option("--data", options->data, "folder of the imported datasets, as physionet.csv")
      ->type_name("DIR")
      ->capture_default_str();
  command->add_flag("--claim", options->claim,
                    "share the runs with other workers: every one runs this command with the same "
                    "--out, on any machine that sees it (docs/how-to/scale.md)");
  add_threads(*command, options->threads);
  command->callback([options] { run(*options); });
}

}  // namespace edict::cli

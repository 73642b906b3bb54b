#include "edict/cli/command.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "edict/cli/command_tree.h"
#include "edict/cli/completion.h"
#include "edict/cli/examples.h"

namespace edict::cli {

void add_commands(CLI::App& app) {
  // In the order in which they are used, which is the order of the help.
  add_generate(app);
  add_import(app);
  add_pack(app);
  add_info(app);
  add_init(app);
  add_settings(app);
  add_train(app);
  add_search(app);
  add_classify(app);
  add_calibrate(app);
  add_predict(app);
  add_impute(app);
  add_join(app);
  add_evaluate(app);
  add_plot(app);
  add_explore(app);
  add_stress(app);
  add_reproduce(app);
  add_benchmark(app);
  add_serve(app);
  add_demo(app);
  add_help(app);
  add_man(app);
  add_completion(app);
  add_examples(app);
}

void run_command_line(CLI::App& app, int argc, const char* const* argv) try {
  if (argc > 1 && std::string_view(argv[1]) == kCompleteCommand)
    return print_completions(app, {argv + 2, argv + argc});
  if (argc > 1 && !std::string_view(argv[1]).starts_with('-')) find_command(app, {argv[1]});
  app.parse(argc, argv);
} catch (const CLI::Success& e) {  // --help and --version
  app.exit(e);
}

void ConfigOptions::add_to(CLI::App& command) {
  command.add_option("--config", file, "TOML file with settings (see presets/)")
      ->check(CLI::ExistingFile);
  command.add_option("--set", assignments, "one setting, as model.hidden=64; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
}

Config ConfigOptions::resolve() const {
  Config config;
  if (!file.empty()) read_toml(file, config);
  for (const std::string& assignment : assignments) assign(config, assignment);
  validate(config);
  return config;
}

void GuardOptions::add_to(CLI::App& command) {
  command
      .add_option(
          "--guard", kind,
          "tame implausible observations before they are absorbed: edgr clips to what the model "
          "expects, pop-mean to what the training data held; either also clips clean "
          "observations (see --sigma)")
      ->check(CLI::IsMember({"none", "edgr", "pop-mean"}))
      ->capture_default_str();
  command.add_option("--eta", eta, "deviations an observation may be off before it is clipped")
      ->capture_default_str();
  command
      .add_option(
          "--sigma", sigma,
          "the deviation that EDGR counts in. epistemic, as published, is the model's doubt alone "
          "and clips about 15 % of clean observations; predictive includes the noise of "
          "the data and clips about 5 %")
      ->check(CLI::IsMember({"epistemic", "predictive"}))
      ->capture_default_str();
}

Guard GuardOptions::resolve() const {
  return {guard_from_name(kind), eta, deviation_from_name(sigma)};
}

void add_threads(CLI::App& command, int& threads) {
  command.add_option("--threads", threads, "0: all cores; results do not depend on it")
      ->check(CLI::Range(0, 1024));
}

std::string clipped_text(std::size_t clipped, std::size_t observations) {
  return fmt::format(
      "{} of {} observations were clipped ({:.1f} %)", clipped, observations,
      100.0 * static_cast<double>(clipped) / std::max(1.0, static_cast<double>(observations)));
}

}  // namespace edict::cli

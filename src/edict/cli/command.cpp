#include "edict/cli/command.h"

#include <fmt/core.h>

#include <algorithm>

#include "edict/core/error.h"

namespace edict::cli {

void add_commands(CLI::App& app) {
  add_generate(app);
  add_import(app);
  add_info(app);
  add_init(app);
  add_train(app);
  add_evaluate(app);
  add_predict(app);
  add_impute(app);
  add_plot(app);
  add_explore(app);
  add_classify(app);
  add_stress(app);
  add_search(app);
  add_settings(app);
  add_reproduce(app);
}

void check_command(const CLI::App& app, std::string_view name) {
  std::vector<std::string_view> known;
  for (const CLI::App* command : app.get_subcommands({})) known.push_back(command->get_name());
  if (!name.starts_with('-') && std::find(known.begin(), known.end(), name) == known.end())
    throw Error(fmt::format("unknown command '{}'; did you mean '{}'?", name,
                            settings::nearest(name, known)));
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

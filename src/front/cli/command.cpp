#include "front/cli/command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/text/counted.h"
#include "front/cli/help/command_tree.h"
#include "front/cli/help/completion.h"
#include "front/cli/help/examples.h"
#include "settings/settings.h"

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

namespace {

const CLI::App& given_command(const CLI::App& app) {
  const auto given = app.get_subcommands();
  return given.empty() ? app : given_command(*given.front());
}

// Of a command line that lacks an option or an argument.
void check_required(const CLI::App& app, const std::string& name) {
  const CLI::App& command = given_command(app);
  std::string shown = name;
  for (const CLI::Option* argument : arguments_of(command))
    if (argument->get_name() == name) shown = OptionShape(*argument).value;
  if (&command != &app)
    throw Error(fmt::format("{}: {} is missing; try --help", command.get_name(), shown));
}

// Of a command line that was refused: what there is not.
void check_options(const CLI::App& app) {
  const CLI::App* const command = &given_command(app);
  const std::vector<std::string> left = command->remaining();
  for (const std::string& given : left) {
    if (!given.starts_with("--")) continue;
    std::vector<std::string> names;
    for (const CLI::Option* option : options_of(*command))
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    const std::string name = given.substr(0, given.find('='));
    throw Error(fmt::format("{}: no option '{}'; did you mean '{}'?", command->get_name(), name,
                            settings::nearest(name, {names.begin(), names.end()})));
  }
  if (!left.empty())
    throw Error(fmt::format("{}: unexpected argument '{}'; leave it out, or try --help",
                            command->get_name(), left.front()));
}

}  // namespace

void run_command_line(CLI::App& app, int argc, const char* const* argv) try {
  if (argc > 1 && std::string_view(argv[1]) == kCompleteCommand)
    return print_completions(app, {argv + 2, argv + argc});
  if (argc > 1 && !std::string_view(argv[1]).starts_with('-')) find_command(app, {argv[1]});
  app.parse(argc, argv);
} catch (const CLI::Success& e) {  // --help and --version
  app.exit(e);
} catch (const CLI::ParseError& error) {
  check_options(app);
  const std::string what = error.what();
  if (dynamic_cast<const CLI::RequiredError*>(&error))
    check_required(app, what.substr(0, what.find(" is required")));
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error))
    throw Error(what.substr(0, what.find(':')) + " needs a value; try --help");
  throw;
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
          "clip implausible observations before the model uses them: edgr to what the model "
          "expects, pop-mean to the range of the training data; either also clips clean "
          "observations (see --sigma)")
      ->check(one_of({"none", "edgr", "pop-mean"}))
      ->capture_default_str();
  command.add_option("--eta", eta, "deviations an observation may be off before it is clipped")
      ->capture_default_str();
  command
      .add_option(
          "--sigma", sigma,
          "the deviation that EDGR counts in. epistemic, as published, is the uncertainty of the "
          "model alone and clips about 15 % of clean observations; predictive includes the noise "
          "of the data and clips about 5 %")
      ->check(one_of({"epistemic", "predictive"}))
      ->capture_default_str();
}

Guard GuardOptions::resolve() const {
  return {guard_from_name(kind), eta, deviation_from_name(sigma)};
}

void add_threads(CLI::App& command, int& threads) {
  command.add_option("--threads", threads, "0: all cores; results do not depend on it")
      ->check(within(0, 1024));
}

void add_level(CLI::App& command, double& level, const std::string& help) {
  constexpr double kLeast = 0.001, kMost = 0.999999;
  const auto percent = [](std::string& text) -> std::string {
    double value = 0;
    const bool number = CLI::detail::lexical_cast(text, value);
    return number && value > 1 && value < 100 ? percent_for_share(value) : std::string();
  };
  command.add_option("--level", level, help)
      ->check(CLI::Validator(percent, ""))
      ->check(within(kLeast, kMost))
      ->capture_default_str();
}

namespace {

template <class T>
CLI::Validator number_within(T least, T most, const char* type) {
  const auto check = [=](std::string& text) -> std::string {
    T value{};
    if (!CLI::detail::lexical_cast(text, value)) return fmt::format("'{}' is not a number", text);
    if (value >= least && value <= most) return {};
    return fmt::format("{} is not between {} and {}", text, least, most);
  };
  return {check, fmt::format("{} in [{} - {}]", type, least, most)};
}

}  // namespace

CLI::Validator within_integers(std::int64_t least, std::int64_t most) {
  return number_within(least, most, "INT");
}

CLI::Validator within_numbers(double least, double most) {
  return number_within(least, most, "FLOAT");
}

CLI::Validator one_of(std::vector<std::string> words) {
  std::string description = fmt::format("{{{}}}", fmt::join(words, ","));
  const auto check = [words = std::move(words)](std::string& text) -> std::string {
    if (std::ranges::find(words, text) != words.end()) return {};
    return fmt::format("'{}' is not one of {}", text, fmt::join(words, ", "));
  };
  return {check, std::move(description)};
}

CLI::Validator positive() {
  const auto check = [](std::string& text) -> std::string {
    double value = 0;
    const bool number = CLI::detail::lexical_cast(text, value);
    return number && value > 0 ? std::string() : fmt::format("'{}' is not a number above 0", text);
  };
  return {check, "POSITIVE"};
}

std::string percent_for_share(double percent) {
  return fmt::format("{} is not between 0 and 1; did you mean {:.15g}?", percent, percent / 100);
}

std::string clipped_text(std::size_t clipped, std::size_t observations) {
  return fmt::format(
      "{} of {} were clipped ({:.1f} %)", clipped, counted(observations, "observation"),
      100.0 * static_cast<double>(clipped) / std::max(1.0, static_cast<double>(observations)));
}

}  // namespace edict::cli

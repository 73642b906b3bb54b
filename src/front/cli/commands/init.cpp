#include <fmt/core.h>

#include "base/error.h"
#include "base/files/atomic_file.h"
#include "base/text/counted.h"
#include "front/cli/command.h"
#include "front/cli/given_data.h"
#include "learn/fit_settings.h"

namespace edict::cli {
namespace {

struct InitArguments {
  std::string data, out, kind;
  std::vector<std::string> assignments;
  ReadOptions reading;
};

void run(const InitArguments& options) {
  check_files({options.data}, {options.out});
  const Dataset data = open_to_train(options.data, options.reading);
  std::vector<std::string> given = options.assignments;
  if (!options.kind.empty()) given.push_back("model.kind=" + options.kind);
  const FittedSettings fitted = fit_settings(data, given);
  std::string text = fmt::format(
      "# Settings chosen for {} ({} training series, {}): those that\n"
      "# `edict train` uses without --config. Change what you like, then train with --config\n"
      "# and this file; a line that is left out has its default (edict settings).\n",
      options.data == "-" ? "standard input" : options.data, fitted.facts.series,
      counted(fitted.facts.features, "feature"));
  for (const std::string& note : fitted.notes)
    text += fmt::format("# note: {}\n", with_options(note, command_line_option));
  text += commented_toml(fitted);
  if (options.out.empty() || is_standard_output(options.out)) {
    fmt::print("{}", text);
    return;
  }
  write_atomically(options.out, text);
  std::size_t chosen = 0;
  for (const SettingChoice& choice : fitted.choices) chosen += !choice.given;
  fmt::print("{0}: {1} settings chosen for {2}; edict train {2} --config {0} --out MODEL\n",
             options.out, chosen, options.data);
}

}  // namespace

void add_init(CLI::App& app) {
  auto options = std::make_shared<InitArguments>();
  CLI::App* command = app.add_subcommand(
      "init",
      "Choose settings for a CSV file and write them as TOML, each with its meaning and the "
      "reason; training with that file is the same as training without --config");
  command->add_option("data", options->data, "the data")->required()->type_name("DATA.csv");
  add_output(*command, "--out", options->out, "where they go, if not to standard output")
      ->type_name("FILE.toml");
  command->add_option("--model", options->kind, "same as --set model.kind=…");
  command
      ->add_option("--set", options->assignments,
                   "one setting that is not to be chosen, as model.hidden=64; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  add_reading(*command, options->reading);
  command->callback([options] { run(*options); });
}

}  // namespace edict::cli

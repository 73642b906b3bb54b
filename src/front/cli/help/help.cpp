#include "front/cli/help/help.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "base/text/utf8.h"
#include "front/cli/command.h"
#include "front/cli/help/command_tree.h"

namespace edict::cli {
namespace {

constexpr std::size_t kColumns = 80, kNames = 32;

std::string in_lines(const std::string& text, std::size_t width) {
  return fmt::format("{}", fmt::join(wrapped(text, width), "\n"));
}

void add_row(std::string& out, const std::string& name, const std::string& help) {
  std::stringstream row;
  CLI::detail::format_help(row, name, in_lines(help, kColumns - kNames), kNames);
  out += row.str();
}

class Wrapping : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string, CLI::AppFormatMode) const override {
    std::string out =
        in_lines(app->get_description(), kColumns) + "\n\nUsage: " + usage_of(*app) + "\n";
    if (const auto arguments = arguments_of(*app); !arguments.empty()) {
      out += "\nArguments:\n";
      for (const CLI::Option* argument : arguments) {
        const OptionShape shape(*argument);
        add_row(out, shape.value, shape.help);
      }
    }
    std::string group;
    for (const CLI::App* command : commands_of(*app)) {
      if (command->get_group() != group) {
        group = command->get_group();
        out += fmt::format("\n{}:\n", group);
      }
      add_row(out, command->get_name(), command->get_description());
    }
    out += "\nOptions:\n";
    for (const CLI::Option* option : options_of(*app)) {
      const OptionShape shape(*option);
      add_row(out,
              fmt::format("{}{}{}", fmt::join(shape.names, ", "), shape.value.empty() ? "" : " ",
                          shape.value),
              shape.help);
    }
    if (!app->get_footer().empty()) out += "\n" + app->get_footer();
    return out;
  }
  std::string make_footer(const CLI::App* command) const override {
    const std::string footer = command->get_footer();
    return footer.empty() ? footer : in_lines(footer, kColumns) + "\n";
  }
};

}  // namespace

std::shared_ptr<CLI::FormatterBase> help_formatter() { return std::make_shared<Wrapping>(); }

void add_help(CLI::App& app) {
  auto names = std::make_shared<std::vector<std::string>>();
  CLI::App* command = app.add_subcommand("help", "Explain a command: what its --help says");
  command->add_option("command", *names, "which one, as train or import gestures")
      ->type_name("COMMAND");
  // Not App::help, which explains the command that runs: this one.
  command->callback([&app, names] {
    const CLI::App& found = find_command(app, *names);
    fmt::print("{}", app.get_formatter()->make_help(&found, "", CLI::AppFormatMode::Normal));
  });
}

}  // namespace edict::cli

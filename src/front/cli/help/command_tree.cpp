#include "front/cli/help/command_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <regex>
#include <set>
#include <string_view>

#include "base/error.h"
#include "settings/settings.h"

namespace edict::cli {
namespace {

// CLI11 tells a type as "TEXT:{a,b}" or "EPOCHS:INT in [0 - 10]": a name, then its checks.
struct Type {
  std::string name;
  std::vector<std::string> choices;
};

Type type_of(const CLI::Option& option) {
  static const std::regex kCheck(
      R"((^|:)(\{[^{}]*\})$|:((INT|UINT|FLOAT|NUMBER)( in \[[^\]]*\])?|POSITIVE|NONNEGATIVE|FILE|DIR|PATH\([^)]*\))$)");
  Type type{option.get_type_name(), {}};
  bool file = false;
  for (std::smatch found; std::regex_search(type.name, found, kCheck);) {
    const std::string check = found[2].matched ? found[2] : found[3];
    if (check.starts_with('{')) {
      std::string_view rest = std::string_view(check).substr(1, check.size() - 2);
      while (!rest.empty()) {
        const std::size_t end = std::min(rest.find(','), rest.size());
        type.choices.emplace_back(rest.substr(0, end));
        rest.remove_prefix(std::min(end + 1, rest.size()));
      }
    }
    file = file || check == "FILE";
    type.name = type.name.substr(0, static_cast<std::size_t>(found.position()));
  }
  if (!type.choices.empty())
    type.name = fmt::format("{{{}}}", fmt::join(type.choices, ","));
  else if (type.name == "TEXT")
    type.name = file ? "FILE" : "TEXT";
  else if (type.name == "INT" || type.name == "UINT")
    type.name = "N";
  else if (type.name == "FLOAT")
    type.name = "NUMBER";
  return type;
}

std::string either_of(const std::set<CLI::Option*>& options) {
  std::string text;
  for (const CLI::Option* option : options)
    text += (text.empty() ? "" : " or ") + option->get_name();
  return text;
}

}  // namespace

OptionShape::OptionShape(const CLI::Option& option) : help(option.get_description()) {
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  if (option.get_items_expected_max() > 0) {
    Type type = type_of(option);
    value = type.name.empty() ? "TEXT" : type.name;
    choices = std::move(type.choices);
    list = option.get_delimiter() == ',';
    repeats = option.get_items_expected_max() > 1 && !list;
    if (list && !choices.empty()) value += ",...";
  }
  const std::string standard = option.get_default_str();
  if (!value.empty() && !standard.empty() && standard != "\"\"")
    help += fmt::format(" (default {})", standard);
  if (option.get_required() && !names.empty()) help += " (required)";
  if (!option.get_excludes().empty())
    help += fmt::format(" (not with {})", either_of(option.get_excludes()));
}

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* command) {
    return !command->get_name().empty() && !command->get_group().empty();
  });
}

std::vector<const CLI::Option*> arguments_of(const CLI::App& app) {
  return app.get_options([](const CLI::Option* option) { return option->get_positional(); });
}

std::vector<const CLI::Option*> options_of(const CLI::App& app) {
  std::vector<const CLI::Option*> options = app.get_options([](const CLI::Option* option) {
    return option->nonpositional() && !option->get_group().empty();
  });
  // What every command has comes last.
  std::stable_partition(options.begin(), options.end(), [&](const CLI::Option* option) {
    return option != app.get_help_ptr() && option != app.get_version_ptr();
  });
  return options;
}

const CLI::App& find_command(const CLI::App& app, const std::vector<std::string>& names) {
  const CLI::App* at = &app;
  for (const std::string& name : names) {
    std::vector<std::string_view> known;
    const CLI::App* found = nullptr;
    const std::vector<const CLI::App*> commands = commands_of(*at);
    for (const CLI::App* command : commands) {
      known.push_back(command->get_name());
      if (command->get_name() == name) found = command;
    }
    if (!found && known.empty())
      throw Error(fmt::format("'{}' has no command '{}'; leave it out", at->get_name(), name));
    if (!found && name == "plot" && at == &app)
      throw Error(
          "plot is no command any more; `edict explore` shows series, `edict evaluate --html` "
          "calibration, errors, classes and learning");
    if (!found)
      throw Error(fmt::format("unknown command '{}'; did you mean '{}'?", name,
                              settings::nearest(name, known)));
    at = found;
  }
  return *at;
}

std::string full_name(const CLI::App& app) {
  return app.get_parent()         ? full_name(*app.get_parent()) + " " + app.get_name()
         : app.get_name().empty() ? "edict"
                                  : app.get_name();
}

std::string usage_of(const CLI::App& app) {
  std::string usage = full_name(app);
  if (!commands_of(app).empty()) return usage + " COMMAND";
  for (const CLI::Option* argument : arguments_of(app)) {
    const OptionShape shape(*argument);
    usage += argument->get_required() ? " " + shape.value : " [" + shape.value + "]";
  }
  for (const CLI::Option* option : options_of(app)) {
    const OptionShape shape(*option);
    // Where results go is what one looks for, even where it is not always asked for.
    if (option->get_required() || shape.names.back() == "--out")
      usage += fmt::format(" {} {}", shape.names.back(), shape.value);
  }
  return usage + " [OPTIONS]";
}

}  // namespace edict::cli

// The parser's commands and options as help texts, manual pages and completion read them. What they
// show is what the parser accepts: none of them has a list of its own.
#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

namespace edict::cli {

struct OptionShape {
  explicit OptionShape(const CLI::Option& option);

  std::vector<std::string> names;  // "-h", "--help"; empty for an argument without a name
  std::string value;               // "MODEL", "{none,edgr}", …; empty where it takes none
  std::vector<std::string> choices;
  bool repeats = false;  // may be given more than once
  bool list = false;     // takes several values with commas between them
  std::string help;      // with its default, and whether it must be given
};

// The commands of an app that are meant to be seen, in their order.
std::vector<const CLI::App*> commands_of(const CLI::App& app);
// Its arguments without a name, and its options; none that are hidden.
std::vector<const CLI::Option*> arguments_of(const CLI::App& app);
std::vector<const CLI::Option*> options_of(const CLI::App& app);

// The command at the end of these names; Error, with the nearest one, where there is none.
const CLI::App& find_command(const CLI::App& app, const std::vector<std::string>& names);

// "edict import gestures".
std::string full_name(const CLI::App& app);

// "edict train DATA.csv --out MODEL [OPTIONS]".
std::string usage_of(const CLI::App& app);

}  // namespace edict::cli

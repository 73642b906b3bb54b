#include "edict/cli/help.h"

#include <CLI/CLI.hpp>

#include "edict/core/utf8.h"

namespace edict::cli {
namespace {

constexpr std::size_t kColumns = 80, kNames = 32;

class Wrapping : public CLI::Formatter {
 public:
  Wrapping() { column_width(kNames); }

  std::string make_option_desc(const CLI::Option* option) const override {
    return wrapped(option->get_description(), kColumns - kNames);
  }
  std::string make_subcommand(const CLI::App* command) const override {
    std::stringstream out;
    CLI::detail::format_help(out, command->get_display_name(true),
                             wrapped(command->get_description(), kColumns - kNames), kNames);
    return out.str();
  }
  std::string make_description(const CLI::App* command) const override {
    return wrapped(command->get_description(), kColumns) + "\n";
  }
  std::string make_footer(const CLI::App* command) const override {
    const std::string footer = command->get_footer();
    return footer.empty() ? footer : wrapped(footer, kColumns) + "\n";
  }
};

}  // namespace

std::shared_ptr<CLI::FormatterBase> help_formatter() { return std::make_shared<Wrapping>(); }

}  // namespace edict::cli

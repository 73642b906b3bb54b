#include "edict/config/write_toml.h"

#include <fmt/format.h>

namespace edict {
namespace {

std::string text_of(double value) {
  // TOML tells 1.0 from 1; {} is the shortest text that reads back as the same number.
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}
std::string text_of(std::int64_t value) { return fmt::format("{}", value); }
std::string text_of(bool value) { return value ? "true" : "false"; }
std::string text_of(const std::string& value) { return '"' + value + '"'; }  // a known choice

}  // namespace

std::string to_toml(const Config& config) {
  Config copy = config;
  std::string text;
  std::string_view table;
  for (const Key& key : keys(copy)) {
    const std::size_t dot = key.name.find('.');
    if (key.name.substr(0, dot) != table) {
      table = key.name.substr(0, dot);
      text += fmt::format("{}[{}]\n", text.empty() ? "" : "\n", table);
    }
    text += fmt::format("{} = {}\n", key.name.substr(dot + 1),
                        std::visit([](const auto* value) { return text_of(*value); }, key.value));
  }
  return text;
}

}  // namespace edict

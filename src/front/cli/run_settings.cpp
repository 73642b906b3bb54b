#include "front/cli/run_settings.h"

#include <fmt/core.h>

#include <cstdlib>

#include "base/text/utf8.h"
#include "front/cli/given_data.h"

namespace edict::cli {
namespace {

constexpr std::size_t kLineColumns = 80;

// A line for people is not a file: four digits of a number do.
std::string short_value(const std::string& value) {
  char* end = nullptr;
  const double number = std::strtod(value.c_str(), &end);
  if (value.empty() || *end != '\0') return value;
  const std::string rounded = fmt::format("{:.6g}", number);
  return rounded.size() < value.size() ? rounded : value;
}

void add_paragraph(const std::string& text, const std::string& indent,
                   std::vector<std::string>& lines) {
  for (const std::string& line : wrapped(text, kLineColumns - indent.size()))
    lines.push_back(indent + line);
}

}  // namespace

std::vector<std::string> choice_lines(const FittedSettings& fitted) {
  std::vector<std::string> lines{
      "settings chosen for these data (edict init writes all of them down):"};
  const auto& choices = fitted.choices;
  for (std::size_t i = 0; i < choices.size();) {
    const std::string& why = choices[i].why;
    std::string assignments;
    for (; i < choices.size() && choices[i].why == why; ++i)
      assignments += fmt::format("{}{}={}", assignments.empty() ? "" : " ", choices[i].key,
                                 short_value(choices[i].value));
    add_paragraph(assignments, "  ", lines);
    add_paragraph(why, "      ", lines);
  }
  for (const std::string& note : fitted.notes) lines.push_back(note_line(note));
  return lines;
}

}  // namespace edict::cli

#include "research/import/ucr_file.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "research/import/text_lines.h"

namespace edict {
namespace {

bool separates(char c) { return c == ',' || c == '\t' || c == ' '; }

// The cells of a line; neighbouring blanks are one separator.
std::vector<std::string_view> cells(std::string_view line) {
  std::vector<std::string_view> result;
  std::size_t at = 0;
  while (at < line.size()) {
    while (at < line.size() && separates(line[at])) ++at;
    const std::size_t begin = at;
    while (at < line.size() && !separates(line[at])) ++at;
    if (at > begin) result.push_back(line.substr(begin, at - begin));
  }
  return result;
}

int read_label(std::string_view text, const TextLines& lines) {
  double value = 0.0;
  if (!read_number(text, value) || value != std::floor(value) || std::abs(value) > 1e6)
    lines.fail(fmt::format("the label {} is not a whole number", shown(text)));
  return static_cast<int>(value);
}

double read_value(std::string_view text, const TextLines& lines) {
  double value = std::numeric_limits<double>::quiet_NaN();
  if (text != "?" && !read_number(text, value))
    lines.fail(fmt::format("{} is not a number", shown(text)));
  return value;
}

bool is_data_mark(std::string_view line) {
  std::string lower(line.substr(0, 5));
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower == "@data";
}

}  // namespace

UcrFile read_ucr_file(const ArchiveEntry& entry) {
  UcrFile file;
  TextLines lines(entry.bytes, entry.name);
  bool has_header = false, in_data = false;
  for (std::string_view line; lines.next(line);) {
    if (line.starts_with('#')) continue;
    if (line.starts_with('@')) {
      has_header = true;
      in_data |= is_data_mark(line);
      continue;
    }
    if (has_header && !in_data) lines.fail("a series stands before '@data'");
    const auto colon = line.rfind(':');
    if (has_header != (colon != line.npos) || line.find(':') != colon)
      lines.fail("is neither 'label value value …' nor, after '@data', 'value,value,…:label'");

    std::vector<std::string_view> texts = cells(line.substr(0, colon));
    std::string_view label;
    if (has_header) {
      label = line.substr(colon + 1);
    } else if (!texts.empty()) {
      label = texts.front();
      texts.erase(texts.begin());
    }
    file.labels.push_back(read_label(label, lines));
    std::vector<double> values;
    for (const auto text : texts) values.push_back(read_value(text, lines));
    if (values.empty()) lines.fail("holds a label and no values");
    if (!file.series.empty() && values.size() != file.series[0].size())
      lines.fail(
          fmt::format("has {} values and the first series {}; the file may be cut short, "
                      "download it again",
                      values.size(), file.series[0].size()));
    file.series.push_back(std::move(values));
  }
  if (file.series.empty())
    throw Error(fmt::format("{}: holds no series; download it again", entry.name));
  return file;
}

}  // namespace edict

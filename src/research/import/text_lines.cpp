#include "research/import/text_lines.h"

#include <fmt/core.h>

#include <charconv>
#include <limits>

#include "base/error.h"

namespace edict {
namespace {

bool blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

std::string_view without_blanks(std::string_view text) {
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace

TextLines::TextLines(std::string_view text, std::string name)
    : rest_(text), name_(std::move(name)) {
  if (rest_.starts_with("\xef\xbb\xbf")) rest_.remove_prefix(3);
}

bool TextLines::next(std::string_view& line) {
  while (!rest_.empty()) {
    const auto end = rest_.find('\n');
    line = rest_.substr(0, end);
    rest_.remove_prefix(end == rest_.npos ? rest_.size() : end + 1);
    ++line_;
    while (!line.empty() && blank(line.back())) line.remove_suffix(1);
    if (!line.empty()) return true;
  }
  return false;
}

void TextLines::fail(std::string_view what) const {
  throw Error(fmt::format("{}:{}: {}", name_, line_, what));
}

std::string_view take_cell(std::string_view& line, char separator) {
  const auto end = line.find(separator);
  const auto cell = line.substr(0, end);
  line.remove_prefix(end == line.npos ? line.size() : end + 1);
  return without_blanks(cell);
}

bool read_number(std::string_view text, double& value) {
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range) value = std::numeric_limits<double>::infinity();
  return error != std::errc::invalid_argument && end == text.data() + text.size();
}

std::string shown(std::string_view text) {
  std::string printable(text.substr(0, 40));
  for (char& c : printable)
    if (c < ' ' || c == '\x7f') c = '?';
  return fmt::format("'{}{}'", printable, text.size() > 40 ? "…" : "");
}

}  // namespace edict

#include "data/read/csv/layout/csv_header.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "data/read/columns/time_column.h"
#include "data/read/csv/csv_names.h"
#include "data/time/date_text.h"

namespace edict {
namespace {

constexpr std::array<char, 4> kSeparators{',', ';', '\t', '|'};

struct Line {
  const char* at;
  std::array<std::size_t, 4> separators{};  // outside of quotes
};

// The line at p, which is left at the next one.
Line take_line(const char*& p) {
  Line line{p, {}};
  bool quoted = false;
  for (; *p != '\0' && (quoted || *p != '\n'); ++p) {
    if (*p == '"') quoted = !quoted;
    if (quoted) continue;
    const auto found = std::find(kSeparators.begin(), kSeparators.end(), *p);
    if (found != kSeparators.end())
      ++line.separators[static_cast<std::size_t>(found - kSeparators.begin())];
  }
  if (*p == '\n') ++p;
  return line;
}

void skip_blank_lines(const char*& p) {
  while (*p == '\n' || *p == '\r') ++p;
}

std::size_t usual_separator(const Line& line) {
  return static_cast<std::size_t>(std::max_element(line.separators.begin(), line.separators.end()) -
                                  line.separators.begin());
}

// The cells of the line at p, without quotes and outer blanks.
std::vector<std::string> cells_of(const char* p, char separator) {
  std::vector<std::string> cells{""};
  bool quoted = false;
  for (; *p != '\0' && (quoted || *p != '\n'); ++p) {
    if (*p == '"')
      quoted = !quoted;
    else if (*p == separator && !quoted)
      cells.emplace_back();
    else if (*p != '\r' && cells.back().size() < 256)
      cells.back() += *p;
  }
  for (std::string& cell : cells) {
    cell.erase(0, std::min(cell.find_first_not_of(' '), cell.size()));
    cell.erase(cell.find_last_not_of(' ') + 1);
  }
  return cells;
}

bool holds_data(const char* line, char separator) {
  const std::vector<std::string> cells = cells_of(line, separator);
  return std::any_of(cells.begin(), cells.end(), is_measured);
}

// Names of columns: mostly there, and none of them a number.
bool may_name_columns(const char* line, char separator) {
  const std::vector<std::string> cells = cells_of(line, separator);
  const auto named = std::count_if(cells.begin(), cells.end(),
                                   [](const std::string& cell) { return !cell.empty(); });
  return 2 * static_cast<std::size_t>(named) >= cells.size() && named > 1 &&
         std::none_of(cells.begin(), cells.end(), is_measured);
}

// The number of separators that most lines from `first` on have.
std::size_t most_often(const std::vector<Line>& lines, std::size_t first, std::size_t separator) {
  std::map<std::size_t, std::size_t> lines_with;
  for (std::size_t k = first; k < lines.size(); ++k) ++lines_with[lines[k].separators[separator]];
  std::size_t most = 0, result = 0;
  for (const auto& [count, times] : lines_with)
    if (times > most) most = times, result = count;
  return result;
}

// Data below a line of names, behind as many as three lines of units and the like.
bool data_follow(const std::vector<Line>& lines, std::size_t names, std::size_t separator) {
  for (std::size_t k = names + 1; k < lines.size() && k <= names + 4; ++k) {
    if (lines[k].separators[separator] != lines[names].separators[separator]) return false;
    if (holds_data(lines[k].at, kSeparators[separator])) return true;
  }
  return false;
}

}  // namespace

bool is_measured(const std::string& cell) {
  DateStyle style;
  return number_with_comma(cell) || parse_date(cell) || has_open_order(cell) ||
         parse_clock(cell, style);
}

CsvHeader find_header(CsvText& text) {
  const char* p = text.begin();
  skip_blank_lines(p);
  // A first line `sep=;`, which spreadsheets understand, decides.
  if (std::string_view(p, 4) == "sep=" &&
      std::find(kSeparators.begin(), kSeparators.end(), p[4]) != kSeparators.end() &&
      (p[5] == '\n' || p[5] == '\r')) {
    text.set_separator(p[4]);
    return {CsvText::next_line(p + 5)};
  }
  // Of Campbell's loggers: the names stand below a line about the station.
  if (const std::vector<std::string> cells = cells_of(p, ','); cells.front() == "TOA5") {
    text.set_separator(',');
    take_line(p);
    return {p, 1};
  }
  CsvHeader header{p};
  const char* comment = nullptr;  // the last of them
  std::size_t comments = 0;
  while (*p == '#') {
    comment = p;
    ++comments;
    take_line(p);
    skip_blank_lines(p);
  }
  if (p == text.end() && comment) p = comment, comment = nullptr, comments = 0;
  constexpr std::size_t kLines = 60, kMostSkipped = 40;
  std::vector<Line> lines;
  for (const char* next = p; next != text.end() && lines.size() < kLines; skip_blank_lines(next))
    lines.push_back(take_line(next));
  if (lines.empty()) return header;

  std::size_t separator = usual_separator(lines.front()), at = 0;
  if (comment) {
    // Names that are a comment: they are as many as the cells below, which are data.
    const char* names = comment;
    const Line line = take_line(names);
    separator = usual_separator(line);
    if (line.separators[separator] > 0 &&
        line.separators[separator] == lines.front().separators[separator] &&
        holds_data(lines.front().at, kSeparators[separator])) {
      text.set_separator(kSeparators[separator]);
      const char* first = comment + 1;
      while (*first == ' ') ++first;
      return {first, comments - 1};
    }
    separator = usual_separator(lines.front());
  }
  if (lines.front().separators[separator] != most_often(lines, 1, separator))
    for (std::size_t k = 1; k + 1 < lines.size() && k <= kMostSkipped; ++k) {
      const std::size_t own = usual_separator(lines[k]), cells = lines[k].separators[own];
      if (cells == 0 || cells == lines.front().separators[own] ||
          cells != most_often(lines, k + 1, own) || cells != lines[k + 1].separators[own] ||
          !may_name_columns(lines[k].at, kSeparators[own]) || !data_follow(lines, k, own))
        continue;
      at = k;
      separator = own;
      break;
    }
  text.set_separator(kSeparators[separator]);
  return {lines[at].at, comments + at};
}

}  // namespace edict

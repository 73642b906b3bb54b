// Bodies of CSV: a column a feature, or a row a value.
#include <fmt/core.h>

#include <algorithm>

#include "data/read/csv/csv_names.h"
#include "data/read/csv/csv_text.h"
#include "data/read/read_options.h"
#include "front/server/ingest/collected.h"

namespace edict::server {
namespace {

// What a column holds; a feature of the model by its number.
enum Meaning : int {
  kLeftOut = -1,
  kStream = -2,
  kTime = -3,
  kFeature = -4,
  kValue = -5,
  kUnknown = -6
};

class CsvBody {
 public:
  CsvBody(const CsvText& text, const Intake& intake, const StreamClock& clock, Collected& to)
      : text_(text), intake_(intake), clock_(clock), to_(to), at_(text.begin()) {}

  void read(const std::string& id_column, const std::string& time_column) {
    next_row(header_);
    if (!read_header(id_column, time_column)) return;
    for (std::size_t line = 2; at_ < text_.end(); ++line) {
      next_row(cells_);
      if (cells_.size() == 1 && cells_[0].empty()) continue;
      if (cells_.size() == header_.size())
        read_row(line);
      else
        to_.problem(line, "",
                    fmt::format("has {} cells, the header {}", cells_.size(), header_.size()));
    }
  }

 private:
  void next_row(std::vector<std::string>& cells) {
    cells.clear();
    while (true) {
      cells.emplace_back(text_.read_cell(at_, scratch_).text);
      if (*at_ != text_.separator()) break;
      ++at_;
    }
    at_ = CsvText::next_line(at_);
  }

  // Whether rows can be read.
  bool read_header(const std::string& id_column, const std::string& time_column) {
    const auto has = [&](std::string_view name) { return std::ranges::count(header_, name) > 0; };
    is_long_ = has("feature") && has("value") && intake_.feature("feature") < 0;
    bool has_stream = false, has_time = false;
    for (const std::string& name : header_) {
      int meaning = kUnknown;
      if (!has_stream && (name == "stream" || name == "id" || name == id_column))
        meaning = kStream, has_stream = true;
      else if (!has_time && (name == "time" || name == time_column))
        meaning = kTime, has_time = true;
      else if (is_long_)
        meaning = name == "feature" ? kFeature : name == "value" ? kValue : kLeftOut;
      else if (const std::int32_t feature = intake_.feature(name); feature >= 0)
        meaning = feature;
      else if (name == "label" || name == "group" || name.starts_with("static:"))
        meaning = kLeftOut;
      meaning_.push_back(meaning);
    }
    if (!has_stream) to_.problem_of_body(1, "stream", "a column 'stream' or 'id' is missing");
    if (!has_time) to_.problem_of_body(1, "time", "a column 'time' is missing");
    return has_stream && has_time;
  }

  void read_row(std::size_t line) {
    std::string_view stream, feature, value;
    std::optional<TimeStamp> time;
    for (std::size_t c = 0; c < cells_.size(); ++c) {
      if (meaning_[c] == kStream) stream = cells_[c];
      if (meaning_[c] == kTime) time = clock_.from_text(cells_[c]);
      if (meaning_[c] == kFeature) feature = cells_[c];
      if (meaning_[c] == kValue) value = cells_[c];
    }
    if (const std::string why = name_problem(stream); !why.empty())
      return to_.problem(line, "stream", why);
    if (!time) return to_.problem(line, "time", kTimeNeeded);
    const auto take = [&](std::string_view cell, std::string_view name, std::int32_t j) {
      if (spells_unknown(cell)) return;
      const auto number = finite_number(cell);
      if (j < 0)
        to_.problem(line, std::string(name), kNoSuchFeature);
      else if (number)
        to_.row(line, stream, *time, j, *number);
      else
        to_.problem(line, std::string(name), fmt::format("'{}' is no finite number", cell));
    };
    if (is_long_) return take(value, feature, intake_.feature(feature));
    for (std::size_t c = 0; c < cells_.size(); ++c)
      if (meaning_[c] >= 0 || meaning_[c] == kUnknown) take(cells_[c], header_[c], meaning_[c]);
  }

  const CsvText& text_;
  const Intake& intake_;
  const StreamClock& clock_;
  Collected& to_;
  const char* at_;
  std::string scratch_;
  std::vector<std::string> header_, cells_;
  std::vector<int> meaning_;  // of each column
  bool is_long_ = false;
};

}  // namespace

std::vector<Row> Intake::csv(std::string_view body, Refused* refused) const {
  Collected collected(refused);
  if (body.find('\0') != std::string_view::npos) {
    collected.problem_of_body(0, "", "the table holds a zero byte");
    return collected.take();
  }
  CsvLimits limits;
  limits.bytes = body.size() + 1;
  const CsvText text = [&] {
    try {
      return CsvText::from_memory(body, "body", limits);
    } catch (const Error& error) {  // it begins like something compressed
      throw BadInput({{0, "", error.what()}});
    }
  }();
  try {
    CsvBody(text, *this, clock_, collected).read(id_column_, time_column_);
  } catch (const CsvQuoteError& e) {
    collected.problem_of_body(text.line_of(e.at), "", std::string(e.reason));
  }
  return collected.take();
}

}  // namespace edict::server

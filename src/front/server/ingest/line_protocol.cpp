// Bodies of InfluxDB's line protocol: measurement,tag=a field=1,field=2 time
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "data/read/csv/csv_names.h"
#include "front/server/ingest/collected.h"

namespace edict::server {
namespace {

// Reads up to one of `ends`, a backslash making an end an ordinary character.
std::string escaped_until(std::string_view line, std::size_t& at, std::string_view ends) {
  std::string text;
  while (at < line.size() && ends.find(line[at]) == std::string_view::npos) {
    if (line[at] == '\\' && at + 1 < line.size() &&
        (ends.find(line[at + 1]) != std::string_view::npos || line[at + 1] == ',' ||
         line[at + 1] == '=' || line[at + 1] == ' '))
      ++at;
    text += line[at++];
  }
  return text;
}

// What stands after an equals sign, up to a comma or a blank.
struct FieldValue {
  std::optional<double> number;  // none of a quoted text, and of what is no value
  bool is_wrong = false;         // no value at all
  bool is_open = false;          // a text without its end
};

FieldValue field_value(std::string_view line, std::size_t& at) {
  if (at < line.size() && line[at] == '"') {
    for (++at; at < line.size() && line[at] != '"'; ++at)
      if (line[at] == '\\') ++at;
    if (at >= line.size()) return {.number = {}, .is_wrong = true, .is_open = true};
    ++at;
    return {};
  }
  const std::size_t end = std::min(line.find_first_of(", ", at), line.size());
  std::string_view text = line.substr(at, end - at);
  at = end;
  for (const std::string_view word : {"t", "T", "true", "True", "TRUE"})
    if (text == word) return {.number = 1.0};
  for (const std::string_view word : {"f", "F", "false", "False", "FALSE"})
    if (text == word) return {.number = 0.0};
  if (text.ends_with('i') || text.ends_with('u')) text.remove_suffix(1);
  const auto number = finite_number(text);
  return {.number = number, .is_wrong = !number};
}

double microseconds_in(std::string_view precision) {
  if (precision.empty() || precision == "ns" || precision == "n") return 1e-3;
  if (precision == "us" || precision == "u") return 1.0;
  if (precision == "ms") return 1e3;
  if (precision == "s") return 1e6;
  return 0;
}

// One line after the other, each into rows or into what is wrong with it.
class LineProtocolBody {
 public:
  LineProtocolBody(const Intake& intake, double unit, double now, Collected& to)
      : intake_(intake), unit_(unit), now_(now), to_(to) {}

  void read_line(std::string_view line, std::size_t number) {
    line_ = line;
    number_ = number;
    at_ = 0;
    observed_.clear();
    const std::string stream = read_stream();
    if (stream.empty() || !read_fields()) return;
    if (const std::optional<double> time = read_time())
      for (const Observation& o : observed_)
        to_.row(number_, stream, {*time, true}, o.feature, o.value);
  }
  std::size_t left_out() const { return left_out_; }
  // The first field that was left out.
  const std::string& first_left_out() const { return first_left_out_; }

 private:
  // Empty where the line has none, which is reported.
  std::string read_stream() {
    measurement_ = escaped_until(line_, at_, ", ");
    constexpr std::array<std::string_view, 3> kTags{"stream", "id", "host"};
    std::array<std::string, kTags.size()> tags;
    bool is_broken = measurement_.empty();
    while (!is_broken && at_ < line_.size() && line_[at_] == ',') {
      const std::string key = escaped_until(line_, ++at_, "=, ");
      is_broken = at_ >= line_.size() || line_[at_] != '=' || key.empty();
      if (is_broken) break;
      const std::string value = escaped_until(line_, ++at_, ", ");
      for (std::size_t k = 0; k < kTags.size(); ++k)
        if (key == kTags[k]) tags[k] = value;
    }
    if (is_broken || at_ >= line_.size()) {
      to_.problem(number_, "", "is no line protocol; write measurement,tag=a field=1 time");
      return {};
    }
    std::string stream = measurement_;
    for (std::size_t k = tags.size(); k-- > 0;)
      if (!tags[k].empty()) stream = tags[k];
    const std::string why = name_problem(stream);
    if (why.empty()) return stream;
    to_.problem(number_, "stream", why);
    return {};
  }

  // Whether the time can be read after them. A field that cannot be taken spoils no other.
  bool read_fields() {
    do {
      ++at_;  // past the blank or the comma
      const std::string field = escaped_until(line_, at_, "=, ");
      if (at_ >= line_.size() || line_[at_] != '=' || field.empty()) {
        to_.problem(number_, field, "a field without a value");
        return false;
      }
      const FieldValue value = field_value(line_, ++at_);
      if (value.is_wrong)
        to_.problem(number_, field, "is neither a number, a truth value nor a quoted text");
      if (value.is_open) return false;
      if (value.is_wrong) continue;
      const std::int32_t j = feature_of(field);
      if (j >= 0 && value.number) {
        observed_.push_back({j, *value.number});
      } else if (left_out_++ == 0) {
        first_left_out_ = field;
      }
    } while (at_ < line_.size() && line_[at_] == ',');
    return true;
  }

  std::int32_t feature_of(const std::string& field) const {
    std::int32_t j = intake_.feature(field);
    if (j < 0) j = intake_.feature(fmt::format("{}_{}", measurement_, field));
    if (j < 0) j = intake_.feature(fmt::format("{}.{}", measurement_, field));
    if (j < 0 && field == "value") j = intake_.feature(measurement_);
    return j;
  }

  std::optional<double> read_time() {
    const std::size_t stamp = std::min(line_.find_first_not_of(' ', at_), line_.size());
    if (stamp == line_.size()) return now_;
    std::int64_t whole = 0;
    const auto [end, error] =
        std::from_chars(line_.data() + stamp, line_.data() + line_.size(), whole);
    if (error != std::errc{} ||
        line_.find_first_not_of(' ', static_cast<std::size_t>(end - line_.data())) !=
            std::string_view::npos) {
      to_.problem(number_, "time", "is no whole number");
      return {};
    }
    // Nanoseconds of this century do not fit into a double; microseconds do, and are what is kept.
    const std::int64_t microseconds = unit_ < 1 ? whole / 1000 : whole;
    return static_cast<double>(microseconds) * std::max(unit_, 1.0);
  }

  const Intake& intake_;
  const double unit_, now_;
  Collected& to_;
  std::string_view line_;
  std::size_t number_ = 0, at_ = 0;
  std::string measurement_;
  std::vector<Observation> observed_;
  std::size_t left_out_ = 0;
  std::string first_left_out_;
};

}  // namespace

std::vector<Row> Intake::line_protocol(std::string_view body, std::string_view precision,
                                       double now, std::size_t& ignored, Refused* refused) const {
  Collected collected(refused);
  const double unit = microseconds_in(precision);
  if (unit == 0) {
    collected.problem_of_body(0, "precision", "give ns, us, ms or s");
    return collected.take();
  }
  if (!clock_.takes_dates()) {
    collected.problem_of_body(
        0, "time",
        "line protocol has dates, and it is not known what the model's numbers count; "
        "start the server with --time-unit s, min, h or d");
    return collected.take();
  }
  LineProtocolBody lines(*this, unit, now, collected);
  for (std::size_t number = 1; !body.empty(); ++number) {
    const std::size_t length = std::min(body.find('\n'), body.size());
    std::string_view line = body.substr(0, length);
    body.remove_prefix(std::min(length + 1, body.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.find_first_not_of(' ') == std::string_view::npos || line.front() == '#') continue;
    lines.read_line(line, number);
  }
  ignored += lines.left_out();
  std::vector<Row> rows = collected.take();
  // A sender that names nothing right would never know.
  if (rows.empty() && lines.left_out() > 0 && (!refused || refused->count == 0)) {
    Collected none(refused);
    none.problem(0, lines.first_left_out(), kNoSuchFeature);
    return none.take();
  }
  return rows;
}

}  // namespace edict::server

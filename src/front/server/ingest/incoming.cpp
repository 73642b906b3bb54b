#include "front/server/ingest/incoming.h"

#include <fmt/core.h>

#include <array>
#include <charconv>
#include <cmath>

#include "base/json/json.h"
#include "base/json/json_text.h"
#include "base/text/utf8.h"
#include "data/read/csv/csv_names.h"
#include "data/read/csv/csv_text.h"
#include "data/read/read_options.h"

namespace edict::server {
namespace {

using nlohmann::json;

constexpr std::size_t kMostProblems = 100;

std::string summary(const std::vector<Problem>& problems, std::size_t count) {
  const Problem& first = problems.front();
  std::string text = first.detail;
  if (!first.field.empty()) text = fmt::format("{}: {}", first.field, text);
  if (first.line > 0) text = fmt::format("line {}: {}", first.line, text);
  if (count > 1) text += fmt::format(" (and {} more)", count - 1);
  return text;
}

// Collects rows and what is wrong, until the end of a body is seen.
class Collected {
 public:
  explicit Collected(Refused* refused) : refused_(refused) {}

  // Of the body as a whole, of which nothing can be taken then.
  void problem_of_body(std::size_t line, std::string field, std::string detail) {
    if (problems_.size() < kMostProblems)
      problems_.push_back({line, std::move(field), std::move(detail)});
  }
  void problem(std::size_t line, std::string field, std::string detail) {
    if (refused_)
      refused_->add({line, std::move(field), std::move(detail)});
    else
      problem_of_body(line, std::move(field), std::move(detail));
  }
  void row(std::size_t line, std::string_view stream, TimeStamp time, std::int32_t feature,
           double value) {
    if (problems_.empty()) rows_.push_back({std::string(stream), time, feature, value, line});
  }
  std::vector<Row> take() {
    if (!problems_.empty()) throw BadInput(std::move(problems_));
    return std::move(rows_);
  }

 private:
  Refused* refused_;
  std::vector<Row> rows_;
  std::vector<Problem> problems_;
};

}  // namespace

BadInput::BadInput(std::vector<Problem> found)
    : Error(summary(found, found.size())), problems_(std::move(found)) {}

void Refused::add(Problem problem) {
  ++count;
  if (problems.size() < kMostProblems) problems.push_back(std::move(problem));
}

void Refused::add(Refused others) {
  const std::size_t all = count + others.count;
  kept += others.kept;
  for (Problem& problem : others.problems) add(std::move(problem));
  count = all;
}

std::string Refused::text() const { return summary(problems, count); }

std::string name_problem(std::string_view name) {
  if (name.empty()) return "is empty; give the stream a name";
  if (name.size() > kLongestName)
    return fmt::format("is longer than {} bytes; shorten it", kLongestName);
  if (!valid_utf8(name)) return "is not UTF-8";
  for (const char c : name)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return "holds a control character";
  return {};
}

Intake::Intake(const Model& model, const StreamClock& clock)
    : clock_(clock), id_column_(model.reading.id), time_column_(model.reading.time) {
  for (std::size_t j = 0; j < model.features.size(); ++j)
    features_.emplace(model.features[j], static_cast<std::int32_t>(j));
}

std::int32_t Intake::feature(std::string_view name) const {
  const auto found = features_.find(name);
  return found == features_.end() ? -1 : found->second;
}

namespace {

constexpr const char* kTimeNeeded =
    "is missing or is no time; give a number on the stream's clock, or a date where the model "
    "counts from dates";

// One {"stream", "time", "values"}. `known`: the stream's name where the object need not tell it.
void read_object(const json& object, std::size_t line, const std::string* known,
                 const Intake& intake, const StreamClock& clock, Collected& to) {
  if (!object.is_object())
    return to.problem(line, "",
                      "is no JSON object; write {\"stream\":…,\"time\":…,\"values\":{…}}");
  std::string_view stream;
  if (known) {
    stream = *known;
  } else {
    const auto name = object.find("stream");
    if (name == object.end() || !name->is_string())
      return to.problem(line, "stream", "is missing or is no text");
    stream = name->get_ref<const std::string&>();
    if (const std::string why = name_problem(stream); !why.empty())
      return to.problem(line, "stream", why);
  }
  const auto when = object.find("time");
  TimeStamp time;
  if (when != object.end() && when->is_number()) {
    time = clock.from_number(when->get<double>());
  } else if (when != object.end() && when->is_string()) {
    const auto read = clock.from_text(when->get_ref<const std::string&>());
    if (!read) return to.problem(line, "time", kTimeNeeded);
    time = *read;
  } else {
    return to.problem(line, "time", kTimeNeeded);
  }
  if (!std::isfinite(time.value)) return to.problem(line, "time", "is not finite");
  const auto values = object.find("values");
  if (values == object.end() || !values->is_object())
    return to.problem(line, "values", "is missing or is no object of names and numbers");
  for (const auto& [name, value] : values->items()) {
    const std::int32_t feature = intake.feature(name);
    if (feature < 0) {
      to.problem(line, "values." + name, "the model has no such feature; GET /v1/model lists them");
      continue;
    }
    if (value.is_null()) continue;
    if (!value.is_number() || !std::isfinite(value.get<double>())) {
      to.problem(line, "values." + name, "is no finite number; leave it out, or send null");
      continue;
    }
    to.row(line, stream, time, feature, value.get<double>());
  }
}

// Whether some line is an object of its own.
bool has_object_lines(std::string_view body) {
  while (!body.empty()) {
    const std::size_t end = std::min(body.find('\n'), body.size());
    if (parse_json(body.substr(0, end)).is_object()) return true;
    body.remove_prefix(std::min(end + 1, body.size()));
  }
  return false;
}

std::vector<Row> read_json(std::string_view body, const std::string* known, const Intake& intake,
                           const StreamClock& clock, Refused* refused) {
  Collected collected(refused);
  const std::size_t begin = body.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return {};
  const bool one = body[begin] == '[' || body.find('\n', begin) == std::string_view::npos;
  // Of several lines the first is an object of its own where they are NDJSON, or it is broken.
  if (one || parse_json(body.substr(begin, body.find('\n', begin) - begin)).is_discarded()) {
    const json whole = parse_json(body.substr(begin));
    if (whole.is_array()) {
      for (std::size_t i = 0; i < whole.size(); ++i)
        read_object(whole[i], i + 1, known, intake, clock, collected);
      return collected.take();
    }
    if (!whole.is_discarded()) {
      read_object(whole, 1, known, intake, clock, collected);
      return collected.take();
    }
    if (one || !has_object_lines(body)) {
      collected.problem_of_body(1, "",
                                "is not JSON; send an object a line, or an array of objects");
      return collected.take();
    }
  }
  std::size_t line = 0;
  while (!body.empty()) {
    const std::size_t end = std::min(body.find('\n'), body.size());
    const std::string_view text = body.substr(0, end);
    body.remove_prefix(std::min(end + 1, body.size()));
    ++line;
    if (text.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    const json object = parse_json(text);
    if (object.is_discarded())
      collected.problem(line, "", "is not JSON");
    else
      read_object(object, line, known, intake, clock, collected);
  }
  return collected.take();
}

}  // namespace

std::vector<Row> Intake::json(std::string_view body, Refused* refused) const {
  return read_json(body, nullptr, *this, clock_, refused);
}

std::vector<Row> Intake::json_of_stream(std::string_view body, const std::string& stream,
                                        Refused* refused) const {
  return read_json(body, &stream, *this, clock_, refused);
}

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
  std::string scratch;
  const char* p = text.begin();
  const auto row_of_cells = [&](std::vector<std::string>& cells) {
    cells.clear();
    while (true) {
      cells.emplace_back(text.read_cell(p, scratch).text);
      if (*p != text.separator()) break;
      ++p;
    }
    p = CsvText::next_line(p);
  };
  std::vector<std::string> header, cells;
  try {
    row_of_cells(header);
    constexpr int kIgnored = -1, kStream = -2, kTime = -3, kFeature = -4, kValue = -5;
    std::vector<int> meaning(header.size(), kIgnored);
    bool has_stream = false, has_time = false;
    const auto column = [&](std::string_view name) {
      return std::find(header.begin(), header.end(), name) != header.end();
    };
    const bool is_long = column("feature") && column("value") && feature("feature") < 0;
    for (std::size_t c = 0; c < header.size(); ++c) {
      const std::string& name = header[c];
      if (!has_stream && (name == "stream" || name == "id" || (name == id_column_))) {
        meaning[c] = kStream, has_stream = true;
      } else if (!has_time && (name == "time" || name == time_column_)) {
        meaning[c] = kTime, has_time = true;
      } else if (is_long && name == "feature") {
        meaning[c] = kFeature;
      } else if (is_long && name == "value") {
        meaning[c] = kValue;
      } else if (!is_long && feature(name) >= 0) {
        meaning[c] = feature(name);
      } else if (name != "label" && name != "group" && !name.starts_with("static:")) {
        collected.problem_of_body(1, name,
                                  "the model has no such feature; GET /v1/model lists them");
      }
    }
    if (!has_stream) collected.problem_of_body(1, "stream", "a column 'stream' or 'id' is missing");
    if (!has_time) collected.problem_of_body(1, "time", "a column 'time' is missing");
    if (!has_stream || !has_time) return collected.take();
    for (std::size_t line = 2; p < text.end(); ++line) {
      row_of_cells(cells);
      if (cells.size() == 1 && cells[0].empty()) continue;
      if (cells.size() != header.size()) {
        collected.problem(line, "",
                          fmt::format("has {} cells, the header {}", cells.size(), header.size()));
        continue;
      }
      std::string_view stream, named, long_value;
      std::optional<TimeStamp> time;
      for (std::size_t c = 0; c < cells.size(); ++c) {
        if (meaning[c] == kStream) stream = cells[c];
        if (meaning[c] == kTime) time = clock_.from_text(cells[c]);
        if (meaning[c] == kFeature) named = cells[c];
        if (meaning[c] == kValue) long_value = cells[c];
      }
      if (const std::string why = name_problem(stream); !why.empty()) {
        collected.problem(line, "stream", why);
        continue;
      }
      if (!time) {
        collected.problem(line, "time", kTimeNeeded);
        continue;
      }
      const auto value_of = [&](std::string_view cell, const std::string& name, std::int32_t j) {
        if (spells_unknown(cell)) return;
        if (const auto value = finite_number(cell))
          collected.row(line, stream, *time, j, *value);
        else
          collected.problem(line, name, fmt::format("'{}' is no finite number", cell));
      };
      if (is_long) {
        const std::int32_t j = feature(named);
        if (j < 0)
          collected.problem(line, std::string(named), "the model has no such feature");
        else
          value_of(long_value, std::string(named), j);
        continue;
      }
      for (std::size_t c = 0; c < cells.size(); ++c)
        if (meaning[c] >= 0) value_of(cells[c], header[c], meaning[c]);
    }
  } catch (const CsvQuoteError& e) {
    collected.problem_of_body(text.line_of(e.at), "", std::string(e.reason));
  }
  return collected.take();
}

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

// A field's value, up to a comma or a blank. Nothing where it is no number; `wrong` where it is
// nothing at all.
std::optional<double> field_value(std::string_view line, std::size_t& at, bool& wrong) {
  wrong = false;
  if (at < line.size() && line[at] == '"') {
    for (++at; at < line.size() && line[at] != '"'; ++at)
      if (line[at] == '\\') ++at;
    wrong = at >= line.size();
    if (!wrong) ++at;
    return {};
  }
  const std::size_t end = std::min(line.find_first_of(", ", at), line.size());
  std::string_view text = line.substr(at, end - at);
  at = end;
  for (const std::string_view word : {"t", "T", "true", "True", "TRUE"})
    if (text == word) return 1.0;
  for (const std::string_view word : {"f", "F", "false", "False", "FALSE"})
    if (text == word) return 0.0;
  if (text.ends_with('i') || text.ends_with('u')) text.remove_suffix(1);
  const auto number = finite_number(text);
  wrong = !number;
  return number;
}

double microseconds_in(std::string_view precision) {
  if (precision.empty() || precision == "ns" || precision == "n") return 1e-3;
  if (precision == "us" || precision == "u") return 1.0;
  if (precision == "ms") return 1e3;
  if (precision == "s") return 1e6;
  return 0;
}

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
        "line protocol tells dates, and nobody said what the model's numbers count; "
        "start the server with --time-unit s, min, h or d");
    return collected.take();
  }
  std::size_t number = 0;
  while (!body.empty()) {
    const std::size_t length = std::min(body.find('\n'), body.size());
    std::string_view line = body.substr(0, length);
    body.remove_prefix(std::min(length + 1, body.size()));
    ++number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.find_first_not_of(' ') == std::string_view::npos || line.front() == '#') continue;
    std::size_t at = 0;
    const std::string measurement = escaped_until(line, at, ", ");
    std::array<std::string, 3> tags;  // stream, id, host
    bool broken = measurement.empty();
    while (!broken && at < line.size() && line[at] == ',') {
      const std::string key = escaped_until(line, ++at, "=, ");
      broken = at >= line.size() || line[at] != '=' || key.empty();
      if (broken) break;
      const std::string value = escaped_until(line, ++at, ", ");
      constexpr std::array<std::string_view, 3> kTags{"stream", "id", "host"};
      for (std::size_t k = 0; k < kTags.size(); ++k)
        if (key == kTags[k]) tags[k] = value;
    }
    if (broken || at >= line.size()) {
      collected.problem(number, "", "is no line protocol; write measurement,tag=a field=1 time");
      continue;
    }
    std::string stream = measurement;
    for (std::size_t k = tags.size(); k-- > 0;)
      if (!tags[k].empty()) stream = tags[k];
    if (const std::string why = name_problem(stream); !why.empty()) {
      collected.problem(number, "stream", why);
      continue;
    }
    std::vector<Observation> observed;
    bool more = true;
    while (more) {
      ++at;  // past the blank or the comma
      const std::string field = escaped_until(line, at, "=, ");
      if (at >= line.size() || line[at] != '=' || field.empty()) {
        collected.problem(number, field, "a field without a value");
        broken = true;
        break;
      }
      bool wrong = false;
      const auto value = field_value(line, ++at, wrong);
      if (wrong) {
        collected.problem(number, field, "is neither a number, a truth value nor a quoted text");
        broken = true;
        break;
      }
      std::int32_t j = feature(field);
      if (j < 0) j = feature(fmt::format("{}_{}", measurement, field));
      if (j < 0) j = feature(fmt::format("{}.{}", measurement, field));
      if (j < 0 && field == "value") j = feature(measurement);
      if (j >= 0 && value)
        observed.push_back({j, *value});
      else
        ++ignored;
      more = at < line.size() && line[at] == ',';
    }
    if (broken) continue;
    double time = now;
    const std::size_t stamp = std::min(line.find_first_not_of(' ', at), line.size());
    if (stamp < line.size()) {
      std::int64_t whole = 0;
      const auto [end, error] =
          std::from_chars(line.data() + stamp, line.data() + line.size(), whole);
      if (error != std::errc{} ||
          line.find_first_not_of(' ', static_cast<std::size_t>(end - line.data())) !=
              std::string_view::npos) {
        collected.problem(number, "time", "is no whole number");
        continue;
      }
      // Nanoseconds of this century do not fit into a double; microseconds do, and are what is
      // kept.
      const std::int64_t microseconds = unit < 1 ? whole / 1000 : whole;
      time = static_cast<double>(microseconds) * std::max(unit, 1.0);
    }
    for (const Observation& o : observed)
      collected.row(number, stream, {time, true}, o.feature, o.value);
  }
  return collected.take();
}

}  // namespace edict::server

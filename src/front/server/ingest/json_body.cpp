// Bodies of JSON: an object a line, an array of them, or one.
#include <cmath>

#include "base/json/json.h"
#include "base/json/json_text.h"
#include "front/server/ingest/collected.h"

namespace edict::server {
namespace {

using nlohmann::json;

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
      to.problem(line, "values." + name, kNoSuchFeature);
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

}  // namespace edict::server

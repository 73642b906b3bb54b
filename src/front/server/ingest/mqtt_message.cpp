#include "front/server/ingest/mqtt_message.h"

#include <algorithm>

#include "base/json/json.h"
#include "base/json/json_text.h"

namespace edict::server {
namespace {

std::vector<std::string_view> levels_of(std::string_view topic) {
  std::vector<std::string_view> levels;
  for (;;) {
    const std::size_t slash = topic.find('/');
    levels.push_back(topic.substr(0, slash));
    if (slash == std::string_view::npos) return levels;
    topic.remove_prefix(slash + 1);
  }
}

[[noreturn]] void refuse(std::string field, std::string detail) {
  throw BadInput({{0, std::move(field), std::move(detail)}});
}

TimeStamp time_of(const nlohmann::json& said, double now, const Live& live) {
  const auto found = said.find("time");
  if (found == said.end()) {
    if (!live.clock().takes_dates())
      refuse("time", "is missing, and this model's times are plain numbers of no known unit");
    return {now, true};
  }
  if (found->is_number()) return live.clock().from_number(found->get<double>());
  if (found->is_string())
    if (const auto time = live.clock().from_text(found->get_ref<const std::string&>()))
      return *time;
  refuse("time", "is neither a number nor a date");
}

double number_of(const nlohmann::json& value, const std::string& field) {
  if (value.is_boolean()) return value.get<bool>() ? 1.0 : 0.0;
  if (!value.is_number()) refuse(field, "is not a number");
  return value.get<double>();
}

// One value, with or without a time of its own.
std::vector<Row> one_value(const TopicPattern::Match& match, std::string_view payload, double now,
                           const Live& live) {
  const std::int32_t feature = live.intake().feature(match.feature);
  if (feature < 0) return {};
  nlohmann::json said = parse_json(payload);
  if (said.is_number() || said.is_boolean()) said = {{"value", said}};
  if (!said.is_object() || !said.contains("value"))
    refuse("", R"(is neither a number nor {"value": …, "time": …})");
  if (said["value"].is_null()) return {};
  return {{std::string(match.stream), time_of(said, now, live), feature,
           number_of(said["value"], "value")}};
}

// {"HR": 80, "battery": 97}: what is no feature is somebody else's.
std::vector<Row> flat_values(const nlohmann::json& said, std::string_view stream, double now,
                             const Live& live, Refused* refused) {
  std::vector<Row> rows;
  const TimeStamp time = time_of(said, now, live);
  for (const auto& [name, value] : said.items()) {
    const std::int32_t feature = live.intake().feature(name);
    if (feature < 0 || value.is_null()) continue;
    if (refused && !value.is_number() && !value.is_boolean())
      refused->add({0, name, "is not a number"});
    else
      rows.push_back({std::string(stream), time, feature, number_of(value, name)});
  }
  return rows;
}

}  // namespace

TopicPattern::TopicPattern(std::string_view text) {
  const auto wrong = [&](std::string_view why) {
    throw Error(fmt::format("{}: {}, as in ward/{{stream}}/{{feature}}", text, why));
  };
  if (text.empty()) wrong("give a pattern of topics");
  const auto parts = levels_of(text);
  for (std::size_t k = 0; k < parts.size(); ++k) {
    const std::string_view part = parts[k];
    std::string level(part);
    if (part == "{stream}" || part == "{feature}") {
      auto& place = part == "{stream}" ? stream_level_ : feature_level_;
      if (place) wrong("a name stands in it twice");
      place = k;
      level = "+";
    } else if (part == "#") {
      if (k + 1 < parts.size()) wrong("# can only be the last level");
      open_end_ = true;
    } else if (part != "+" && part.find_first_of("{}+#") != std::string_view::npos) {
      wrong("a level is a name, {stream}, {feature}, + or #");
    }
    filter_ += (k > 0 ? "/" : "") + level;
    if (!open_end_) levels_.push_back(std::move(level));
  }
  if (feature_level_ && !stream_level_) wrong("a feature alone does not tell whose it is");
}

std::optional<TopicPattern::Match> TopicPattern::match(std::string_view topic) const {
  const auto levels = levels_of(topic);
  if (levels.size() < levels_.size() || (levels.size() > levels_.size() && !open_end_))
    return std::nullopt;
  for (std::size_t k = 0; k < levels_.size(); ++k)
    if (levels_[k] != "+" && levels_[k] != levels[k]) return std::nullopt;
  Match match;
  if (stream_level_) match.stream = levels[*stream_level_];
  if (feature_level_) match.feature = levels[*feature_level_];
  return match;
}

std::vector<Row> rows_of_message(const TopicPattern::Match& match, std::string_view payload,
                                 double now, const Live& live, Refused* refused) {
  if (match.stream.empty()) {
    const std::size_t first = payload.find_first_not_of(" \t\r\n");
    if (first != std::string_view::npos && (payload[first] == '{' || payload[first] == '['))
      return live.intake().json(payload, refused);
    std::size_t ignored = 0;
    return live.intake().line_protocol(payload, "ns", now, ignored, refused);
  }
  if (const std::string problem = name_problem(match.stream); !problem.empty())
    refuse("stream", problem);
  if (!match.feature.empty()) return one_value(match, payload, now, live);
  const nlohmann::json said = parse_json(payload);
  if (said.is_object() && !said.contains("values"))
    return flat_values(said, match.stream, now, live, refused);
  return live.intake().json_of_stream(payload, std::string(match.stream), refused);
}

}  // namespace edict::server

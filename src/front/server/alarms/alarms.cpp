#include "front/server/alarms/alarms.h"

#include <fmt/core.h>

#include <cmath>
#include <set>
#include <sstream>
#include <tuple>

#include "base/json/json.h"
#include "base/json/json_text.h"
#include "settings/toml.h"

namespace edict::server {
namespace {

using nlohmann::json;

bool matches(std::string_view pattern, std::string_view text) {
  // The last star, and where the text stood when it was met: on a mismatch it takes one more.
  std::size_t p = 0, t = 0, star = std::string_view::npos, met = 0;
  while (t < text.size()) {
    if (p < pattern.size() && (pattern[p] == '?' || (pattern[p] != '*' && pattern[p] == text[t]))) {
      ++p, ++t;
    } else if (p < pattern.size() && pattern[p] == '*') {
      star = p++, met = t;
    } else if (star != std::string_view::npos) {
      p = star + 1, t = ++met;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

// One rule, with every problem told under its place in the list.
class RuleReader {
 public:
  RuleReader(const json& from, std::size_t place, const Model& model,
             std::vector<Problem>& problems)
      : from_(from), place_(place), model_(model), problems_(problems) {}

  Rule read() {
    Rule rule;
    if (!from_.is_object()) {
      problem("", "is no table of names and values");
      return rule;
    }
    rule.name = text("name", "");
    if (rule.name.empty() || rule.name.size() > kLongestName)
      problem("name", "is missing or too long; an alarm is known by it");
    if (rule.name.starts_with('('))
      problem("name", "begins with a parenthesis, as the server's own alarms do; choose another");
    const std::string kind = text("kind", "");
    if (kind == "outside")
      rule.kind = Rule::Kind::outside;
    else if (kind == "crosses")
      rule.kind = Rule::Kind::crosses;
    else if (kind == "uncertainty" || kind == "doubt")  // its name in version 1
      rule.kind = Rule::Kind::uncertainty;
    else if (kind == "silence")
      rule.kind = Rule::Kind::silence;
    else
      problem("kind", "give outside, crosses, uncertainty or silence");
    const std::string priority = text("priority", "medium");
    if (priority == "low")
      rule.priority = Rule::Priority::low;
    else if (priority == "high")
      rule.priority = Rule::Priority::high;
    else if (priority != "medium")
      problem("priority", "give low, medium or high");
    if (const std::string feature = text("feature", ""); !feature.empty()) {
      const auto found = std::find(model_.features.begin(), model_.features.end(), feature);
      if (found == model_.features.end())
        problem("feature", fmt::format("the model has no feature '{}'", feature));
      else
        rule.feature = static_cast<std::int32_t>(found - model_.features.begin());
    }
    rule.streams = text("streams", "*");
    rule.pending = number("pending", 0, 0, 1e9);
    rule.recovering = number("recovering", 0, 0, 1e9);
    switch (rule.kind) {
      case Rule::Kind::outside:
        rule.level = number("level", 0.99, 1e-6, 1 - 1e-12);
        break;
      case Rule::Kind::crosses:
        if (from_.contains("above")) rule.above = number("above", 0, -1e300, 1e300);
        if (from_.contains("below")) rule.below = number("below", 0, -1e300, 1e300);
        if (kind == "crosses" && rule.above.has_value() == rule.below.has_value())
          problem("above", "give a limit as above or below, one of them");
        if (kind == "crosses" && rule.feature < 0)
          problem("feature", "is missing; say whose limit it is");
        rule.within = number("within", 0, 0, 1e12);
        rule.probability = number("probability", 0.5, 1e-9, 1);
        break;
      case Rule::Kind::uncertainty:
        rule.within = number("within", 0, 0, 1e12);
        rule.ratio = number("ratio", 0.9, 0, 1);
        break;
      case Rule::Kind::silence:
        rule.silent = number("for", 60, 1e-3, 1e9);
        break;
      case Rule::Kind::fault:
        break;
    }
    for (const auto& [key, _] : from_.items())
      if (!known_.contains(key))
        problem(key, "is not known here; see docs/how-to/serve.md for the keys");
    return rule;
  }

 private:
  void problem(const std::string& field, std::string detail) {
    problems_.push_back({place_, field, std::move(detail)});
  }
  std::string text(const char* key, const char* standard) {
    known_.insert(key);
    const auto found = from_.find(key);
    if (found == from_.end() || found->is_null()) return standard;
    if (found->is_string()) return found->get<std::string>();
    problem(key, "is no text");
    return standard;
  }
  double number(const char* key, double standard, double low, double high) {
    known_.insert(key);
    const auto found = from_.find(key);
    if (found == from_.end() || found->is_null()) return standard;
    if (found->is_number() && found->get<double>() >= low && found->get<double>() <= high)
      return found->get<double>();
    problem(key, fmt::format("is no number from {} to {}", low, high));
    return standard;
  }

  const json& from_;
  std::size_t place_;
  const Model& model_;
  std::vector<Problem>& problems_;
  std::set<std::string> known_;
};

}  // namespace

bool Rule::applies_to(std::string_view stream) const { return matches(streams, stream); }

std::vector<Rule> read_rules(std::string_view source, const Model& model) {
  json whole = parse_json(source);
  if (whole.is_discarded()) {
    try {
      std::ostringstream text;
      text << toml::json_formatter(toml::parse(source));
      whole = parse_json(text.str());
      if (whole.contains("rule")) whole = {{"rules", whole["rule"]}};
    } catch (const toml::parse_error& e) {
      throw BadInput({{e.source().begin.line, "", std::string(e.description())}});
    }
  }
  const json list = whole.is_array()                               ? whole
                    : whole.is_object() && whole.contains("rules") ? whole["rules"]
                                                                   : json();
  // What holds no list would remove every rule, which has to be said.
  if (!list.is_array())
    throw BadInput(
        {{0, "rules",
          "is missing or is no list of rules; to have none, send {\"rules\":[]} or write "
          "rules = []"}});
  std::vector<Rule> rules;
  std::vector<Problem> problems;
  std::set<std::string> names;
  for (std::size_t i = 0; i < list.size(); ++i) {
    rules.push_back(RuleReader(list[i], i + 1, model, problems).read());
    if (!names.insert(rules.back().name).second)
      problems.push_back({i + 1, "name", "is the name of an earlier rule too"});
  }
  if (!problems.empty()) throw BadInput(std::move(problems));
  return rules;
}

json to_json(const std::vector<Rule>& rules, const Model& model) {
  json list = json::array();
  for (const Rule& rule : rules) {
    json one{{"name", rule.name},
             {"kind", name_of(rule.kind)},
             {"priority", name_of(rule.priority)},
             {"pending", rule.pending},
             {"recovering", rule.recovering},
             {"streams", rule.streams}};
    if (rule.feature >= 0) one["feature"] = model.features[static_cast<std::size_t>(rule.feature)];
    switch (rule.kind) {
      case Rule::Kind::outside:
        one["level"] = rule.level;
        break;
      case Rule::Kind::crosses:
        if (rule.above) one["above"] = *rule.above;
        if (rule.below) one["below"] = *rule.below;
        one["within"] = rule.within;
        one["probability"] = rule.probability;
        break;
      case Rule::Kind::uncertainty:
        one["within"] = rule.within;
        one["ratio"] = rule.ratio;
        break;
      case Rule::Kind::silence:
        one["for"] = rule.silent;
        break;
      case Rule::Kind::fault:
        break;
    }
    list.push_back(std::move(one));
  }
  return {{"rules", std::move(list)}};
}

Alarm::State next_state(const Rule& rule, Alarm::State state, double changed, bool holds,
                        double now) {
  using State = Alarm::State;
  const double waited = now - changed;
  switch (state) {
    case State::normal:
      if (!holds) return State::normal;
      return rule.pending > 0 ? State::pending : State::firing;
    case State::pending:
      if (!holds) return State::normal;
      return waited >= rule.pending ? State::firing : State::pending;
    case State::firing:
      if (holds) return State::firing;
      return rule.recovering > 0 ? State::recovering : State::normal;
    case State::recovering:
      if (holds) return State::firing;
      return waited >= rule.recovering ? State::normal : State::recovering;
  }
  return State::normal;
}

std::string_view name_of(Alarm::State state) {
  switch (state) {
    case Alarm::State::normal:
      return "normal";
    case Alarm::State::pending:
      return "pending";
    case Alarm::State::firing:
      return "firing";
    case Alarm::State::recovering:
      return "recovering";
  }
  return "";
}

std::string_view name_of(Rule::Kind kind) {
  switch (kind) {
    case Rule::Kind::outside:
      return "outside";
    case Rule::Kind::crosses:
      return "crosses";
    case Rule::Kind::uncertainty:
      return "uncertainty";
    case Rule::Kind::silence:
      return "silence";
    case Rule::Kind::fault:
      return "fault";
  }
  return "";
}

std::string_view name_of(Rule::Priority priority) {
  return priority == Rule::Priority::low      ? "low"
         : priority == Rule::Priority::medium ? "medium"
                                              : "high";
}

bool is_more_urgent(const AlarmOfStream& a, const AlarmOfStream& b) {
  const auto rank = [](const Alarm& alarm) {
    return std::make_tuple(alarm.acknowledged.has_value(), -static_cast<int>(alarm.priority),
                           -alarm.since);
  };
  return rank(a.alarm) < rank(b.alarm);
}

json to_json(const Alarm& alarm, const std::string& stream) {
  json body{{"id", alarm.id},
            {"stream", stream},
            {"rule", alarm.rule},
            {"kind", alarm.kind},
            {"feature", alarm.feature.empty() ? json() : json(alarm.feature)},
            {"priority", name_of(alarm.priority)},
            {"state", name_of(alarm.state)},
            {"since", alarm.since},
            {"changed", alarm.changed},
            {"text", alarm.text},
            {"probability", alarm.probability},
            {"value", alarm.value ? json(*alarm.value) : json()},
            {"acknowledged", json()}};
  if (alarm.acknowledged)
    body["acknowledged"] = {{"by", alarm.acknowledged->by},
                            {"reason", alarm.acknowledged->reason},
                            {"at", alarm.acknowledged->at}};
  return body;
}

Alarm alarm_from_json(const json& body) {
  Alarm alarm;
  alarm.id = body.at("id").get<std::int64_t>();
  alarm.rule = body.at("rule").get<std::string>();
  alarm.kind = body.at("kind").get<std::string>();
  if (body.at("feature").is_string()) alarm.feature = body["feature"].get<std::string>();
  const auto priority = body.at("priority").get<std::string>();
  alarm.priority = priority == "high"  ? Rule::Priority::high
                   : priority == "low" ? Rule::Priority::low
                                       : Rule::Priority::medium;
  const auto state = body.at("state").get<std::string>();
  alarm.state = state == "pending"      ? Alarm::State::pending
                : state == "recovering" ? Alarm::State::recovering
                                        : Alarm::State::firing;
  alarm.since = body.at("since").get<double>();
  alarm.changed = body.at("changed").get<double>();
  alarm.text = body.at("text").get<std::string>();
  if (body.at("probability").is_number()) alarm.probability = body["probability"].get<double>();
  if (body.at("value").is_number()) alarm.value = body["value"].get<double>();
  if (const json& said = body.at("acknowledged"); said.is_object())
    alarm.acknowledged = {said.at("by").get<std::string>(), said.at("reason").get<std::string>(),
                          said.at("at").get<double>()};
  return alarm;
}

std::string duration_text(double duration, const StreamClock& clock) {
  const double seconds = duration * clock.seconds_in_unit();
  if (seconds <= 0) return fmt::format("{:.4g}", duration);
  if (seconds < 120) return fmt::format("{:.4g} s", seconds);
  if (seconds < 7200) return fmt::format("{:.4g} min", seconds / 60);
  if (seconds < 2 * 86400) return fmt::format("{:.4g} h", seconds / 3600);
  return fmt::format("{:.4g} d", seconds / 86400);
}

}  // namespace edict::server

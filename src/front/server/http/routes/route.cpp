#include "front/server/http/routes/route.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "ask/limit.h"
#include "data/read/csv/csv_names.h"

namespace edict::server {
namespace {

constexpr std::size_t kMostUnwanted = 1 << 16;  // bytes of a body that no handler looks at

// "a, b or c".
std::string listed(const std::vector<std::string_view>& words, std::string_view last) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i)
    text += fmt::format("{}{}", i == 0 ? "" : i + 1 == words.size() ? last : ", ", words[i]);
  return text;
}

bool is_time(const std::string& text, const Live& live) {
  const auto read = live.clock().from_text(text);
  return read && (!read->wall || live.clock().calendar());
}

std::string number_problem(const Parameter& parameter, const std::string& text) {
  const auto value = finite_number(text);
  if (value && *value >= parameter.low && *value <= parameter.high &&
      (parameter.kind == Parameter::Kind::number || std::floor(*value) == *value))
    return {};
  return fmt::format("'{}' is no {}number from {} to {}", text,
                     parameter.kind == Parameter::Kind::integer ? "whole " : "", parameter.low,
                     parameter.high);
}

bool is_limit(std::string_view text, const Live& live) {
  const auto limit = split_limit(text);
  return limit && live.intake().feature(limit->feature) >= 0;
}

// Of one element, where the parameter is a list.
std::string element_problem(const Parameter& parameter, const std::string& text, const Live& live) {
  switch (parameter.kind) {
    case Parameter::Kind::text:
    case Parameter::Kind::texts:
      return {};
    case Parameter::Kind::number:
    case Parameter::Kind::integer:
      return number_problem(parameter, text);
    case Parameter::Kind::numbers:
      return finite_number(text) ? "" : fmt::format("'{}' is no number", text);
    case Parameter::Kind::choice:
    case Parameter::Kind::choices:
      return std::ranges::count(parameter.choices, text) > 0
                 ? ""
                 : fmt::format("give {}", listed(parameter.choices, " or "));
    case Parameter::Kind::time:
    case Parameter::Kind::times:
      return is_time(text, live) ? "" : fmt::format("'{}' is no time of this model", text);
    case Parameter::Kind::features:
      return live.intake().feature(text) >= 0 ? "" : fmt::format("the model has no '{}'", text);
    case Parameter::Kind::limits:
      return is_limit(text, live) ? "" : "write FEATURE:LIMIT, as HR:120";
  }
  return {};
}

}  // namespace

std::string_view name_of(Need need) {
  return need == Need::nothing ? "nothing"
         : need == Need::read  ? "read"
         : need == Need::write ? "write"
                               : "admin";
}

bool Parameter::is_list() const {
  return kind == Kind::texts || kind == Kind::numbers || kind == Kind::choices ||
         kind == Kind::times || kind == Kind::features || kind == Kind::limits;
}

std::string value_problem(const Parameter& parameter, const std::string& text, const Live& live) {
  if (text.empty()) return {};  // as if it were not given
  if (!parameter.is_list()) return element_problem(parameter, text, live);
  const std::vector<std::string> elements = split_list(text);
  for (const std::string& element : elements)
    if (std::string why = element_problem(parameter, element, live); !why.empty()) return why;
  if (elements.size() > kMostMoments &&
      (parameter.kind == Parameter::Kind::numbers || parameter.kind == Parameter::Kind::times))
    return fmt::format("more than {} at once", kMostMoments);
  return {};
}

bool Route::matches(const Target& target, std::string& id) const {
  std::string_view rest = path;
  std::size_t at = 0;
  for (; rest.size() > 1; ++at) {
    rest.remove_prefix(1);  // the slash
    const std::string_view part = rest.substr(0, rest.find('/'));
    rest.remove_prefix(part.size());
    if (at >= target.path.size()) return false;
    if (part.starts_with('{'))
      id = target.path[at];
    else if (part != target.path[at])
      return false;
  }
  return at == target.path.size();
}

std::size_t Route::most_body() const {
  if (body.types.empty()) return kMostUnwanted;
  return body.most > 0 ? body.most : std::numeric_limits<std::size_t>::max();
}

std::vector<Problem> Route::query_problems(const Target& target, const Live& live) const {
  std::vector<Problem> problems;
  for (const auto& [name, value] : target.query) {
    const auto known = std::ranges::find(query, name, &Parameter::name);
    if (known == query.end()) {
      std::vector<std::string_view> names;
      for (const Parameter& parameter : query) names.push_back(parameter.name);
      problems.push_back({0, name,
                          names.empty() ? "is not known here; this address takes no parameters"
                                        : fmt::format("is not known here; this address takes {}",
                                                      listed(names, " and "))});
    } else if (!known->is_list() && target.repeated.contains(name)) {
      problems.push_back({0, name, "is given more than once"});
    } else if (std::string why = value_problem(*known, value, live); !why.empty()) {
      problems.push_back({0, name, std::move(why)});
    }
  }
  return problems;
}

bool Route::takes_type(std::string_view type) const {
  return body.types.empty() || type.empty() || std::ranges::count(body.types, type) > 0;
}

std::string media_type(std::string_view content_type) {
  std::string_view text = content_type.substr(0, content_type.find(';'));
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  std::string type(text);
  std::ranges::transform(type, type.begin(), [](unsigned char c) { return std::tolower(c); });
  if (type == "application/x-www-form-urlencoded" || type == "application/octet-stream") return {};
  return type == "application/ndjson" ? "application/x-ndjson" : type;
}

}  // namespace edict::server

// One request while it is being answered, for the source files of Api.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <vector>

#include "base/json/json.h"
#include "base/json/json_text.h"
#include "data/read/csv/csv_names.h"
#include "front/server/http/api.h"

namespace edict::server {

inline constexpr std::size_t kMostMoments = 1000;  // that one request may ask for

inline std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(at), rest.size());
    parts.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return parts;
}

inline ApiResponse json_answer(const nlohmann::json& body, int status = 200) {
  return {status, "application/json", json_text(body) + "\n"};
}

// One request until it is answered.
struct Api::Call {
  ApiRequest request{};
  Target target{};
  std::string who{};        // the token's name
  std::uint8_t scopes = 7;  // and what it allows
  Done done{};

  bool may(Scope scope) const { return (scopes & static_cast<std::uint8_t>(scope)) != 0; }

  const std::string& method() const { return request.method; }
  std::size_t parts() const { return target.path.size(); }
  const std::string& part(std::size_t i) const { return target.path[i]; }
  bool is(std::initializer_list<std::string_view> path) const {
    return std::equal(path.begin(), path.end(), target.path.begin(), target.path.end(),
                      [](std::string_view a, const std::string& b) { return a == "*" || a == b; });
  }
  std::string text(const char* key) const {
    const auto found = target.query.find(key);
    return found == target.query.end() ? std::string() : found->second;
  }
  // Throws BadInput.
  double number(const char* key, double standard, double low, double high) const {
    const std::string given = text(key);
    if (given.empty()) return standard;
    const auto value = finite_number(given);
    if (!value || *value < low || *value > high)
      throw BadInput({{0, key, fmt::format("'{}' is no number from {} to {}", given, low, high)}});
    return *value;
  }
  std::size_t count(const char* key, std::size_t standard, std::size_t most) const {
    return static_cast<std::size_t>(
        number(key, static_cast<double>(standard), 0, static_cast<double>(most)));
  }
  std::vector<double> numbers(const char* key) const {
    std::vector<double> values;
    for (const std::string& part : split(text(key), ',')) {
      const auto value = finite_number(part);
      if (!value) throw BadInput({{0, key, fmt::format("'{}' is no number", part)}});
      values.push_back(*value);
    }
    if (values.size() > kMostMoments)
      throw BadInput({{0, key, fmt::format("more than {} at once", kMostMoments)}});
    return values;
  }
};

}  // namespace edict::server

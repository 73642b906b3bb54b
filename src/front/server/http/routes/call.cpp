#include "front/server/http/routes/call.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/json/json_text.h"
#include "data/read/csv/csv_names.h"

namespace edict::server {

using nlohmann::json;

std::vector<Health::Check> Service::checks() const {
  if (health) return health->checks();
  return {{"store", live.store_problem()}};
}

ApiResponse json_answer(const json& body, int status) {
  return {status, "application/json", json_text(body) + "\n"};
}

std::string Call::text(const std::string& name) const {
  const auto found = target.query.find(name);
  return found == target.query.end() ? std::string() : found->second;
}

double Call::number(const std::string& name, double standard) const {
  return finite_number(text(name)).value_or(standard);
}

std::size_t Call::count(const std::string& name, std::size_t standard) const {
  return static_cast<std::size_t>(number(name, static_cast<double>(standard)));
}

std::vector<double> Call::numbers(const std::string& name) const {
  std::vector<double> values;
  for (const std::string& one : texts(name))
    if (const auto value = finite_number(one)) values.push_back(*value);
  return values;
}

std::optional<double> Call::time(const std::string& name) const {
  const auto read = live().clock().from_text(text(name));
  if (!read) return {};
  return read->value;
}

std::vector<double> Call::times(const std::string& name) const {
  std::vector<double> values;
  for (const std::string& one : texts(name))
    if (const auto read = live().clock().from_text(one)) values.push_back(read->value);
  return values;
}

std::vector<std::int32_t> Call::features(const std::string& name) const {
  std::vector<std::int32_t> numbers;
  for (const std::string& one : texts(name)) numbers.push_back(live().intake().feature(one));
  return numbers;
}

json Call::object() const {
  json body = parse_json(request.body);
  if (body.is_discarded()) throw BadInput({{0, "", "is not JSON"}});
  if (!body.is_object()) throw BadInput({{0, "", "is no JSON object"}});
  return body;
}

void check_members(const json& object, std::initializer_list<std::string_view> names) {
  std::vector<Problem> problems;
  for (const auto& [name, _] : object.items())
    if (std::ranges::find(names, name) == names.end()) {
      std::string known;
      for (const std::string_view one : names)
        known += fmt::format("{}{}", known.empty() ? "" : ", ", one);
      problems.push_back({0, name, fmt::format("is not known here; give {}", known)});
    }
  if (!problems.empty()) throw BadInput(std::move(problems));
}

}  // namespace edict::server

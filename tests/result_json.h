// Results through JSON and back, and ways in which their file can be damaged and still be JSON.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "base/json/json.h"

namespace edict {

// As it comes back from a file.
template <class Result>
Result through_text(const Result& before) {
  return nlohmann::json::parse(to_json(before).dump()).template get<Result>();
}

// Whether reading ends in one of the two errors that mean "not a result".
template <class Result>
bool refused(const nlohmann::json& damaged) {
  try {
    damaged.get<Result>();
  } catch (const nlohmann::json::exception&) {
    return true;
  } catch (const Error&) {
    return true;
  }
  return false;
}

struct DamagedJson {
  std::string what;  // "/mse/mean is missing"
  nlohmann::json json;
};

// One for every member at any depth taken away, and one for it being a text of no sense. Of long
// lists only the first entry is tried.
inline std::vector<DamagedJson> every_damage(const nlohmann::json& whole) {
  std::vector<DamagedJson> result;
  const auto visit = [&](const auto& self, const nlohmann::json& part,
                         const nlohmann::json::json_pointer& at) -> void {
    if (part.is_array() && !part.empty()) self(self, part[0], at / 0);
    if (!part.is_object()) return;
    for (const auto& [key, value] : part.items()) {
      nlohmann::json missing = whole, wrong = whole;
      missing.at(at).erase(key);
      wrong.at(at)[key] = "nonsense";
      result.push_back({(at / key).to_string() + " is missing", missing});
      if (!value.is_string()) result.push_back({(at / key).to_string() + " is a text", wrong});
      self(self, value, at / key);
    }
  };
  visit(visit, whole, nlohmann::json::json_pointer());
  return result;
}

}  // namespace edict

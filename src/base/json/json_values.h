// How to_json and from_json treat lists, counts, NaN and what may be absent. For .cpp files:
// it needs the whole JSON library.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "base/json/json.h"

namespace edict {

// A list of things that have a to_json of their own.
template <class Items>
nlohmann::json json_list(const Items& items) {
  nlohmann::json list = nlohmann::json::array();
  for (const auto& item : items) list.push_back(to_json(item));
  return list;
}

// null where there is nothing.
template <class T>
nlohmann::json json_or_null(const std::optional<T>& value) {
  return value ? to_json(*value) : nlohmann::json(nullptr);
}
template <class T>
std::optional<T> optional_from_json(const nlohmann::json& value) {
  return value.is_null() ? std::nullopt : std::optional<T>(value.get<T>());
}

// A count. get<> would cut a fraction off, and of a number beyond 64 bits make anything; this
// throws nlohmann::json::type_error for whatever is not whole or is negative.
inline std::uint64_t count_from_json(const nlohmann::json& value) {
  return value.get_ref<const nlohmann::json::number_unsigned_t&>();
}

// JSON has no NaN: it is written as null.
inline double number_or_nan(const nlohmann::json& value) {
  return value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
}
inline std::vector<double> numbers_or_nan(const nlohmann::json& list) {
  std::vector<double> numbers;
  for (const nlohmann::json& value : list.get_ref<const nlohmann::json::array_t&>())
    numbers.push_back(number_or_nan(value));
  return numbers;
}

}  // namespace edict

#include "data/reading.h"

#include <algorithm>

#include "base/error.h"
#include "base/json/json.h"

namespace edict {

const CategoryColumn* Reading::category(const std::string& column, bool is_static) const {
  const auto found = std::find_if(categories.begin(), categories.end(), [&](const auto& c) {
    return c.column == column && c.is_static == is_static;
  });
  return found == categories.end() ? nullptr : &*found;
}

std::string Reading::unit_of(const std::string& column) const {
  const auto found =
      std::find_if(units.begin(), units.end(), [&](const Unit& u) { return u.column == column; });
  return found == units.end() ? std::string() : found->unit;
}

nlohmann::json to_json(const Reading& reading) {
  nlohmann::json units = nlohmann::json::array();
  for (const Reading::Unit& u : reading.units)
    units.push_back({{"column", u.column}, {"unit", u.unit}});
  nlohmann::json categories = nlohmann::json::array();
  for (const CategoryColumn& c : reading.categories)
    categories.push_back({{"column", c.column}, {"static", c.is_static}, {"values", c.values}});
  return {{"id", reading.id},
          {"time", reading.time},
          {"label", reading.label},
          {"group", reading.group},
          {"statics", reading.statics},
          {"features", reading.features},
          {"categories", std::move(categories)},
          {"clock", reading.clock},
          {"variable", reading.variable},
          {"value", reading.value},
          {"missing", reading.missing},
          {"units", std::move(units)},
          {"duplicates", reading.duplicates},
          {"columns", reading.columns},
          {"piece", reading.piece}};
}

Reading reading_from_json(const nlohmann::json& json) {
  Reading reading;
  json.at("id").get_to(reading.id);
  json.at("time").get_to(reading.time);
  json.at("label").get_to(reading.label);
  json.at("group").get_to(reading.group);
  json.at("statics").get_to(reading.statics);
  json.at("features").get_to(reading.features);
  for (const nlohmann::json& entry : json.at("categories")) {
    CategoryColumn category;
    entry.at("column").get_to(category.column);
    entry.at("static").get_to(category.is_static);
    entry.at("values").get_to(category.values);
    reading.categories.push_back(std::move(category));
  }
  json.at("duplicates").get_to(reading.duplicates);
  if (!reading.duplicates.empty() && reading.duplicates != "mean" &&
      reading.duplicates != "first" && reading.duplicates != "last" &&
      reading.duplicates != "error")
    throw Error("its way with duplicates is malformed");
  // Unknown to older files.
  reading.clock = json.value("clock", "");
  reading.variable = json.value("variable", "");
  reading.value = json.value("value", "");
  reading.missing = json.value("missing", std::vector<std::string>{});
  for (const nlohmann::json& entry : json.value("units", nlohmann::json::array()))
    reading.units.push_back(
        {entry.at("column").get<std::string>(), entry.at("unit").get<std::string>()});
  reading.columns = json.value("columns", std::vector<std::string>{});
  reading.piece = json.value("piece", std::size_t{0});
  return reading;
}

}  // namespace edict

#include "edict/settings/declarations.h"

#include <nlohmann/json.hpp>

namespace edict::settings {
namespace {

const char* name_of(Key::Kind kind) {
  switch (kind) {
    case Key::Kind::number:
      return "number";
    case Key::Kind::whole:
      return "whole";
    case Key::Kind::flag:
      return "flag";
    default:
      return "text";
  }
}

}  // namespace

nlohmann::json declarations(const Keys& keys) {
  nlohmann::json list = nlohmann::json::array();
  for (const Key& key : keys) {
    nlohmann::json entry = {{"key", key.name}, {"type", name_of(key.kind)}, {"help", key.help}};
    std::visit([&](const auto& value) { entry["default"] = value; }, key.get());
    if (key.kind == Key::Kind::number || key.kind == Key::Kind::whole) {
      entry["low"] = key.low;
      entry["high"] = key.high;
    }
    if (key.kind == Key::Kind::text) entry["choices"] = key.choices;
    if (key.may_be_auto) entry["auto"] = true;
    list.push_back(std::move(entry));
  }
  return list;
}

}  // namespace edict::settings

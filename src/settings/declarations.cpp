#include "settings/declarations.h"

#include "base/json/json.h"

namespace edict::settings {
namespace {

const char* type_of(const Key& key) {
  switch (key.kind) {
    case Key::Kind::number:
      return "number";
    case Key::Kind::whole:
      return "whole number";
    case Key::Kind::flag:
      return "flag";
    case Key::Kind::text:
      break;
  }
  return "choice";
}

}  // namespace

nlohmann::json declaration(const Key& key) {
  nlohmann::json json = {
      {"key", key.name}, {"type", type_of(key)}, {"allowed", key.allowed()}, {"meaning", key.help}};
  std::visit([&](const auto& value) { json["default"] = value; }, key.get());
  if (key.kind == Key::Kind::number || key.kind == Key::Kind::whole) {
    json["low"] = key.low;
    json["high"] = key.high;
    json["may_be_auto"] = key.may_be_auto;
  }
  if (key.kind == Key::Kind::text) json["choices"] = key.choices;
  return json;
}

}  // namespace edict::settings

#include "edict/core/json_text.h"

#include <nlohmann/json.hpp>

namespace edict {

nlohmann::json parse_json(std::string_view text) {
  return nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
}

std::string json_text(const nlohmann::json& value, int indent) { return value.dump(indent); }

}  // namespace edict

#include "edict/core/json_text.h"

#include <nlohmann/json.hpp>

namespace edict {

nlohmann::json parse_json(std::string_view text) {
  return nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
}

std::string json_text(const nlohmann::json& value, int indent) {
  // A path may hold bytes that are no text; what is lost of it is not worth the results beside it.
  return value.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace edict

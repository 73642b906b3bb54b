#include "base/json/json_text.h"

#include "base/json/json.h"

namespace edict {

bool nests_deeply(std::string_view json) {
  constexpr int kDeepest = 100;
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < json.size() && depth <= kDeepest; ++i) {
    const char c = json[i];
    if (c == '"') quoted = !quoted;
    if (quoted && c == '\\') ++i;
    if (quoted) continue;
    depth += (c == '[' || c == '{') - (c == ']' || c == '}');
  }
  return depth > kDeepest;
}

nlohmann::json parse_json(std::string_view text) {
  if (nests_deeply(text)) return nlohmann::json::value_t::discarded;
  return nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
}

std::string json_text(const nlohmann::json& value, int indent) {
  // A path may hold bytes that are no text; what is lost of it is not worth the results beside it.
  return value.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace edict

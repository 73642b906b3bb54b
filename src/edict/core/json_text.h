// JSON from text and to text, compiled once: the parser and the writer of the library are templates
// that take a compiler seconds wherever they are used.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace edict {

// A discarded value, which is no object, where the text is not JSON.
nlohmann::json parse_json(std::string_view text);

// On one line, or with its members indented.
std::string json_text(const nlohmann::json& value, int indent = -1);

}  // namespace edict

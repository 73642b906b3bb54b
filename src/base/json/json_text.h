// JSON from text and to text, compiled once: the parser and the writer of the library are templates
// that take a compiler seconds wherever they are used.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace edict {

// A discarded value, which is no object, where the text is not JSON or nests more than a hundred
// deep: the parser of the library does not mind, but who copies or writes such a value needs a
// stack as deep as it.
nlohmann::json parse_json(std::string_view text);

// Whether more than a hundred brackets are open at once.
bool nests_deeply(std::string_view json);

// On one line, or with its members indented.
std::string json_text(const nlohmann::json& value, int indent = -1);

}  // namespace edict

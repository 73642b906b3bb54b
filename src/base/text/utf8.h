// Text in UTF-8: whether it is, and how wide it is on a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace edict {

bool valid_utf8(std::string_view text);

// Columns that the text takes: none for an accent that combines, two for a wide character.
std::size_t display_width(std::string_view text);

// The text as one line of at most `columns`, what does not fit replaced by "…". Control characters
// become "?".
std::string shortened(std::string_view text, std::size_t columns);

// The text in lines of at most `columns`, broken between words.
std::vector<std::string> wrapped(std::string_view text, std::size_t columns);

}  // namespace edict

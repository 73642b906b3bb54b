// Text in other encodings as UTF-8.
#pragma once

#include <string>
#include <string_view>

namespace edict {

// Windows-1252, which is Latin-1 with printable characters in place of most control codes.
std::string utf8_from_windows_1252(std::string_view bytes);

// UTF-16 without its byte-order mark. Half of a pair becomes U+FFFD, and so does half of a unit at
// the end.
std::string utf8_from_utf16(std::string_view bytes, bool big_endian);

}  // namespace edict

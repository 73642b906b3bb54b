#pragma once

#include <string>
#include <string_view>

namespace edict::fuzz {

// The bytes as a sequence of calls of edict.h with arguments, right and wrong ones. Throws
// std::logic_error where a promise of the header is broken: a code that it does not name, a failure
// without a line, a number that is not finite.
void call_sequence(std::string_view bytes, const std::string& model_bytes);

}  // namespace edict::fuzz

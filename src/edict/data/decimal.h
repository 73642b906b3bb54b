// Decimal text to the correctly rounded double, quickly: most cells of a CSV are short numbers
// without an exponent.
#pragma once

namespace edict {

// Reads sign, digits, point and digits from `text` and stops at the first other character, which
// `end` then points to. Returns false, with nothing promised about `value`, where the short path is
// not sure of the last bit or the text is in another form; std::from_chars decides those.
// Up to 8 bytes behind the number are looked at: the buffer must be padded.
bool read_short_decimal(const char* text, const char*& end, double& value);

}  // namespace edict

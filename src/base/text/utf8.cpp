#include "base/text/utf8.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

namespace edict {
namespace {

constexpr char32_t kInvalid = 0xffffffff;

// The character at the front, which is removed; of what is not UTF-8 one byte, as kInvalid.
char32_t take(std::string_view& text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  const std::size_t length = lead < 0x80   ? 1
                             : lead < 0xc2 ? 0
                             : lead < 0xe0 ? 2
                             : lead < 0xf0 ? 3
                             : lead < 0xf5 ? 4
                                           : 0;
  char32_t value = length <= 1 ? lead : lead & (0x7f >> length);
  bool valid = length > 0 && length <= text.size();
  for (std::size_t i = 1; valid && i < length; ++i) {
    valid = (byte(i) & 0xc0) == 0x80;
    value = value << 6 | (byte(i) & 0x3f);
  }
  // Longer than need be, half of a pair of UTF-16, or beyond Unicode.
  valid = valid && !(length == 3 && value < 0x800) && !(value >= 0xd800 && value < 0xe000) &&
          !(length == 4 && (value < 0x10000 || value > 0x10ffff));
  text.remove_prefix(valid ? length : 1);
  return valid ? value : kInvalid;
}

struct Range {
  char32_t first, last;
};
constexpr Range kNoWidth[] = {{0x300, 0x36f},   {0x483, 0x489},   {0x591, 0x5bd},
                              {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x200b, 0x200f},
                              {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}};
constexpr Range kWide[] = {{0x1100, 0x115f},   {0x2e80, 0x303e},   {0x3041, 0xa4cf},
                           {0xac00, 0xd7a3},   {0xf900, 0xfaff},   {0xfe30, 0xfe6f},
                           {0xff00, 0xff60},   {0xffe0, 0xffe6},   {0x1f300, 0x1f64f},
                           {0x1f680, 0x1f6ff}, {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd}};

std::size_t width_of(char32_t character) {
  for (const Range& range : kNoWidth)
    if (character >= range.first && character <= range.last) return 0;
  for (const Range& range : kWide)
    if (character >= range.first && character <= range.last) return 2;
  return 1;
}

bool is_control(char32_t character) {
  return character < 0x20 || (character >= 0x7f && character < 0xa0) || character == kInvalid;
}

}  // namespace

bool valid_utf8(std::string_view text) {
  while (!text.empty()) {
    for (std::uint64_t word; text.size() >= sizeof word; text.remove_prefix(sizeof word)) {
      std::memcpy(&word, text.data(), sizeof word);
      if (word & 0x8080808080808080u) break;
    }
    if (!text.empty() && take(text) == kInvalid) return false;
  }
  return true;
}

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) width += width_of(take(text));
  return width;
}

std::string shortened(std::string_view text, std::size_t columns) {
  std::string result;
  std::size_t width = 0;    // of the result
  std::size_t fitting = 0;  // bytes of it after which "…" still fits
  while (!text.empty()) {
    const std::string_view rest = text;
    const char32_t character = take(text);
    const std::size_t wide = width_of(character);
    if (width + wide > columns) {
      result.resize(fitting);
      return columns > 0 ? result + "…" : result;
    }
    if (is_control(character))
      result += '?';
    else
      result += rest.substr(0, rest.size() - text.size());
    width += wide;
    if (width + 1 <= columns) fitting = result.size();
  }
  return result;
}

std::vector<std::string> wrapped(std::string_view text, std::size_t columns) {
  std::vector<std::string> lines;
  std::string line;
  for (std::size_t from = 0; from < text.size();) {
    std::size_t to = std::min(text.find(' ', from), text.size());
    // A percent sign stays with its number; %H is a word.
    const bool percent =
        text.compare(to, 2, " %") == 0 &&
        (to + 2 == text.size() || !std::isalpha(static_cast<unsigned char>(text[to + 2])));
    if (percent) to = std::min(text.find(' ', to + 1), text.size());
    const std::string word(text.substr(from, to - from));
    if (!line.empty() && display_width(line) + 1 + display_width(word) > columns) {
      lines.push_back(std::move(line));
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
    from = std::min(text.find_first_not_of(' ', to), text.size());
  }
  if (!line.empty()) lines.push_back(std::move(line));
  return lines;
}

}  // namespace edict

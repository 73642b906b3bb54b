#include "data/read/cells/encoding.h"

#include <array>
#include <cstddef>

namespace edict {
namespace {

void append(std::string& text, char32_t c) {
  const auto byte = [&](char32_t value) { text.push_back(static_cast<char>(value)); };
  if (c < 0x80) {
    byte(c);
  } else if (c < 0x800) {
    byte(0xc0 | c >> 6), byte(0x80 | (c & 0x3f));
  } else if (c < 0x10000) {
    byte(0xe0 | c >> 12), byte(0x80 | (c >> 6 & 0x3f)), byte(0x80 | (c & 0x3f));
  } else {
    byte(0xf0 | c >> 18), byte(0x80 | (c >> 12 & 0x3f)), byte(0x80 | (c >> 6 & 0x3f));
    byte(0x80 | (c & 0x3f));
  }
}

// 0x80 to 0x9f; the five that Windows leaves open stay the control codes of Latin-1.
constexpr std::array<char16_t, 32> kWindows1252{
    0x20ac, 0x81,   0x201a, 0x192,  0x201e, 0x2026, 0x2020, 0x2021, 0x2c6,  0x2030, 0x160,
    0x2039, 0x152,  0x8d,   0x17d,  0x8f,   0x90,   0x2018, 0x2019, 0x201c, 0x201d, 0x2022,
    0x2013, 0x2014, 0x2dc,  0x2122, 0x161,  0x203a, 0x153,  0x9d,   0x17e,  0x178};

constexpr char32_t kReplacement = 0xfffd;

}  // namespace

std::string utf8_from_windows_1252(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size() + bytes.size() / 16);
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    append(text, byte >= 0x80 && byte < 0xa0 ? kWindows1252[byte - 0x80u] : char32_t{byte});
  }
  return text;
}

std::string utf8_from_utf16(std::string_view bytes, bool big_endian) {
  std::string text;
  text.reserve(bytes.size() / 2 + bytes.size() / 16);
  const auto unit = [&](std::size_t i) {
    const auto a = static_cast<unsigned char>(bytes[i]),
               b = static_cast<unsigned char>(bytes[i + 1]);
    return static_cast<char32_t>(big_endian ? a << 8 | b : b << 8 | a);
  };
  const auto is_low = [](char32_t c) { return c >= 0xdc00 && c < 0xe000; };
  std::size_t i = 0;
  for (; i + 1 < bytes.size(); i += 2) {
    char32_t c = unit(i);
    if (c >= 0xd800 && c < 0xdc00 && i + 3 < bytes.size() && is_low(unit(i + 2))) {
      c = 0x10000 + ((c - 0xd800) << 10) + (unit(i + 2) - 0xdc00);
      i += 2;
    } else if (c >= 0xd800 && c < 0xe000) {
      c = kReplacement;
    }
    append(text, c);
  }
  if (i < bytes.size()) append(text, kReplacement);
  return text;
}

}  // namespace edict

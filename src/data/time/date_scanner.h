// Takes a date off the front of a text, piece by piece.
#pragma once

#include <algorithm>
#include <string_view>

#include "data/time/calendar_days.h"

namespace edict::dates {

inline bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
inline char lower_letter(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// Takes pieces off the front of a text; a piece that is not there is told, not thrown.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : p_(text.data()), end_(p_ + text.size()) {}

  bool done() const { return p_ == end_; }
  char peek() const { return p_ == end_ ? '\0' : *p_; }
  char after() const { return end_ - p_ < 2 ? '\0' : p_[1]; }
  bool take(char c) {
    if (peek() != c) return false;
    ++p_;
    return true;
  }
  // A blank, also one that does not break: U+202F stands before AM and PM, U+00A0 elsewhere.
  bool take_blank() {
    for (const std::string_view blank : {" ", "\u202f", "\u00a0"})
      if (std::string_view(p_, static_cast<std::size_t>(end_ - p_)).starts_with(blank)) {
        p_ += blank.size();
        return true;
      }
    return false;
  }
  bool take_letter(char c) {  // in either case; `c` is a small letter
    if (lower_letter(peek()) != c) return false;
    ++p_;
    return true;
  }
  // From `least` to `most` digits; −1 where there are fewer.
  int number(int least, int most) {
    int value = 0, count = 0;
    for (; count < most && p_ != end_ && static_cast<unsigned char>(*p_ - '0') < 10; ++count)
      value = 10 * value + (*p_++ - '0');
    return count >= least ? value : -1;
  }
  int digits_ahead() const {
    const char* p = p_;
    while (p != end_ && static_cast<unsigned char>(*p - '0') < 10) ++p;
    return static_cast<int>(p - p_);
  }
  // The number of a month that is named here, in full or by its first three letters; else 0.
  int month() {
    const char* p = p_;
    while (p != end_ && is_letter(*p)) ++p;
    const std::string_view word(p_, static_cast<std::size_t>(p - p_));
    for (int m = 1; m <= 12; ++m) {
      const std::string_view name = kMonths[m - 1];
      if ((word.size() == 3 || word.size() == name.size()) &&
          std::equal(word.begin(), word.end(), name.begin(),
                     [](char a, char b) { return lower_letter(a) == lower_letter(b); })) {
        p_ = p;
        return m;
      }
    }
    return 0;
  }

 private:
  const char* p_;
  const char* end_;
};

}  // namespace edict::dates

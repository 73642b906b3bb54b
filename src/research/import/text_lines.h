// The lines of a text in memory, with either kind of line end, and errors that point into it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace edict {

class TextLines {
 public:
  // The text must outlive this; `name` is for messages. A byte-order mark is skipped.
  TextLines(std::string_view text, std::string name);

  // The next line that is not blank, without its end and trailing blanks; false at the end.
  bool next(std::string_view& line);

  // Throws Error `name:line: what`, for the line last read.
  [[noreturn]] void fail(std::string_view what) const;

 private:
  std::string_view rest_;
  std::string name_;
  std::size_t line_ = 0;
};

// Splits off what stands before the first separator, without outer blanks; the whole where there
// is none.
std::string_view take_cell(std::string_view& line, char separator = ',');

// The whole text as a number ("nan" and "inf" are numbers, and one too large for a double is
// infinite); false where it is none.
bool read_number(std::string_view text, double& value);

// For messages: shortened, and with anything unprintable as '?'.
std::string shown(std::string_view text);

}  // namespace edict

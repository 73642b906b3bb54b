// The text of a CSV file in memory, its cells, and errors that point into it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace edict {

struct CsvLimits;

struct CsvCell {
  std::string_view text;  // without quotes, outer blanks dropped unless quoted
  const char* at;         // where the cell begins
};

// The bytes are followed by zeros, and contain none: a zero marks the end, and a scanner may look
// a few bytes ahead without asking.
class CsvText {
 public:
  static CsvText from_file(const std::filesystem::path& path, const CsvLimits& limits);
  static CsvText from_memory(std::string_view text, std::string name, const CsvLimits& limits);

  const char* begin() const;  // behind a byte-order mark
  const char* end() const { return bytes_.get() + size_; }

  // Reads the cell at p, leaving p at what ends it: a comma, a line end or the end of the text.
  // `scratch` holds the text of a cell with doubled quotes.
  CsvCell read_cell(const char*& p, std::string& scratch) const;

  // Throws Error where the text of a cell is not UTF-8. Without a column: a cell of the header.
  void check_utf8(const CsvCell& cell, std::string_view column = {}) const;

  // Past the line end at p, where there is one.
  static const char* next_line(const char* p);
  static bool ends_cell(char c) { return c == ',' || c == '\n' || c == '\r' || c == '\0'; }

  // Throws Error `file:line: [column 'x': ]what`.
  [[noreturn]] void fail(const char* at, std::string_view what) const;
  [[noreturn]] void fail(const char* at, std::string_view column, std::string_view what) const;
  std::size_t line_of(const char* at) const;

 private:
  CsvText() = default;
  void check(const CsvLimits& limits) const;
  [[noreturn]] void fail_read() const;

  struct Release {
    std::size_t mapped;  // bytes of a mapping, or 0 for memory of our own
    void operator()(char* bytes) const;
  };
  void map(int file, std::size_t size);
  void read(int file, const CsvLimits& limits);

  std::unique_ptr<char, Release> bytes_;
  std::size_t size_ = 0;
  std::string name_;
};

}  // namespace edict

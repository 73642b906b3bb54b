// The text of a CSV file in memory, its cells, and errors that point into it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace edict {

struct CsvLimits;

// A quote that spoils everything behind it.
class CsvQuoteError : public Error {
 public:
  CsvQuoteError(const std::string& message, const char* place, std::string_view literal)
      : Error(message), at(place), reason(literal) {}

  const char* at;
  std::string_view reason;
};

// Thrown inside of the reader where a text is not UTF-8.
struct CsvNotUtf8 {};

struct CsvCell {
  std::string_view text;  // without quotes, outer blanks dropped unless quoted
  const char* at;         // where the cell begins
};

// The bytes are followed by zeros, and contain none: a zero marks the end, and a scanner may look
// a few bytes ahead without asking.
class CsvText {
 public:
  static CsvText from_file(const std::filesystem::path& path, const CsvLimits& limits);
  static CsvText from_memory(std::string_view source, std::string name, const CsvLimits& limits);

  const char* begin() const;  // behind a byte-order mark
  const char* first_byte() const { return bytes_.get(); }
  const char* end() const { return bytes_.get() + size_; }

  const std::string& name() const { return name_; }
  // What was done to the bytes to make them UTF-8, as "gzip" and "UTF-16"; mostly empty.
  const std::vector<std::string>& conversions() const { return conversions_; }

  // Between cells; a comma until somebody says otherwise.
  char separator() const { return separator_; }
  void set_separator(char separator) { separator_ = separator; }

  // Whether texts that are not UTF-8 can still be taken for Windows-1252, and that done. Every
  // pointer into the text is void afterwards.
  bool can_be_windows_1252() const;
  void read_as_windows_1252();

  // Reads the cell at p, leaving p at what ends it: the separator, a line end or the end of the
  // text. `scratch` holds the text of a cell with doubled quotes. Throws CsvQuoteError.
  CsvCell read_cell(const char*& p, std::string& scratch) const;

  // What stands before `read` is not needed soon: the memory of a mapped file may go elsewhere.
  void let_go(const char* read) const;

  // Whether this line, which has no end of its own, stands at p.
  bool repeats_line(const char* p, std::string_view line) const;

  // Past the line end at p, where there is one.
  static const char* next_line(const char* p);
  template <char kSeparator>
  static bool ends_cell(char c) {
    return c == kSeparator || c == '\n' || c == '\r' || c == '\0';
  }

  [[noreturn]] void fail_quote(const char* at, std::string_view reason) const;
  // Throws Error `file:line: [column 'x': ]what`.
  [[noreturn]] void fail(const char* at, std::string_view what) const;
  [[noreturn]] void fail(const char* at, std::string_view column, std::string_view what) const;
  std::size_t line_of(const char* at) const;

 private:
  CsvText() = default;
  void prepare(const CsvLimits& limits);  // unpacks and converts what needs it, and checks
  void replace(std::string_view text);
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
  std::vector<std::string> conversions_;
  char separator_ = ',';
};

}  // namespace edict

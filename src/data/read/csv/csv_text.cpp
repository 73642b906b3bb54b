#include "data/read/csv/csv_text.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "base/files/file_kind.h"
#include "base/files/read_file.h"
#include "data/read/cells/encoding.h"
#include "data/read/cells/unpack.h"
#include "data/read/read_options.h"

namespace edict {
namespace {

constexpr std::size_t kPadding = 16;

struct Descriptor {
  int number;
  ~Descriptor() {
    if (number >= 0) ::close(number);
  }
};

constexpr std::string_view kUtf8Mark = "\xef\xbb\xbf";
constexpr const char* kWindows = "Windows-1252 (Latin-1)";

}  // namespace

CsvText CsvText::from_file(const std::filesystem::path& path, const CsvLimits& limits) {
  CsvText text;
  text.name_ = name_of_file(path);
  const auto refuse = [&](std::string_view what) {
    throw Error(fmt::format("{}: {}", text.name_, what));
  };
  const bool standard_input = path == "-";
  const Descriptor file{standard_input ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
                                       : ::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (file.number < 0 && errno == ENOENT) refuse("no such file; check the path");
  if (file.number < 0) text.fail_read();
  struct stat status {};
  if (::fstat(file.number, &status) != 0) text.fail_read();
  if (S_ISDIR(status.st_mode)) refuse("is a directory; give a CSV file");

  const bool from_the_start = !standard_input || ::lseek(file.number, 0, SEEK_CUR) == 0;
  if (S_ISREG(status.st_mode) && from_the_start &&
      static_cast<std::size_t>(status.st_size) <= limits.bytes)
    text.map(file.number, static_cast<std::size_t>(status.st_size));
  else
    text.read(file.number, limits);
  text.prepare(limits);
  return text;
}

// Copying into fresh memory would cost more than reading the numbers. The file is mapped over the
// front of a mapping of zeros that is a page longer, which is the padding.
void CsvText::map(int file, std::size_t size) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t length = (size / page + 2) * page;
  void* zeros = ::mmap(nullptr, length, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (zeros == MAP_FAILED) fail_read();
  bytes_ = {static_cast<char*>(zeros), Release{length}};
  size_ = size;
  // A file that may be larger than the memory is not asked for at once.
  constexpr std::size_t kLarge = std::size_t{1} << 30;
  const int at_once = size <= kLarge ? MAP_POPULATE : 0;
  if (size > 0 &&
      ::mmap(zeros, size, PROT_READ, MAP_PRIVATE | MAP_FIXED | at_once, file, 0) == MAP_FAILED)
    fail_read();
  if (size > kLarge) ::madvise(zeros, size, MADV_SEQUENTIAL);
}

// A pipe has no size to begin with: the room doubles until the end is reached.
void CsvText::read(int file, const CsvLimits& limits) {
  std::size_t room = 0;
  for (ssize_t got = 1; got != 0 && size_ <= limits.bytes;) {
    if (size_ == room) {
      room = std::max<std::size_t>(2 * room, 65536);
      std::unique_ptr<char, Release> larger(new char[room + kPadding]);
      if (size_ > 0) std::memcpy(larger.get(), bytes_.get(), size_);
      bytes_ = std::move(larger);
    }
    got = ::read(file, bytes_.get() + size_, room - size_);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_read();
    size_ += static_cast<std::size_t>(got);
  }
  std::memset(bytes_.get() + size_, 0, kPadding);
}

void CsvText::let_go(const char* read) const {
  if (bytes_.get_deleter().mapped == 0) return;
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const auto length = static_cast<std::size_t>(read - bytes_.get()) / page * page;
  if (length > 0) ::madvise(bytes_.get(), length, MADV_DONTNEED);
}

void CsvText::fail_read() const {
  const int error = errno;
  throw_system_error(
      error, fmt::format("{}: cannot be read ({}); check the file and its permissions", name_,
                         std::strerror(error)));
}

void CsvText::Release::operator()(char* bytes) const {
  if (mapped > 0)
    ::munmap(bytes, mapped);
  else
    delete[] bytes;
}

CsvText CsvText::from_memory(std::string_view source, std::string name, const CsvLimits& limits) {
  CsvText text;
  text.name_ = std::move(name);
  text.size_ = source.size();
  text.bytes_.reset(new char[source.size() + kPadding]());
  if (!source.empty()) std::memcpy(text.bytes_.get(), source.data(), source.size());
  text.prepare(limits);
  return text;
}

void CsvText::replace(std::string_view text) {
  std::unique_ptr<char, Release> bytes(new char[text.size() + kPadding]());
  if (!text.empty()) std::memcpy(bytes.get(), text.data(), text.size());
  bytes_ = std::move(bytes);
  size_ = text.size();
}

void CsvText::prepare(const CsvLimits& limits) {
  const auto check_size = [&] {
    if (size_ > limits.bytes)
      throw Error(
          fmt::format("{}: is larger than the limit of {} bytes; split it or raise the limit",
                      name_, limits.bytes));
  };
  check_size();
  const auto all = [&] { return std::string_view(bytes_.get(), size_); };
  if (const Packing packing = packing_of(all()); packing != Packing::none) {
    conversions_.emplace_back(packing == Packing::gzip ? "gzip" : "zstd");
    replace(unpacked(all(), packing, name_, limits.bytes));
  }
  if (const auto foreign = foreign_file(all()))
    throw Error(fmt::format("{}: this looks like {}; {}", name_, foreign->what, foreign->instead));
  const bool big_endian = all().starts_with("\xfe\xff");
  if (big_endian || all().starts_with("\xff\xfe")) {
    conversions_.emplace_back("UTF-16");
    replace(utf8_from_utf16(all().substr(2), big_endian));
    check_size();
  }
  if (const void* zero = size_ == 0 ? nullptr : std::memchr(bytes_.get(), 0, size_))
    fail(static_cast<const char*>(zero),
         "holds a zero byte, so this is no text; give a table as CSV");
}

bool CsvText::can_be_windows_1252() const {
  return begin() == bytes_.get() &&
         std::find(conversions_.begin(), conversions_.end(), "UTF-16") == conversions_.end() &&
         std::find(conversions_.begin(), conversions_.end(), kWindows) == conversions_.end();
}

void CsvText::read_as_windows_1252() {
  conversions_.emplace_back(kWindows);
  replace(utf8_from_windows_1252({bytes_.get(), size_}));
}

const char* CsvText::begin() const {
  const bool marked = std::string_view(bytes_.get(), size_).starts_with(kUtf8Mark);
  return bytes_.get() + (marked ? kUtf8Mark.size() : 0);
}

CsvCell CsvText::read_cell(const char*& p, std::string& scratch) const {
  const auto blank = [this](char c) { return c == ' ' || (c == '\t' && separator_ != '\t'); };
  const auto ends_cell = [this](char c) {
    return c == separator_ || c == '\n' || c == '\r' || c == '\0';
  };
  const char* at = p;
  while (blank(*p)) ++p;
  if (*p != '"') {
    const char* from = p;
    while (!ends_cell(*p) || (*p == '\r' && p[1] != '\n' && p[1] != '\0')) ++p;
    const char* to = p;
    while (to != from && blank(to[-1])) --to;
    return {{from, static_cast<std::size_t>(to - from)}, at};
  }
  const char* from = ++p;
  bool doubled = false;
  for (;; ++p) {
    if (*p == '\0')
      fail_quote(at,
                 "a quote is opened here and never closed; close it or double the quote character");
    if (*p != '"') continue;
    if (p[1] != '"') break;
    ++p;
    doubled = true;
  }
  std::string_view text(from, static_cast<std::size_t>(p - from));
  if (doubled) {
    scratch.clear();
    for (std::size_t i = 0; i < text.size(); ++i) {
      scratch.push_back(text[i]);
      if (text[i] == '"') ++i;
    }
    text = scratch;
  }
  ++p;
  while (blank(*p)) ++p;
  if (!ends_cell(*p))
    fail_quote(at, "text follows a closing quote; double the quotes that belong to the text");
  return {text, at};
}

bool CsvText::repeats_line(const char* p, std::string_view line) const {
  if (line.empty() || *p != line.front() || static_cast<std::size_t>(end() - p) < line.size() ||
      std::memcmp(p, line.data(), line.size()) != 0)
    return false;
  const char after = p[line.size()];
  return after == '\n' || after == '\r' || p + line.size() == end();
}

const char* CsvText::next_line(const char* p) {
  if (*p == '\r') ++p;
  if (*p == '\n') ++p;
  return p;
}

std::size_t CsvText::line_of(const char* at) const {
  const char* begin = bytes_.get();
  return 1 + static_cast<std::size_t>(std::count(begin, at, '\n'));
}

void CsvText::fail_quote(const char* at, std::string_view reason) const {
  throw CsvQuoteError(fmt::format("{}:{}: {}", name_, line_of(at), reason), at, reason);
}

void CsvText::fail(const char* at, std::string_view what) const {
  throw Error(ErrorCode::malformed,
              {.subject = fmt::format("{}:{}", name_, line_of(at)), .problem = std::string(what)});
}

void CsvText::fail(const char* at, std::string_view column, std::string_view what) const {
  throw Error(ErrorCode::malformed, {.subject = fmt::format("{}:{}", name_, line_of(at)),
                                     .place = fmt::format("column '{}'", column),
                                     .problem = std::string(what)});
}

}  // namespace edict

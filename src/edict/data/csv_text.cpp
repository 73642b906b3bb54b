#include "edict/data/csv_text.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "edict/core/error.h"
#include "edict/data/csv.h"

namespace edict {
namespace {

constexpr std::size_t kPadding = 16;

struct Descriptor {
  int number;
  ~Descriptor() {
    if (number >= 0) ::close(number);
  }
};

bool blank(char c) { return c == ' ' || c == '\t'; }

std::string_view without_blanks(std::string_view text) {
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace

CsvText CsvText::from_file(const std::filesystem::path& path, const CsvLimits& limits) {
  CsvText text;
  text.name_ = path.string();
  const auto refuse = [&](std::string_view what) {
    throw Error(fmt::format("{}: {}", text.name_, what));
  };
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (file.number < 0 && errno == ENOENT) refuse("no such file; check the path");
  if (file.number < 0)
    refuse(fmt::format("cannot be read ({}); check its permissions", std::strerror(errno)));
  struct stat status {};
  if (::fstat(file.number, &status) != 0) refuse("cannot be read; check its permissions");
  if (S_ISDIR(status.st_mode)) refuse("is a directory; give a CSV file");

  // A pipe has no size to begin with; the last byte of room tells that the end was reached.
  std::size_t room = std::max<std::size_t>(static_cast<std::size_t>(status.st_size), 4095) + 1;
  text.bytes_ = std::make_unique_for_overwrite<char[]>(room + kPadding);
  for (;;) {
    const ssize_t got = ::read(file.number, text.bytes_.get() + text.size_,
                               std::min(room - text.size_, SIZE_MAX / 4));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) refuse(fmt::format("cannot be read ({})", std::strerror(errno)));
    if (got == 0) break;
    text.size_ += static_cast<std::size_t>(got);
    if (text.size_ > limits.bytes) break;
    if (text.size_ == room) {
      auto larger = std::make_unique_for_overwrite<char[]>(2 * room + kPadding);
      std::memcpy(larger.get(), text.bytes_.get(), room);
      text.bytes_ = std::move(larger);
      room *= 2;
    }
  }
  std::memset(text.bytes_.get() + text.size_, 0, kPadding);
  text.check(limits);
  return text;
}

CsvText CsvText::from_memory(std::string_view source, std::string name, const CsvLimits& limits) {
  CsvText text;
  text.name_ = std::move(name);
  text.size_ = source.size();
  text.bytes_ = std::make_unique<char[]>(source.size() + kPadding);
  if (!source.empty()) std::memcpy(text.bytes_.get(), source.data(), source.size());
  text.check(limits);
  return text;
}

void CsvText::check(const CsvLimits& limits) const {
  if (size_ > limits.bytes)
    throw Error(fmt::format("{}: is larger than the limit of {} bytes; split it or raise the limit",
                            name_, limits.bytes));
  if (const void* zero = size_ == 0 ? nullptr : std::memchr(bytes_.get(), 0, size_))
    fail(static_cast<const char*>(zero),
         "holds a zero byte, so it is no text; give a CSV file in UTF-8");
}

const char* CsvText::begin() const {
  const bool marked = size_ >= 3 && std::memcmp(bytes_.get(), "\xef\xbb\xbf", 3) == 0;
  return bytes_.get() + (marked ? 3 : 0);
}

CsvCell CsvText::read_cell(const char*& p, std::string& scratch) const {
  const char* at = p;
  while (blank(*p)) ++p;
  if (*p != '"') {
    while (!ends_cell(*p) || (*p == '\r' && p[1] != '\n' && p[1] != '\0')) ++p;
    return {without_blanks({at, static_cast<std::size_t>(p - at)}), at};
  }
  const char* from = ++p;
  bool doubled = false;
  for (;; ++p) {
    if (*p == '\0')
      fail(at, "a quote is opened here and never closed; close it or double the quote character");
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
    fail(at, "text follows a closing quote; double the quotes that belong to the text");
  return {text, at};
}

const char* CsvText::next_line(const char* p) {
  if (*p == '\r') ++p;
  if (*p == '\n') ++p;
  return p;
}

std::size_t CsvText::line_of(const char* at) const {
  return 1 + static_cast<std::size_t>(std::count(static_cast<const char*>(bytes_.get()), at, '\n'));
}

void CsvText::fail(const char* at, std::string_view what) const {
  throw Error(fmt::format("{}:{}: {}", name_, line_of(at), what));
}

void CsvText::fail(const char* at, std::string_view column, std::string_view what) const {
  throw Error(fmt::format("{}:{}: column '{}': {}", name_, line_of(at), column, what));
}

}  // namespace edict

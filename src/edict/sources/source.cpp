#include "edict/sources/source.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "edict/core/error.h"

namespace edict {
namespace {

// Up to one byte more than the limit, which read_csv_text then refuses.
std::string standard_input(const CsvLimits& limits) {
  std::string text;
  std::size_t size = 0;
  while (size <= limits.bytes) {
    if (size == text.size()) text.resize(std::max<std::size_t>(2 * size, 65536));
    const ssize_t got = ::read(STDIN_FILENO, text.data() + size, text.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0)
      throw Error(fmt::format("standard input: cannot be read ({})", std::strerror(errno)));
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  text.resize(size);
  return text;
}

}  // namespace

Dataset open_data(const std::string& uri, const CsvLimits& limits) {
  if (uri == "-") return read_csv_text(standard_input(limits), "standard input", limits);
  return read_csv(uri, limits);
}

}  // namespace edict

// Where a dataset's files come from, for the message about a missing one; and how counts are
// written in reports.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace edict {

struct Download {
  std::string_view dataset;
  std::string_view page;
  std::string_view licence;
  std::string_view size;  // what to expect, as "set-a.tar.gz 6.6 MB"
};

// Throws Error `from: no <file>; download …`.
[[noreturn]] void fail_missing(const std::filesystem::path& from, std::string_view file,
                               const Download& download);

// 1757980 as "1,757,980".
std::string grouped(std::size_t count);

}  // namespace edict

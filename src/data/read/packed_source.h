// Packed data (data/packed_file.h) as a source: what may still be said about them when they are
// opened, and how a table becomes such a file.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "data/read/read_options.h"

namespace edict {

// Which columns are what was said when the data were packed, and is an Error here (but for
// label=none). Where a model says how its data were read, times are counted as there; categories
// must be the same.
Dataset open_packed_source(const std::filesystem::path& path, const ReadOptions& options);

struct PackedCounts {
  std::size_t series = 0, events = 0, observations = 0;
  std::vector<std::string> recognised;  // what had to be guessed about the table
};

// Packs the table at `uri` (a file of any size, "-" for standard input) into `out`, with about
// `memory` bytes for its rows. Throws Error.
PackedCounts pack_table(const std::string& uri, const ReadOptions& options,
                        const std::filesystem::path& out, std::size_t memory);

}  // namespace edict

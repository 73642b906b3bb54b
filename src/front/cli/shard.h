// --shard i/n: one of n shares of the series, so that n machines do the work of one. A series
// belongs to a share by its id alone, whatever else is in the data. `edict join` makes of the n
// outputs the one that a single run would have written.
#pragma once

#include <CLI/App.hpp>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "data/dataset.h"

namespace edict::cli {

struct Shard {
  std::size_t number = 1, count = 1;

  bool whole() const { return count == 1; }
  bool contains(std::string_view id) const;
  // Of its rows each ends with the number of its series among all, in a column of this name.
  std::string column() const;
};

void add_shard(CLI::App& command, std::string& text);

// "2/8"; empty: all of it. Throws Error.
Shard parse_shard(const std::string& text);
// The same from the name of the column.
Shard shard_of_column(std::string_view name);

// The series of the data that belong to it, ascending.
std::vector<std::size_t> series_of(const Shard& shard, const Dataset& data);

}  // namespace edict::cli

#include "front/cli/shard.h"

#include <fmt/core.h>

#include <charconv>

#include "base/error.h"
#include "base/hash.h"

namespace edict::cli {
namespace {

constexpr std::string_view kColumn = "series@";

bool read_shard(std::string_view text, Shard& shard) {
  const char* const end = text.data() + text.size();
  const auto [slash, first] = std::from_chars(text.data(), end, shard.number);
  if (first != std::errc() || slash == end || *slash != '/') return false;
  const auto [last, second] = std::from_chars(slash + 1, end, shard.count);
  constexpr std::size_t kMost = 100000;
  return second == std::errc() && last == end && shard.number >= 1 && shard.number <= shard.count &&
         shard.count <= kMost;
}

}  // namespace

bool Shard::contains(std::string_view id) const { return hash_of(id) % count == number - 1; }

std::string Shard::column() const { return fmt::format("{}{}/{}", kColumn, number, count); }

void add_shard(CLI::App& command, std::string& text) {
  command
      .add_option("--shard", text,
                  "only one of N shares of the series, as 2/8, by the hash of their ids; `edict "
                  "join` puts the outputs of all of them together")
      ->type_name("I/N");
}

Shard parse_shard(const std::string& text) {
  Shard shard;
  if (!text.empty() && !read_shard(text, shard))
    throw Error(
        fmt::format("--shard {}: give one of how many, as 2/8 (the second of eight)", text));
  return shard;
}

Shard shard_of_column(std::string_view name) {
  Shard shard;
  if (!name.starts_with(kColumn) || !read_shard(name.substr(kColumn.size()), shard))
    throw Error(fmt::format("its last column is '{}' and not {}I/N; give what --shard wrote", name,
                            kColumn));
  return shard;
}

std::vector<std::size_t> series_of(const Shard& shard, const Dataset& data) {
  std::vector<std::size_t> series;
  for (std::size_t i = 0; i < data.size(); ++i)
    if (shard.whole() || shard.contains(data.ids[i])) series.push_back(i);
  return series;
}

}  // namespace edict::cli

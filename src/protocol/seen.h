// Which series a model has seen, so that it is judged by others.
//
// Ids are kept as salted 64-bit hashes: they cannot be read from a model file, and those of two
// models cannot be compared. It is no secrecy towards someone who can guess an id and try it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string_view>
#include <vector>

#include "data/dataset.h"
#include "protocol/split.h"

namespace edict {

class SeenSeries {
 public:
  SeenSeries() = default;
  explicit SeenSeries(std::uint64_t salt) : salt_(salt) {}

  // Records the series of the three parts; those that are known already stay what they are. By
  // group their groups are recorded too: another series of a group belongs where the group does.
  void add(const Dataset& data, const Split& split, SplitBy by);

  Part part_of(std::string_view id, std::string_view group = {}) const;
  Split split(const Dataset& data) const;

  // Series of a part.
  std::size_t count(Part part) const;

  friend nlohmann::json to_json(const SeenSeries& seen);
  // Throws Error or nlohmann's exception where the text is not what to_json writes.
  friend SeenSeries seen_series_from_json(const nlohmann::json& json);

 private:
  struct Entry {
    std::uint64_t hash;
    Part part;
    bool operator<(const Entry& other) const { return hash < other.hash; }
  };
  std::uint64_t hash(std::string_view kind, std::string_view name) const;

  std::uint64_t salt_ = 0;
  std::vector<Entry> series_, groups_;  // by hash
};

nlohmann::json to_json(const SeenSeries& seen);
SeenSeries seen_series_from_json(const nlohmann::json& json);

}  // namespace edict

#include "protocol/seen.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <span>
#include <string>

#include "base/error.h"
#include "base/hash.h"
#include "base/json/json.h"
#include "data/subset.h"

namespace edict {
namespace {

constexpr std::size_t kDigits = 16;  // of a hash in hexadecimal
constexpr Part kRecorded[] = {Part::train, Part::validation, Part::test};

void append_hex(std::string& text, std::uint64_t value) {
  for (int shift = 60; shift >= 0; shift -= 4) text += "0123456789abcdef"[(value >> shift) & 15];
}

std::vector<std::uint64_t> read_hex(std::string_view text) {
  std::vector<std::uint64_t> values(text.size() / kDigits);
  bool good = text.size() % kDigits == 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const char* const end = text.data() + (i + 1) * kDigits;
    const auto [stop, error] = std::from_chars(end - kDigits, end, values[i], 16);
    good &= error == std::errc() && stop == end;
  }
  if (!good) throw Error("the record of seen series is damaged");
  return values;
}

// Adds what is new; of two entries with one hash the earlier stays.
template <class Entry>
void merge(std::vector<Entry>& known, const std::vector<Entry>& more) {
  known.insert(known.end(), more.begin(), more.end());
  std::stable_sort(known.begin(), known.end());
  known.erase(std::unique(known.begin(), known.end(),
                          [](const Entry& a, const Entry& b) { return a.hash == b.hash; }),
              known.end());
}

template <class Entry>
std::optional<Part> find(const std::vector<Entry>& entries, std::uint64_t hash) {
  const auto found = std::lower_bound(entries.begin(), entries.end(), Entry{hash, Part::unseen});
  if (found == entries.end() || found->hash != hash) return std::nullopt;
  return found->part;
}

}  // namespace

std::uint64_t SeenSeries::hash(std::string_view kind, std::string_view name) const {
  return Hash().number(salt_).text(kind).text(name).value();
}

void SeenSeries::add(const Dataset& data, const Split& split, SplitBy by) {
  std::vector<Entry> series, groups;
  Split parts = split;
  for (const Part part : kRecorded)
    for (const std::size_t i : parts[part]) {
      series.push_back({hash("series", original_id(data.ids[i])), part});
      if (by == SplitBy::group && data.group_of[i] != Dataset::kNone)
        groups.push_back({hash("group", data.group_name(i)), part});
    }
  merge(series_, series);
  merge(groups_, groups);
}

Part SeenSeries::part_of(std::string_view id, std::string_view group) const {
  if (const auto part = find(series_, hash("series", original_id(id)))) return *part;
  if (group.empty() || groups_.empty()) return Part::unseen;
  return find(groups_, hash("group", group)).value_or(Part::unseen);
}

Split SeenSeries::split(const Dataset& data) const {
  Split parts;
  for (std::size_t i = 0; i < data.size(); ++i)
    parts[part_of(data.ids[i], data.group_name(i))].push_back(i);
  return parts;
}

std::size_t SeenSeries::count(Part part) const {
  return static_cast<std::size_t>(std::count_if(
      series_.begin(), series_.end(), [part](const Entry& entry) { return entry.part == part; }));
}

nlohmann::json to_json(const SeenSeries& seen) {
  const auto written = [](const std::vector<SeenSeries::Entry>& entries) {
    nlohmann::json parts = nlohmann::json::object();
    for (const Part part : kRecorded) {
      std::string text;
      for (const auto& entry : entries)
        if (entry.part == part) append_hex(text, entry.hash);
      parts[std::string(name_of(part))] = text;
    }
    return parts;
  };
  std::string salt;
  append_hex(salt, seen.salt_);
  return {{"salt", salt}, {"series", written(seen.series_)}, {"groups", written(seen.groups_)}};
}

SeenSeries seen_series_from_json(const nlohmann::json& json) {
  const auto salt = read_hex(json.at("salt").get<std::string>());
  if (salt.size() != 1) throw Error("the record of seen series has no salt");
  SeenSeries seen(salt.front());
  const auto read = [](const nlohmann::json& parts, std::vector<SeenSeries::Entry>& entries) {
    std::vector<SeenSeries::Entry> found;
    for (const Part part : kRecorded)
      for (const std::uint64_t hash :
           read_hex(parts.at(std::string(name_of(part))).get<std::string>()))
        found.push_back({hash, part});
    merge(entries, found);
  };
  read(json.at("series"), seen.series_);
  read(json.at("groups"), seen.groups_);
  return seen;
}

}  // namespace edict

// Ids, labels, groups and feature names of a CSV file, numbered as they appear.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "data/dataset.h"

namespace edict {

struct CsvTextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>{}(text);
  }
};

// Texts numbered in order of first appearance.
class CsvNames {
 public:
  std::int32_t index_of(std::string_view text) {
    if (const auto found = numbers_.find(text); found != numbers_.end())
      return last_ = found->second;
    last_ = static_cast<std::int32_t>(list_.size());
    list_.emplace_back(text);
    numbers_.emplace(list_.back(), last_);
    return last_;
  }
  std::int32_t last() const { return last_; }
  bool contains(std::string_view text) const { return numbers_.contains(text); }
  std::vector<std::string>& list() { return list_; }
  const std::vector<std::string>& list() const { return list_; }

  // Whether the cell at p is, byte for byte, the one that last() came from; mostly the row above
  // has the same id or label. Looks at 8 bytes at least and at none behind `end` + 8.
  bool repeats(const char* p, const char* end, char separator) const {
    const std::size_t length = above_.size();
    if (length == 0 || ((first_bytes(p) ^ above_bytes_) & above_mask_) != 0) return false;
    if (length >= static_cast<std::size_t>(end - p)) return false;
    if (length > 8 && std::memcmp(p, above_.data(), length) != 0) return false;
    return p[length] == separator || p[length] == '\n';
  }
  std::size_t repeated() const { return above_.size(); }
  void remember(std::string_view cell) {
    above_ = cell;
    above_mask_ =
        cell.size() >= 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * cell.size())) - 1;
    if (!cell.empty()) above_bytes_ = first_bytes(cell.data());
  }

 private:
  static std::uint64_t first_bytes(const char* p) {
    std::uint64_t bytes;
    std::memcpy(&bytes, p, 8);
    if constexpr (std::endian::native == std::endian::big) bytes = __builtin_bswap64(bytes);
    return bytes;
  }

  std::string_view above_;
  std::uint64_t above_bytes_ = 0, above_mask_ = 0;
  std::vector<std::string> list_;
  std::unordered_map<std::string, std::int32_t, CsvTextHash, std::equal_to<>> numbers_;
  std::int32_t last_ = -1;
};

// The usual ways to write that nothing is known.
inline constexpr std::array<std::string_view, 18> kUnknownWords{
    "",  "NA", "NaN", "nan", "NAN",  "NULL", "null", "None", "-",
    ".", "?",  "N/A", "n/a", "<NA>", "#N/A", "-nan", "--",   "\\N"};

// The place of the text among them; −1 where it says something.
inline int unknown_word(std::string_view text) {
  if (text.size() > 4) return -1;
  const auto found = std::find(kUnknownWords.begin(), kUnknownWords.end(), text);
  return found == kUnknownWords.end() ? -1 : static_cast<int>(found - kUnknownWords.begin());
}
inline bool spells_unknown(std::string_view text) { return unknown_word(text) >= 0; }

// How often each of them stands in a column.
struct UnknownWords {
  std::array<std::size_t, kUnknownWords.size()> cells{};

  void add(int word) { ++cells[static_cast<std::size_t>(word)]; }
  std::size_t count() const {  // without empty cells
    std::size_t count = 0;
    for (std::size_t w = 1; w < cells.size(); ++w) count += cells[w];
    return count;
  }
};

// Numbers may be written with a plus, which from_chars does not take.
inline std::string_view without_plus(std::string_view text) {
  if (text.size() > 1 && text.front() == '+' && text[1] != '-') text.remove_prefix(1);
  return text;
}

inline std::optional<double> finite_number(std::string_view text) {
  text = without_plus(text);
  double value;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value))
    return std::nullopt;
  return value;
}

// Sorts the names (by number if all are numbers) and renumbers their uses.
inline void sort_names(std::vector<std::string>& names, std::vector<std::int32_t>& uses) {
  std::vector<std::pair<double, std::size_t>> order;
  bool numbers = true;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto number = finite_number(names[i]);
    numbers &= number.has_value();
    order.emplace_back(number.value_or(0.0), i);
  }
  std::sort(order.begin(), order.end(), [&](const auto& a, const auto& b) {
    if (numbers && a.first != b.first) return a.first < b.first;
    return names[a.second] < names[b.second];
  });
  std::vector<std::int32_t> rank(names.size());
  std::vector<std::string> sorted;
  for (const auto& [number, i] : order) {
    rank[i] = static_cast<std::int32_t>(sorted.size());
    sorted.push_back(std::move(names[i]));
  }
  names = std::move(sorted);
  for (std::int32_t& use : uses)
    if (use != Dataset::kNone) use = rank[static_cast<std::size_t>(use)];
}

}  // namespace edict

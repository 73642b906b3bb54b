#include "edict/protocol/split.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <span>
#include <tuple>

#include "edict/core/error.h"
#include "edict/core/generator.h"

namespace edict {
namespace {

constexpr std::size_t kParts = 3;
using Shares = std::array<double, kParts>;
using Counts = std::array<std::size_t, kParts>;
using Parts = std::array<std::vector<std::size_t>, kParts>;

// Rounded down, but for an error of rounding: 0.7 · 10 is 7.
std::size_t whole_part(double quota) { return static_cast<std::size_t>(quota + 1e-9); }

// Largest remainder; then a part with a positive share that got nothing takes from the largest.
Counts part_sizes(std::size_t total, const Shares& shares) {
  Counts counts{};
  std::array<std::pair<double, std::size_t>, kParts> remainders;
  std::size_t left = total;
  for (std::size_t p = 0; p < kParts; ++p) {
    const double quota = shares[p] * static_cast<double>(total);
    counts[p] = std::min(left, whole_part(quota));
    left -= counts[p];
    remainders[p] = {static_cast<double>(counts[p]) - quota, p};
  }
  std::sort(remainders.begin(), remainders.end());
  for (std::size_t r = 0; left > 0; --left, r = (r + 1) % kParts) ++counts[remainders[r].second];
  for (std::size_t p = 0; p < kParts; ++p) {
    if (shares[p] <= 0.0 || counts[p] > 0) continue;
    --*std::max_element(counts.begin(), counts.end());
    ++counts[p];
  }
  return counts;
}

// Rounds the shares of every stratum so that strata and parts both keep their exact sizes: all are
// rounded down, then single series are handed out by largest remainder. Where the parts that a
// stratum could still take from are full, another stratum gives way to it if it can go elsewhere
// (augmenting paths), so that a count is its share rounded down or up.
class StrataSizes {
 public:
  StrataSizes(const std::vector<std::vector<std::size_t>>& strata, const Shares& shares,
              const Counts& sizes)
      : counts_(strata.size()), raised_(strata.size()), wishes_(strata.size()), room_(sizes) {
    std::vector<std::size_t> left;
    std::vector<std::tuple<double, std::size_t, std::size_t>> cells;  // (−remainder, stratum, part)
    for (std::size_t s = 0; s < strata.size(); ++s) {
      left.push_back(strata[s].size());
      std::array<std::pair<double, std::size_t>, kParts> order;
      for (std::size_t p = 0; p < kParts; ++p) {
        const double quota = shares[p] * static_cast<double>(strata[s].size());
        counts_[s][p] = std::min({whole_part(quota), room_[p], left[s]});
        left[s] -= counts_[s][p];
        room_[p] -= counts_[s][p];
        order[p] = {static_cast<double>(counts_[s][p]) - quota, p};
        cells.emplace_back(order[p].first, s, p);
      }
      std::sort(order.begin(), order.end());
      for (std::size_t k = 0; k < kParts; ++k) wishes_[s][k] = order[k].second;
    }
    std::sort(cells.begin(), cells.end());
    for (const auto& [remainder, s, p] : cells)
      if (left[s] > 0 && room_[p] > 0) raise(s, p), --left[s];
    for (std::size_t s = 0; s < strata.size(); ++s)
      for (; left[s] > 0; --left[s])
        if (std::array<bool, kParts> tried{}; !place(s, tried)) take_any(s);
  }

  const Counts& operator[](std::size_t stratum) const { return counts_[stratum]; }

 private:
  void raise(std::size_t s, std::size_t p) {
    ++counts_[s][p];
    raised_[s][p] = true;
    --room_[p];
  }

  bool place(std::size_t s, std::array<bool, kParts>& tried) {
    for (const std::size_t p : wishes_[s]) {
      if (raised_[s][p] || tried[p]) continue;
      tried[p] = true;
      if (room_[p] == 0) {
        std::size_t other = 0;
        while (other < raised_.size() && !(raised_[other][p] && place(other, tried))) ++other;
        if (other == raised_.size()) continue;
        --counts_[other][p];
        raised_[other][p] = false;
        ++room_[p];
      }
      raise(s, p);
      return true;
    }
    return false;
  }

  // Only where the parts are too small for rounding alone, as with three series.
  void take_any(std::size_t s) {
    raise(s,
          static_cast<std::size_t>(std::max_element(room_.begin(), room_.end()) - room_.begin()));
  }

  std::vector<Counts> counts_;
  std::vector<std::array<bool, kParts>> raised_;
  std::vector<Counts> wishes_;  // parts of a stratum by falling remainder
  Counts room_;
};

Parts split_by_label(const Dataset& dataset, Generator& rng, const Shares& shares) {
  // One stratum a class, and the last for series without label.
  std::vector<std::vector<std::size_t>> strata(dataset.classes.size() + 1);
  for (std::size_t i = 0; i < dataset.size(); ++i) {
    const std::int32_t label = dataset.labels[i];
    strata[label == Dataset::kNone ? strata.size() - 1 : static_cast<std::size_t>(label)].push_back(
        i);
  }
  const StrataSizes counts(strata, shares, part_sizes(dataset.size(), shares));
  Parts parts;
  for (std::size_t s = 0; s < strata.size(); ++s) {
    rng.shuffle(std::span(strata[s]));
    auto next = strata[s].begin();
    for (std::size_t p = 0; p < kParts; ++p) {
      const auto end = next + static_cast<std::ptrdiff_t>(counts[s][p]);
      parts[p].insert(parts[p].end(), next, end);
      next = end;
    }
  }
  return parts;
}

// Groups in random order, each to the part that lacks most.
Parts split_by_group(const Dataset& dataset, Generator& rng, const Shares& shares) {
  std::vector<std::vector<std::size_t>> groups(dataset.groups.size());
  for (std::size_t i = 0; i < dataset.size(); ++i) {
    if (const std::int32_t group = dataset.group_of[i]; group != Dataset::kNone)
      groups[static_cast<std::size_t>(group)].push_back(i);
    else
      groups.push_back({i});
  }
  std::erase_if(groups, [](const auto& group) { return group.empty(); });
  const auto needed = static_cast<std::size_t>(
      std::count_if(shares.begin(), shares.end(), [](double s) { return s > 0; }));
  if (groups.size() < needed)
    throw Error(
        fmt::format("split by group: {} groups cannot fill {} parts; split by label or add "
                    "groups",
                    groups.size(), needed));
  rng.shuffle(std::span(groups));
  Parts parts;
  Counts filled{};  // groups in each part
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const auto empty = needed - static_cast<std::size_t>(std::count_if(
                                    filled.begin(), filled.end(), [](auto n) { return n > 0; }));
    const bool last_chance = groups.size() - g <= empty;  // the rest must fill the empty parts
    std::size_t best = kParts;
    double most = 0.0;
    for (std::size_t p = 0; p < kParts; ++p) {
      if (shares[p] <= 0.0 || (last_chance && filled[p] > 0)) continue;
      const double lack =
          shares[p] * static_cast<double>(dataset.size()) - static_cast<double>(parts[p].size());
      if (best == kParts || lack > most) best = p, most = lack;
    }
    parts[best].insert(parts[best].end(), groups[g].begin(), groups[g].end());
    ++filled[best];
  }
  return parts;
}

}  // namespace

Split split(const Dataset& dataset, std::uint64_t seed, double train, double validation,
            SplitBy by) {
  if (!(train > 0.0) || !(validation >= 0.0) || !(train + validation <= 1.0 + 1e-12))
    throw Error(
        fmt::format("split: shares {} and {} must be positive and at most 1 together; give "
                    "others",
                    train, validation));
  if (dataset.size() < kParts)
    throw Error(
        fmt::format("split: {} series cannot make three parts; give at least 3", dataset.size()));
  if (by == SplitBy::group && dataset.groups.empty())
    throw Error("split by group: the data has no groups; add a 'group' column or split by label");

  const double test = 1.0 - train - validation;
  const Shares shares{train, validation, test > 1e-12 ? test : 0.0};
  Generator rng(seed, "split");
  Parts parts = by == SplitBy::label ? split_by_label(dataset, rng, shares)
                                     : split_by_group(dataset, rng, shares);
  for (auto& part : parts) std::sort(part.begin(), part.end());
  return {std::move(parts[0]), std::move(parts[1]), std::move(parts[2])};
}

}  // namespace edict

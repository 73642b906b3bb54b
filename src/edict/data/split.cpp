#include "edict/data/split.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <span>
#include <tuple>

#include "edict/core/error.h"
#include "edict/core/rng.h"

namespace edict {
namespace {

constexpr std::size_t kParts = 3;
using Shares = std::array<double, kParts>;
using Counts = std::array<std::size_t, kParts>;
using Parts = std::array<std::vector<std::size_t>, kParts>;

// Largest remainder; then a part with a positive share that got nothing takes from the largest.
Counts part_sizes(std::size_t total, const Shares& shares) {
  Counts counts{};
  std::array<std::pair<double, std::size_t>, kParts> remainders;
  std::size_t left = total;
  for (std::size_t p = 0; p < kParts; ++p) {
    const double quota = shares[p] * static_cast<double>(total);
    counts[p] = std::min(left, static_cast<std::size_t>(quota));
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

// Rounds the quota of every stratum so that both the strata and the parts have their exact sizes:
// all quotas rounded down, then one more where the remainder is largest and both sides have room.
std::vector<Counts> strata_sizes(const std::vector<std::vector<std::size_t>>& strata,
                                 const Counts& sizes, std::size_t total) {
  std::vector<Counts> counts(strata.size());
  std::vector<std::size_t> stratum_left(strata.size());
  Counts part_left = sizes;
  std::vector<std::tuple<double, std::size_t, std::size_t>> remainders;
  for (std::size_t s = 0; s < strata.size(); ++s) {
    stratum_left[s] = strata[s].size();
    for (std::size_t p = 0; p < kParts; ++p) {
      // In whole numbers: size · part / total has no rounding error to be cut off.
      const std::size_t product = strata[s].size() * sizes[p];
      counts[s][p] = product / total;
      stratum_left[s] -= counts[s][p];
      part_left[p] -= counts[s][p];
      remainders.emplace_back(-static_cast<double>(product % total), s, p);
    }
  }
  std::sort(remainders.begin(), remainders.end());
  // The second round settles what the first cannot, where a cell needs two.
  for (int round = 0; round < 2; ++round)
    for (const auto& [remainder, s, p] : remainders) {
      const std::size_t most = round == 0 ? 1 : total;
      const std::size_t more = std::min({stratum_left[s], part_left[p], most});
      counts[s][p] += more;
      stratum_left[s] -= more;
      part_left[p] -= more;
    }
  return counts;
}

Parts split_by_label(const Dataset& dataset, Rng& rng, const Shares& shares) {
  // One stratum a class, and the last for series without label.
  std::vector<std::vector<std::size_t>> strata(dataset.classes.size() + 1);
  for (std::size_t i = 0; i < dataset.size(); ++i) {
    const std::int32_t label = dataset.labels[i];
    strata[label == Dataset::kNone ? strata.size() - 1 : static_cast<std::size_t>(label)].push_back(
        i);
  }
  const auto counts = strata_sizes(strata, part_sizes(dataset.size(), shares), dataset.size());
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
Parts split_by_group(const Dataset& dataset, Rng& rng, const Shares& shares) {
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
    const auto empty = static_cast<std::size_t>(
        std::count_if(shares.begin(), shares.end(), [](double s) { return s > 0; }) -
        std::count_if(filled.begin(), filled.end(), [](std::size_t n) { return n > 0; }));
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
  Rng rng(seed);
  Parts parts = by == SplitBy::label ? split_by_label(dataset, rng, shares)
                                     : split_by_group(dataset, rng, shares);
  for (auto& part : parts) std::sort(part.begin(), part.end());
  return {std::move(parts[0]), std::move(parts[1]), std::move(parts[2])};
}

}  // namespace edict

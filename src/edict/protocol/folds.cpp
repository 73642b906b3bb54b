#include "edict/protocol/folds.h"

#include <fmt/core.h>

#include <algorithm>

#include "edict/core/error.h"
#include "edict/core/generator.h"

namespace edict {
namespace {

// A number in [0, 1) that belongs to the key of a series.
double place(const Dataset& data, std::size_t i, const DataSettings& settings,
             std::string_view purpose) {
  const bool whole_group =
      split_by(settings) == SplitBy::group && data.group_of[i] != Dataset::kNone;
  const auto seed = static_cast<std::uint64_t>(settings.seed);
  return whole_group
             ? Generator(seed, fmt::format("{} of groups", purpose), hash_of(data.group_name(i)))
                   .uniform()
             : Generator(seed, purpose, hash_of(data.ids[i])).uniform();
}

}  // namespace

std::vector<Split> cross_validation_splits(const Dataset& data, const DataSettings& settings,
                                           std::size_t folds) {
  if (folds < 2) throw Error("a cross-validation needs at least two folds");
  const Split parts = split(data, settings);
  std::vector<std::size_t> series = parts.train;
  series.insert(series.end(), parts.validation.begin(), parts.validation.end());
  std::sort(series.begin(), series.end());
  const double choosing = settings.validation / (settings.train + settings.validation);
  std::vector<Split> splits(folds);
  for (const std::size_t i : series) {
    const auto own = std::min(folds - 1, static_cast<std::size_t>(place(data, i, settings, "fold") *
                                                                  static_cast<double>(folds)));
    const bool chooses = place(data, i, settings, "choice within folds") < choosing;
    for (std::size_t f = 0; f < folds; ++f)
      splits[f][f == own ? Part::test : chooses ? Part::validation : Part::train].push_back(i);
  }
  for (std::size_t f = 0; f < folds; ++f) {
    const Split& own = splits[f];
    const char* const missing = own.train.empty()        ? "train on"
                                : own.validation.empty() ? "choose the epoch by"
                                : own.test.empty()       ? "judge"
                                                         : nullptr;
    if (missing)
      throw Error(
          fmt::format("fold {} of {} has no series to {}: {} series are too few, or data.seed = {} "
                      "is unlucky; give fewer folds, another data.seed or more series",
                      f + 1, folds, missing, series.size(), settings.seed));
  }
  return splits;
}

}  // namespace edict

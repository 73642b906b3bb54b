#include "protocol/folds.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/error.h"

namespace edict {
std::vector<Split> cross_validation_splits(const Dataset& data, const DataSettings& settings,
                                           std::size_t folds) {
  if (folds < 2) throw Error("a cross-validation needs at least two folds");
  const Split parts = split(data, settings);
  std::vector<std::size_t> series = parts.train;
  series.insert(series.end(), parts.validation.begin(), parts.validation.end());
  std::sort(series.begin(), series.end());
  const double choosing = settings.validation / (settings.train + settings.validation);
  const auto places = [&](std::string_view purpose) {
    return draw_places(data, series, static_cast<std::uint64_t>(settings.seed), settings.split,
                       purpose);
  };
  const std::vector<double> fold = places("fold"), choice = places("choice within folds");
  std::vector<Split> splits(folds);
  for (std::size_t k = 0; k < series.size(); ++k) {
    const auto own =
        std::min(folds - 1, static_cast<std::size_t>(fold[k] * static_cast<double>(folds)));
    for (std::size_t f = 0; f < folds; ++f)
      splits[f][f == own               ? Part::test
                : choice[k] < choosing ? Part::validation
                                       : Part::train]
          .push_back(series[k]);
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

#include "protocol/holdout.h"

#include <fmt/core.h>

#include "base/error.h"
#include "base/generator.h"

namespace edict {

Holdout draw_holdout(const Dataset& dataset, double t_cut, double fraction, std::uint64_t seed) {
  Holdout held;
  held.reserve(dataset.observations());
  for (std::size_t i = 0; i < dataset.size(); ++i) {
    const Holdout own = draw_holdout(dataset, i, t_cut, fraction, seed);
    held.insert(held.end(), own.begin(), own.end());
  }
  return held;
}

Holdout draw_holdout(const Dataset& dataset, std::size_t series, double t_cut, double fraction,
                     std::uint64_t seed) {
  if (!(fraction >= 0.0 && fraction <= 1.0))
    throw Error(fmt::format("holdout: {} is not a share; give one from 0 to 1", fraction));
  const std::size_t first = dataset.first_event[series], last = dataset.first_event[series + 1];
  const std::size_t from = dataset.first_observation[first];
  Holdout held(dataset.first_observation[last] - from, 0);
  Generator rng(seed, "holdout", hash_of(dataset.ids[series]));
  for (std::size_t e = first; e < last && dataset.times[e] < t_cut; ++e)
    for (std::size_t o = dataset.first_observation[e]; o < dataset.first_observation[e + 1]; ++o)
      held[o - from] = rng.uniform() < fraction ? 1 : 0;
  return held;
}

}  // namespace edict

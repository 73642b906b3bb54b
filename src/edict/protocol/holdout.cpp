#include "edict/protocol/holdout.h"

#include <fmt/core.h>

#include "edict/core/error.h"
#include "edict/core/generator.h"

namespace edict {

Holdout draw_holdout(const Dataset& dataset, double t_cut, double fraction, std::uint64_t seed) {
  if (!(fraction >= 0.0 && fraction <= 1.0))
    throw Error(fmt::format("holdout: {} is not a share; give one from 0 to 1", fraction));
  Holdout held(dataset.observations(), 0);
  for (std::size_t i = 0; i < dataset.size(); ++i) {
    Generator rng(seed, "holdout", hash_of(dataset.ids[i]));
    for (std::size_t e = dataset.first_event[i];
         e < dataset.first_event[i + 1] && dataset.times[e] < t_cut; ++e)
      for (std::size_t o = dataset.first_observation[e]; o < dataset.first_observation[e + 1]; ++o)
        held[o] = rng.uniform() < fraction ? 1 : 0;
  }
  return held;
}

}  // namespace edict

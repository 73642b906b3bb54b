// Small timelines of every shape a series can have, for the gradient and batching tests.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "base/generator.h"
#include "model/config.h"
#include "model/registry.h"
#include "protocol/timeline.h"

namespace edict {

inline constexpr double kForever = std::numeric_limits<double>::infinity();

template <class S>
Timeline<S> random_timeline(Generator& rng, Index features, int events, double gap,
                            double observed_share) {
  constexpr auto kLearn = Timeline<S>::kAbsorb | Timeline<S>::kScore;
  Timeline<S> timeline;
  timeline.id = "s";
  timeline.covariates = {static_cast<S>(rng.normal()), static_cast<S>(rng.normal())};
  double t = 0;
  for (int e = 0; e < events; ++e) {
    t += gap * rng.uniform(0.2, 1.8);
    timeline.stop(t, kLearn);
    for (Index j = 0; j < features; ++j)
      if (rng.uniform() < observed_share)
        timeline.observe(static_cast<std::int32_t>(j), static_cast<S>(rng.normal()));
    if (timeline.stops.back().count == 0)
      timeline.observe(static_cast<std::int32_t>(rng.below(features)),
                       static_cast<S>(rng.normal()));
  }
  return timeline;
}

}  // namespace edict

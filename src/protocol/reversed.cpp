#include "protocol/reversed.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/error.h"

namespace edict {

Timeline<float> reversed(const Timeline<float>& timeline) {
  Timeline<float> result{timeline.id, timeline.unit, 0.0, {}, {}, {}, timeline.covariates};
  auto stop = std::find_if(
      timeline.stops.rbegin(), timeline.stops.rend(),
      [](const Timeline<float>::Stop& s) { return (s.what & Timeline<float>::kAbsorb) != 0; });
  if (stop == timeline.stops.rend()) return result;
  for (const double end = stop->time; stop != timeline.stops.rend(); ++stop) {
    if ((stop->what & Timeline<float>::kAbsorb) && (stop->what & Timeline<float>::kQuery))
      throw Error(fmt::format("series {}: a stop that absorbs and asks at once cannot be reversed",
                              timeline.id));
    result.stop(end - stop->time, stop->what);
    for (std::uint32_t k = stop->first; k < stop->first + stop->count; ++k)
      result.observe(timeline.feature[k], timeline.value[k]);
  }
  return result;
}

}  // namespace edict

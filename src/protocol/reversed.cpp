#include "protocol/reversed.h"

#include <algorithm>

namespace edict {

Timeline<float> reversed(const Timeline<float>& timeline) {
  Timeline<float> result{timeline.id, timeline.unit, 0.0, {}, {}, {}, timeline.covariates};
  auto stop = std::find_if(
      timeline.stops.rbegin(), timeline.stops.rend(),
      [](const Timeline<float>::Stop& s) { return (s.what & Timeline<float>::kAbsorb) != 0; });
  if (stop == timeline.stops.rend()) return result;
  // Nothing lies behind the first stop of the reverse that could answer a query.
  auto kept = static_cast<std::uint8_t>(~Timeline<float>::kQuery);
  for (const double end = stop->time; stop != timeline.stops.rend(); ++stop) {
    result.stop(end - stop->time, stop->what & kept);
    kept = 0xff;
    for (std::uint32_t k = stop->first; k < stop->first + stop->count; ++k)
      result.observe(timeline.feature[k], timeline.value[k]);
  }
  return result;
}

}  // namespace edict

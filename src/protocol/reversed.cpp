#include "protocol/reversed.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/error.h"

namespace edict {

Agenda<float> reversed(const Agenda<float>& agenda) {
  Agenda<float> result{agenda.id, agenda.unit, 0.0, {}, {}, {}, agenda.covariates};
  auto stop = std::find_if(
      agenda.stops.rbegin(), agenda.stops.rend(),
      [](const Agenda<float>::Stop& s) { return (s.what & Agenda<float>::kAbsorb) != 0; });
  if (stop == agenda.stops.rend()) return result;
  for (const double end = stop->time; stop != agenda.stops.rend(); ++stop) {
    if ((stop->what & Agenda<float>::kAbsorb) && (stop->what & Agenda<float>::kQuery))
      throw Error(fmt::format("series {}: a stop that absorbs and asks at once cannot be reversed",
                              agenda.id));
    result.stop(end - stop->time, stop->what);
    for (std::uint32_t k = stop->first; k < stop->first + stop->count; ++k)
      result.observe(agenda.feature[k], agenda.value[k]);
  }
  return result;
}

}  // namespace edict

#include "data/fingerprint.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/hash.h"

namespace edict {

std::uint64_t fingerprint(const Dataset& data) {
  Hash hash;
  for (const std::vector<std::string>* names :
       {&data.features, &data.statics, &data.classes, &data.groups, &data.ids}) {
    hash.number(std::uint64_t{names->size()});
    for (const std::string& name : *names) hash.text(name);
  }
  const auto add = [&hash](const auto& array) { hash.numbers(std::span(array)); };
  add(data.labels);
  add(data.group_of);
  add(data.static_values);
  add(data.first_event);
  add(data.times);
  add(data.first_observation);
  add(data.feature);
  add(data.value);
  // The same numbers are other times where they are counted from elsewhere. (How a date was spelled
  // and which columns it came from changes nothing that is computed.)
  const TimeAxis& axis = data.time_axis;
  const bool plain =
      !axis.is_calendar() && axis.unit == TimeUnit::none && !axis.from_first && axis.epoch == 0;
  if (data.events() > 0 && !plain) {
    hash.number(static_cast<std::uint8_t>(axis.kind)).number(static_cast<std::uint8_t>(axis.unit));
    hash.number(axis.from_first).number(axis.epoch);
    add(axis.origin);
  }
  return hash.value();
}

}  // namespace edict

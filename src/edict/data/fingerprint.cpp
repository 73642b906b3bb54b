#include "edict/data/fingerprint.h"

#include <span>
#include <string>
#include <vector>

#include "edict/core/hash.h"

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
  return hash.value();
}

}  // namespace edict

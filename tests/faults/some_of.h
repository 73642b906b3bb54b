// Of what can be disturbed: all with scripts/faults, some with ./test.
#pragma once

#include <cstdlib>
#include <vector>

namespace edict {

// Whether everything is tried and not a part of it, as scripts/faults asks for.
inline bool everything() { return std::getenv("EDICT_EVERY_FAULT") != nullptr; }

// All of them, or some: the first, the last, and what lies evenly between.
template <class T>
std::vector<T> some_of(const std::vector<T>& all, std::size_t most) {
  if (everything() || all.size() <= most) return all;
  std::vector<T> some;
  for (std::size_t i = 0; i < most; ++i) some.push_back(all[i * (all.size() - 1) / (most - 1)]);
  return some;
}

}  // namespace edict

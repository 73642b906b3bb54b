// What a guard changed, in the data's units.
#pragma once

#include <span>
#include <vector>

#include "model/model.h"

namespace edict {

// An observation that a guard changed; values in the data's units.
struct Clip {
  std::size_t observation;  // in the dataset's arrays
  double time;
  std::size_t feature;
  double raw, used;
  double sigmas;  // how far it was from what was expected
};

// `clipped` is the answer to a timeline that absorbs every event of the series.
std::vector<Clip> clips_of(const Model& model, const Dataset& data, std::size_t series,
                           const Timeline<float>& timeline, std::span<const Clipped> clipped);

}  // namespace edict

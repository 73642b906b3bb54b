// Finds a model's calibration (model/calibration.h) on series that its weights were not trained on.
//
// Half of the series, by a hash of their ids, fit the maps; the other half counts how far
// observations lie from what the maps make of them, which is what conformal intervals promise by:
// a promise that leans on the series by which the maps were chosen would not hold. (Nor does it
// strictly for the validation split, which also chose the epoch that was kept; calibrate on new
// series where that matters.) Of few series all fit the maps, and nothing is promised. Under
// data.split=group groups take the place of series.
//
// Observations of one series err together, and so do those of windows of a long series that
// overlap: what counts as evidence for a map is the number of series, or of windows that do not
// overlap.
//
// A map is the one under which the observations are likeliest, held a little by what fits all
// features together, which is also what a feature gets that was never observed. Which features err
// together is found by the same half, after the maps.
#pragma once

#include <span>
#include <vector>

#include "base/threads/thread_pool.h"
#include "learn/training_set.h"
#include "model/model.h"

namespace edict {

struct CalibrationHalves {
  std::vector<std::size_t> fit, promise;         // places among the timelines
  std::vector<std::size_t> unit_of;              // of each timeline, its series or group
  std::vector<std::size_t> window_of;            // of each timeline; the same of those that overlap
  std::size_t fit_units = 0, promise_units = 0;  // how many of them
};
CalibrationHalves calibration_halves(const Timelines& timelines);

// From the observations of the timelines' queries; empty where they are too few to tell.
Calibration fit_calibration(const Model& model, const Timelines& timelines, ThreadPool& pool,
                            StopFlag stop = nullptr);

// The calibration that train.calibrate asks for, and after it the fusion of a model that looks from
// both sides, on these series of the validation split. Throws Interrupted when `stop` is set.
void calibrate_trained(Model& model, const Dataset& data, std::span<const std::size_t> validation,
                       ThreadPool& pool, StopFlag stop = nullptr);

}  // namespace edict

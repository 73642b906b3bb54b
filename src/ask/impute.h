// A table without holes: what was observed, and the model's expectation where nothing was.
//
// A cell is filled from what was seen of its series up to its moment, the other cells of the same
// moment included; and, from both sides, from what came later too. Then the pass from the end knows
// the other cells of the moment and the pass from the start does not, as in the timelines that
// learn/posthoc/fuse.h fits and `evaluate` judges: how much each side counts depends on it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/threads/interrupted.h"
#include "base/threads/thread_pool.h"
#include "model/infer.h"

namespace edict {

// times × features, row by row, in the data's units.
struct ImputedSeries {
  std::size_t series = 0;
  std::size_t features = 0;
  std::vector<double> times;
  std::vector<double> value;
  std::vector<double> deviation;       // predictive, of a filled cell; 0 where it was observed
  std::vector<std::uint8_t> observed;  // 1 where the value stands in the data

  std::size_t cell(std::size_t time, std::size_t feature) const {
    return time * features + feature;
  }
};

struct ImputeRequest {
  std::vector<double> grid = {};  // ascending; empty: the times at which the series has events
  // The same series with columns that the model does not know, whose events count too; null: the
  // data themselves.
  const Dataset* table = nullptr;
  // The times of a series, ascending, where each has its own; then `grid` and `table` are not read.
  // What lies before the start of the series' clock, be it −∞, is filled as if at the start, before
  // anything was observed.
  std::function<std::vector<double>(std::size_t series)> own_times = {};
  Sides sides = Sides::past;
  Guard guard = {};
  StopFlag stop = nullptr;
};

// Of the listed series. Throws Error where both sides are asked of a model that has one.
std::vector<ImputedSeries> impute(const Model& model, const Dataset& data,
                                  const ImputeRequest& request, std::span<const std::size_t> series,
                                  ThreadPool& pool);

}  // namespace edict

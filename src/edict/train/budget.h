// How many epochs fit into a given time.
//
// A cosine has to know its end before it begins, so that the cost of an epoch is measured first, on
// a copy of the model and a share of the series. What is measured decides about nothing but the
// number of epochs: that number stands in the model's settings, and with it the run can be repeated
// to the bit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>

#include "edict/core/interrupted.h"
#include "edict/core/thread_pool.h"
#include "edict/model/model.h"

namespace edict {

// Seconds that an epoch takes: training, validation and, unless `out` is empty, the files beside
// it. Throws Interrupted when `stop` is set.
double measure_epoch(const Model& model, const Dataset& data, const Split& split, ThreadPool& pool,
                     const std::filesystem::path& out = {}, StopFlag stop = nullptr);

// Epochs for which `seconds` probably suffice on a machine that may become busier, at most `most`;
// 0 where not even one does.
std::int64_t epochs_within(double seconds, double epoch_seconds, std::int64_t most);

struct Budget {
  double seconds = 0;  // that are left
  std::size_t members = 1;
  std::filesystem::path out = {};  // of the model or the ensemble; empty: it stays in memory
  bool resume = false;             // a run whose checkpoint is there keeps the epochs it began with
  // Whether the number was chosen for the data, and not asked for. Epochs that were asked for are
  // the most there will be; those that were chosen may become three times as many.
  bool epochs_are_free = false, patience_is_free = false;
};

struct BudgetedEpochs {
  double epoch_seconds = 0;  // 0 where nothing was measured, since a run goes on
  std::int64_t wished = 0, epochs = 0;
};

// The epochs that there is time for, into the model's settings. Throws Error where there is no time
// for one, Interrupted when `stop` is set.
BudgetedEpochs fit_to_budget(Model& model, const Dataset& data, const Split& split,
                             ThreadPool& pool, const Budget& budget, StopFlag stop = nullptr);

}  // namespace edict

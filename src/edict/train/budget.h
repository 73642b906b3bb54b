// How many epochs fit into a given time.
//
// A cosine has to know its end before it begins, so that the cost of an epoch is measured first, on
// a copy of the model and a share of the series. What is measured decides about nothing but the
// number of epochs: that number stands in the model's settings, and with it the run can be repeated
// to the bit.
#pragma once

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

}  // namespace edict

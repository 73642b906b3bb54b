// Series as states: h(T), what a classifier reads.
#pragma once

#include <span>

#include "base/threads/thread_pool.h"
#include "model/model.h"

namespace edict {

struct Encoding {
  Matrix<float> states;  // H × series, in the order asked for; an ensemble's members stacked
  std::size_t observations = 0;
  std::size_t clipped = 0;  // of these, by the guard
};

// Absorbs everything of the listed series and goes on to T (see encoding_timeline). Throws Error
// for data that are not the model's, and for a model that has no state to read; Interrupted when
// `stop` is set.
Encoding encode(const Model& model, const Dataset& data, std::span<const std::size_t> series,
                ThreadPool& pool, const Guard& guard = {}, StopFlag stop = nullptr);

}  // namespace edict

// The gradient of a batch: the one place where the work of a training step is shared out and its
// results are added up. Threads take chunks of the batch, and the chunks' gradients are added in
// order. Chunks depend on the batch alone, each has a buffer of its own, and floating-point
// addition is not associative but is repeatable: the same bits for any number of threads, and of
// processes where the pool has others (base/threads/ranks.h).
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/threads/ranks.h"
#include "base/threads/thread_pool.h"
#include "engine/network.h"

namespace edict {

class GradientSum {
 public:
  GradientSum(const Network& network, std::size_t chunk, ThreadPool& pool);

  // Writes the sum of the examples' gradients to `grads` and returns the sums of their losses. The
  // batch is never empty, and its order is part of the request: the sum has the same bits for the
  // same examples in the same order. May throw Interrupted.
  LossSums batch(const Vector<float>& params, std::span<const Example> examples,
                 const LossWeights& weights, Vector<float>& grads);
  // Where the last gradient is not finite: what of this process was the first not to be, if known.
  std::string failure() const;

 private:
  void add_among(Ranks& ranks, std::vector<LossSums>& sums, Index parameters, Vector<float>& grads);

  std::size_t chunk_;
  ThreadPool& pool_;
  std::vector<std::unique_ptr<Worker>> workers_;  // one a thread
  std::vector<Vector<float>> chunk_grads_;        // kept from batch to batch
  std::vector<std::string> failures_;             // of the chunks; empty where there was none
};

}  // namespace edict

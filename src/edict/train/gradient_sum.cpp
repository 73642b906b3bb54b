#include "edict/train/gradient_sum.h"

#include <algorithm>

namespace edict {

ChunkedGradientSum::ChunkedGradientSum(const Network& network, std::size_t chunk, ThreadPool& pool)
    : chunk_(chunk), pool_(pool) {
  for (std::size_t i = 0; i < pool.size(); ++i) workers_.push_back(network.worker());
}

LossSums ChunkedGradientSum::batch(const Vector<float>& params, std::span<const Example> examples,
                                   const LossWeights& weights, Vector<float>& grads) {
  const std::size_t chunks = (examples.size() + chunk_ - 1) / chunk_;
  if (chunk_grads_.size() < chunks) chunk_grads_.resize(chunks);
  std::vector<LossSums> sums(chunks);
  pool_.for_each(chunks, [&](std::size_t c, std::size_t worker) {
    chunk_grads_[c].setZero(params.size());
    const std::size_t first = c * chunk_, count = std::min(chunk_, examples.size() - first);
    sums[c] = workers_[worker]->learn(params.data(), examples.subspan(first, count), weights,
                                      chunk_grads_[c].data());
  });
  grads = chunk_grads_[0];
  for (std::size_t c = 1; c < chunks; ++c) grads += chunk_grads_[c];
  LossSums total;
  for (const LossSums& s : sums) total += s;
  return total;
}

}  // namespace edict

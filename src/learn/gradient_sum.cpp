#include "learn/gradient_sum.h"

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "base/files/byte_stream.h"
#include "base/threads/share_chunks.h"

namespace edict {

GradientSum::GradientSum(const Network& network, std::size_t chunk, ThreadPool& pool)
    : chunk_(chunk), pool_(pool) {
  for (std::size_t i = 0; i < pool.size(); ++i) workers_.push_back(network.worker());
}

LossSums GradientSum::batch(const Vector<float>& params, std::span<const Example> examples,
                            const LossWeights& weights, Vector<float>& grads) {
  const std::size_t chunks = (examples.size() + chunk_ - 1) / chunk_;
  if (chunk_grads_.size() < chunks) chunk_grads_.resize(chunks);
  std::vector<LossSums> sums(chunks);
  failures_.assign(chunks, {});
  const auto compute = [&](std::size_t c, std::size_t worker) {
    chunk_grads_[c].setZero(params.size());
    const std::size_t first = c * chunk_, count = std::min(chunk_, examples.size() - first);
    try {
      sums[c] = workers_[worker]->learn(params.data(), examples.subspan(first, count), weights,
                                        chunk_grads_[c].data());
    } catch (const NotFinite& e) {  // the batch's gradient is to show it, in every process
      failures_[c] = e.what();
      chunk_grads_[c].setConstant(std::numeric_limits<float>::quiet_NaN());
    }
  };
  if (Ranks* const ranks = pool_.ranks(); ranks && ranks->size() > 1) {
    share_chunks(*ranks, chunks, pool_, weights.stop, compute);
    add_among(*ranks, sums, params.size(), grads);
  } else {
    pool_.for_each(chunks, compute);
    grads = chunk_grads_[0];
    for (std::size_t c = 1; c < chunks; ++c) grads += chunk_grads_[c];
  }
  LossSums total;
  for (const LossSums& s : sums) total += s;
  return total;
}

std::string GradientSum::failure() const {
  for (const std::string& own : failures_)
    if (!own.empty()) return own;
  return {};
}

// The parameters are cut into as many segments as there are processes. Each process gets its
// segment of every chunk, adds them in the order of the chunks, and tells the others the sum.
void GradientSum::add_among(Ranks& ranks, std::vector<LossSums>& sums, Index parameters,
                            Vector<float>& grads) {
  const std::size_t size = ranks.size(), chunks = sums.size();
  const auto begin_of = [&](std::size_t r) {
    return static_cast<std::size_t>(parameters) * r / size;
  };
  const auto segment = [&](const float* from, std::size_t r) {
    return std::span<const float>(from + begin_of(r), begin_of(r + 1) - begin_of(r));
  };
  std::vector<Ranks::Bytes> to(size);
  for (std::size_t r = 0; r < size; ++r) {
    ByteWriter writer;
    for (std::size_t c = ranks.rank(); c < chunks; c += size) {
      writer.put(sums[c]);
      writer.put(segment(chunk_grads_[c].data(), r));
    }
    to[r] = std::move(writer.bytes());
  }
  const std::vector<Ranks::Bytes> from = ranks.exchange(to);
  const std::size_t own = begin_of(ranks.rank() + 1) - begin_of(ranks.rank());
  std::vector<ByteReader> readers(from.begin(), from.end());
  Vector<float> sum(static_cast<Index>(own)), term(static_cast<Index>(own));
  for (std::size_t c = 0; c < chunks; ++c) {
    ByteReader& reader = readers[c % size];
    reader.get(sums[c]);
    reader.get(std::span<float>(term.data(), own));
    if (c == 0)
      sum = term;
    else
      sum += term;
  }
  const std::vector<Ranks::Bytes> segments =
      ranks.gather(std::as_bytes(std::span<const float>(sum.data(), own)));
  grads.resize(parameters);
  for (std::size_t r = 0; r < size; ++r)
    ByteReader(segments[r])
        .get(std::span<float>(grads.data() + begin_of(r), begin_of(r + 1) - begin_of(r)));
}

}  // namespace edict

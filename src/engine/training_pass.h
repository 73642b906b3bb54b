// Training: the engine forward, and back through its tape. When the tape outgrows its budget only
// the states at the segment borders are kept, and each segment is computed again before its
// backward, so that memory is bounded whatever the length of a series.
#pragma once

#include <functional>

#include "engine/engine.h"

namespace edict {

template <class S, Head H>
class TrainingPass : private Engine<S, H> {
 public:
  explicit TrainingPass(const JumpOde<H>& network) : Engine<S, H>(network) {}

  // Sees the states at the end of the timelines (H × examples; a timeline ends with its last stop
  // if that is a query, else with what was absorbed last), and writes the gradient of a further
  // loss.
  using EndLoss = std::function<void(const S* h, S* d_h)>;

  // Forward and backward; gradients are added to `grads`.
  LossSums train(const S* params, std::span<const BasicExample<S>> examples,
                 const LossWeights& weights, std::size_t tape_bytes, S* grads,
                 const EndLoss& at_end = {});

 private:
  using Base = Engine<S, H>;
  void backward(const S* params, const S* d_final, S* grads);

  Vector<S> transposed_;
  Matrix<S> d_h_, d_memory_, d_final_, d_initial_;
  std::vector<typename Base::State> snapshots_;
  std::vector<std::size_t> ticks_;  // of each segment
};

}  // namespace edict

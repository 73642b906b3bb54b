// Inference: the engine forward without a tape; what is asked for comes back in arrays. A stream is
// an example that starts from a state of its own.
#pragma once

#include "engine/engine.h"

namespace edict {

template <class S, Head H>
class Inference : private Engine<S, H> {
 public:
  explicit Inference(const JumpOde<H>& network) : Engine<S, H>(network) {}

  // Fills `answers`, one an example, or none if only the losses of scored stops are wanted, which
  // come back.
  LossSums run(Transposed<S> weights, std::span<const BasicExample<S>> examples,
               const InferenceOptions& options, std::span<Answer> answers);
};

}  // namespace edict

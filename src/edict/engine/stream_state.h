#pragma once

#include <cstdint>
#include <span>

#include "edict/engine/marginal.h"

namespace edict {

// What a network offers to a stream; in the model's units.
class StreamState {
 public:
  virtual ~StreamState() = default;
  virtual void begin(std::span<const float> covariates) = 0;
  virtual void advance(double duration) = 0;
  // Walks a copy of the state for `duration` and tells what is expected there.
  virtual void expect(double duration, std::span<Marginal> features) = 0;
  virtual void absorb(std::span<const std::int32_t> features, std::span<const float> values) = 0;
};

}  // namespace edict

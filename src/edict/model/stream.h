// One series, as it happens: observations go in when they come, and the distribution can be asked
// for at any later moment without disturbing the state. Values and times are those of the data (not
// standardised). After construction nothing is allocated.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "edict/engine/stream_state.h"
#include "edict/model/model.h"

namespace edict {

class Stream {
 public:
  // `covariates`: raw values of the model's static covariates, NaN where missing; empty: all
  // missing. `start`: where the clock starts, in the data's unit.
  explicit Stream(const Model& model, std::span<const double> covariates = {}, double start = 0.0,
                  const Guard& guard = {});
  ~Stream();

  // Throws Error for a time before the last one, an unknown feature or a value that is not finite;
  // the state is then as before.
  void observe(double time, std::span<const Observation> observed);

  // The distribution of every feature at `time`, not before the last observation; valid until the
  // next call.
  std::span<const Marginal> distribution(double time);

  double now() const { return now_; }

 private:
  double gap_to(double time) const;

  const Model& model_;
  Guard guard_;
  std::unique_ptr<StreamState> state_;
  double now_;
  std::vector<Marginal> expected_;
  std::vector<std::int32_t> features_;
  std::vector<float> values_;
};

}  // namespace edict

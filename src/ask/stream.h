// One series, as it happens: observations go in when they come, and the distribution can be asked
// for at any later moment without disturbing the state. Values and times are those of the data (not
// standardised). After construction nothing is allocated. For many series see stream_engine.h.
#pragma once

#include <memory>
#include <span>

#include "ask/stream_engine.h"

namespace edict {

class Stream {
 public:
  // See StreamEngine::begin.
  explicit Stream(std::shared_ptr<const Model> model, std::span<const double> covariates = {},
                  std::optional<double> start = {}, const Guard& guard = {});
  explicit Stream(Model&& model) : Stream(std::make_shared<const Model>(std::move(model))) {}

  // Throws Error for a time before the last one, an unknown feature or a value that is not finite;
  // the state is then as before.
  void observe(double time, std::span<const Observation> observed) {
    const StreamEngine::Event event{&state_, time, observed};
    engine_.observe({&event, 1});
  }

  // The distribution of every feature at `time`, not before the last observation; valid until the
  // next call.
  std::span<const Marginal> distribution(double time) {
    const StreamEngine::Question question{&state_, time};
    return engine_.distribution({&question, 1});
  }

  double now() const { return state_.time(); }  // of the last observation

  // To be kept, and to go on from. Throws Error for a state of another model.
  const StreamState& state() const { return state_; }
  void restore(StreamState state);

 private:
  StreamEngine engine_;
  StreamState state_;
};

}  // namespace edict

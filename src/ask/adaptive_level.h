// How wide an interval must be along one stream so that it holds what was promised there, whatever
// the stream does (Gibbs & Candès 2021, "Adaptive conformal inference under distribution shift").
//
// After every observation, with held = 1 if it lay inside the interval that was told before it:
//
//   level ← level + rate · (promised − held)
//
// A level above 1 asks for the whole line and one below 0 for nothing, so that it turns back there:
// it stays within [−rate, 1 + rate]. Adding up all steps, the share held after T observations
// differs from what was promised by at most (max(start, 1 − start) + rate) / (rate · T). That is
// arithmetic and assumes nothing; it says nothing about any single interval.
#pragma once

#include <algorithm>

namespace edict {

class AdaptiveLevel {
 public:
  AdaptiveLevel(double promised, double start, double rate)
      : promised_(promised), level_(start), rate_(rate) {}

  // What to ask for next: 0 is no interval at all, 1 the whole line.
  double level() const { return std::clamp(level_, 0.0, 1.0); }

  // `reached`: the level of the central interval that just reaches the observation.
  void observe(double reached) {
    const bool held = level_ >= 1 || (level_ > 0 && reached <= level_);
    level_ += rate_ * (promised_ - (held ? 1.0 : 0.0));
  }

 private:
  double promised_, level_, rate_;
};

}  // namespace edict

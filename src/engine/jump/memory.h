// What is remembered of every feature beside the state h for model.recall: how long ago it was last
// observed, and as what. It is counted, not learned, and belongs to a column of the engine as h
// does; observations enter it as they enter the jump, that is, as a guard let them pass. One column
// is
//
//   [ age (D) at the last event, since the start if never observed | last value (D) | seen (D) ]
//
// It depends on no parameter, unless model.absorb lets less than the observation pass: what passes
// depends on what was expected, and a gradient of last values, D a column, leads back to it.
#pragma once

#include <algorithm>
#include <cmath>

#include "engine/engine_settings.h"
#include "nn/parameters.h"

namespace edict {

class Memory {
 public:
  Memory(const EngineSettings& settings, Index features)
      : features_(features),
        unit_(kAgeUnit * time_scales(settings).shortest),
        kept_(settings.recall) {}

  // Of a column; 0 if nothing is to be remembered.
  Index rows() const { return kept_ ? 3 * features_ : 0; }
  // Of the gradient of a column.
  Index gradient_rows() const { return features_; }

  template <class S>
  bool seen(const S* column, Index j) const {
    return column[2 * features_ + j] > S(0);
  }
  template <class S>
  S last(const S* column, Index j) const {
    return column[features_ + j];
  }
  // ln(1 + age/τ)
  template <class S>
  S log_age(const S* column, Index j) const {
    return std::log1p(column[j] / static_cast<S>(unit_));
  }

  // `column` a time `gap` later.
  template <class S>
  void advance(const S* column, S gap, S* later) const {
    for (Index j = 0; j < features_; ++j) later[j] = column[j] + gap;
    std::copy(column + features_, column + rows(), later + features_);
  }

  // Feature j was observed as x at the column's time.
  template <class S>
  void observe(Index j, S x, S* column) const {
    column[j] = S(0);
    column[features_ + j] = x;
    column[2 * features_ + j] = S(1);
  }

  // d: of the column after the observation on entry, before it on return. Returns d_x.
  template <class S>
  S observe_backward(Index j, S* d) const {
    const S d_x = d[j];
    d[j] = S(0);
    return d_x;
  }

 private:
  // τ, in units of the shortest time scale the network is prepared for.
  static constexpr double kAgeUnit = 0.25;

  Index features_;
  double unit_;
  bool kept_;
};

}  // namespace edict

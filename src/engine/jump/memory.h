// What is remembered of every feature beside the state h: how long ago it was last observed, as
// what, the mean of all its observations, and how many there were. It is counted, not learned, and
// belongs to a column of the engine as h does; observations enter it as they enter the jump, that
// is, as a guard let them pass. One column is
//
//   [ age (D) at the last event | last value (D) | mean (D) | count (D) ]
//
// Of it the jump and the head are told, each where its setting asks for it, for every feature:
//
//   mask   1 if it was ever observed                 last   last e^{−rate·age}, 0 if never observed
//   age    ln(1 + age/τ), since the start if never   mean   mean of its values, 0 if never observed
//
// Values beyond ±20 are told as that; the memory itself keeps them.
// What is remembered is data, and only the rates with which a last value fades are learned, unless
// model.absorb lets less than the observation pass: what passes depends on what was expected, and a
// gradient of last values and means, [ last (D) | mean (D) ] a column, leads back to it.
#pragma once

#include <cmath>
#include <string>

#include "base/arena.h"
#include "engine/engine_settings.h"
#include "math/special.h"
#include "nn/parameters.h"
#include "nn/product.h"

namespace edict {

class Memory {
 public:
  Memory(ParameterLayout& layout, const std::string& name, const EngineSettings& settings,
         Index features)
      : features_(features),
        unit_(kAgeUnit * time_scales(settings).shortest),
        mask_(settings.memory_mask),
        age_(settings.memory_age),
        last_(settings.memory_last),
        mean_(settings.memory_mean),
        kept_(mask_ || age_ || last_ || mean_ || settings.recall) {
    const double slow = 1.0 / time_scales(settings).longest;
    if (last_) fading_ = layout.add(name + ".fading", {features}, Start::rates(slow, slow));
  }

  // Of a column; 0 if nothing is to be remembered.
  Index rows() const { return kept_ ? 4 * features_ : 0; }
  // Of the gradient of a column.
  Index gradient_rows() const { return 2 * features_; }
  // What jump and head are told of a column.
  Index inputs() const { return (Index{mask_} + age_ + last_ + mean_) * features_; }

  template <class S>
  void transpose(const S* params, S* transposed) const {
    if (!last_) return;
    for (Index j = 0; j < features_; ++j) transposed[fading_ + j] = softplus(params[fading_ + j]);
  }

  template <class S>
  bool seen(const S* column, Index j) const {
    return column[3 * features_ + j] > S(0);
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
    for (Index i = features_; i < 4 * features_; ++i) later[i] = column[i];
  }

  // Feature j was observed as x at the column's time.
  template <class S>
  void observe(Index j, S x, S* column) const {
    S& count = column[3 * features_ + j];
    S& mean = column[2 * features_ + j];
    count += S(1);
    mean += (x - mean) / count;
    column[features_ + j] = x;
    column[j] = S(0);
  }

  // `column`: before the observation; d: of the column after it on entry, before it on return,
  // which is the gradient of x.
  template <class S>
  S observe_backward(Index j, const S* column, S* d) const {
    S& d_mean = d[features_ + j];
    const S d_x = d[j] + d_mean / (column[3 * features_ + j] + S(1));
    d_mean -= d_mean / (column[3 * features_ + j] + S(1));
    d[j] = S(0);
    return d_x;
  }

  // inputs() numbers into m.
  template <class S>
  void forward(Transposed<S> params, const S* column, S* m) const {
    if (mask_) {
      for (Index j = 0; j < features_; ++j) m[j] = seen(column, j) ? S(1) : S(0);
      m += features_;
    }
    if (age_) {
      for (Index j = 0; j < features_; ++j) m[j] = log_age(column, j);
      m += features_;
    }
    if (last_) {
      const S* const rate = params.values + fading_;
      for (Index j = 0; j < features_; ++j)
        m[j] = seen(column, j) ? near(last(column, j)) * std::exp(-rate[j] * column[j]) : S(0);
      m += features_;
    }
    if (mean_)
      for (Index j = 0; j < features_; ++j) m[j] = near(column[2 * features_ + j]);
  }

  // For w columns: what was remembered, what forward made of it and its gradient, each `stride`
  // apart. d_column += …, where it is not null.
  template <class S>
  void backward(const S* params, Index w, const S* column, const S* m, const S* d_m, Index stride,
                S* d_column, S* grads) const {
    const Index first = (Index{mask_} + age_) * features_;
    for (Index j = 0; last_ && j < features_; ++j) {
      S sum(0);
      for (Index i = 0; i < w; ++i) {
        const Index at = i * stride + first + j;
        sum += d_m[at] * m[at] * column[i * rows() + j];
      }
      grads[fading_ + j] -= sum * sigmoid(params[fading_ + j]);
    }
    if (!d_column) return;
    for (Index i = 0; i < w; ++i) {
      const S* const own = column + i * rows();
      const S* d = d_m + i * stride + first;
      S* const to = d_column + i * gradient_rows();
      if (last_) {
        for (Index j = 0; j < features_; ++j)
          if (seen(own, j) && in_range(last(own, j)))
            to[j] += d[j] * std::exp(-softplus(params[fading_ + j]) * own[j]);
        d += features_;
      }
      if (mean_)
        for (Index j = 0; j < features_; ++j)
          if (in_range(own[2 * features_ + j])) to[features_ + j] += d[j];
    }
  }

 private:
  // τ, in units of the shortest time scale the network is prepared for.
  static constexpr double kAgeUnit = 0.25;

  // Values are told as far as this, in the model's units. The jump bears any, but what a head reads
  // becomes the logarithm of a scale.
  static constexpr double kFarthest = 20;
  template <class S>
  static S near(S value) {
    return value > S(kFarthest) ? S(kFarthest) : value < S(-kFarthest) ? S(-kFarthest) : value;
  }
  template <class S>
  static bool in_range(S value) {
    return std::abs(value) <= S(kFarthest);
  }

  Index features_;
  double unit_;
  bool mask_, age_, last_, mean_, kept_;
  Index fading_ = 0;
};

}  // namespace edict

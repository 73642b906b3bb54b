// A head that recalls: the mean it gives is mixed with the value last seen, the less of it the
// older it is, and the scale grows with its age. With x what the head reads and a = ln(1 + age/τ):
//
//   gate = σ(W x + b − fall·a)       μ ← μ + gate (last − μ)       ln scale² ← ln scale² + growth·a
//
// Training starts near the last value carried forward, whatever its age (kOpen, kFall), and leaves
// it where that pays: a forecast far ahead then does not drift to where few series happened to go.
//
// Nothing is learnt of a feature that hardly ever changes: it has gate 1 and its least scale; nor
// of one that only now and then is not what it always is, which has its training mean and
// deviation.
//
// fall and growth are softplus of a parameter a feature and thus never negative. A feature that
// repeats its value to the last digit, as a weight that is copied from table to table, could be
// recalled with ever less scale: ln scale² is bent smoothly so as to stay above what the feature's
// resolution allows (protocol/resolution.h), and above kLeast. For every head whose φ begins with
// [ μ (D) | log scale² (D) ].
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/arena.h"
#include "engine/jump/memory.h"
#include "math/activation.h"
#include "math/special.h"
#include "nn/linear.h"

namespace edict {

class Recall {
 public:
  Recall(ParameterLayout& layout, const std::string& name, Index in, Index features,
         const std::vector<double>& least_scale = {},
         const std::vector<std::size_t>& unchanging = {},
         const std::vector<std::size_t>& sporadic = {})
      : features_(features),
        least_(static_cast<std::size_t>(features), kLeast),
        unchanging_(unchanging.begin(), unchanging.end()),
        sporadic_(sporadic.begin(), sporadic.end()),
        gate_(layout, name + ".gate", in, features, kOpen),
        fall_(layout.add(name + ".fall", {features}, Start::constant(kFall))),
        growth_(layout.add(name + ".growth", {features}, Start::constant(-2.0))) {
    for (std::size_t j = 0; j < least_scale.size(); ++j)
      least_[j] = std::max(kLeast, 2.0 * std::log(least_scale[j]));
  }

  // Whether anything is learnt of a feature.
  bool learns(Index j) const {
    return std::ranges::find(unchanging_, j) == unchanging_.end() &&
           std::ranges::find(sporadic_, j) == sporadic_.end();
  }
  bool learns_all() const { return unchanging_.empty() && sporadic_.empty(); }

  template <class S>
  void transpose(const S* params, S* transposed) const {
    gate_.transpose(params, transposed);
    for (Index j = 0; j < features_; ++j) {
      transposed[fall_ + j] = softplus(params[fall_ + j]);
      transposed[growth_ + j] = softplus(params[growth_ + j]);
    }
  }

  // For w columns, each D: the gates, and the derivatives of μ by what is inside of σ and of ln
  // scale² by what it was before it was bent.
  template <class S>
  struct Cache {
    S *gate, *slope, *bend;
  };
  template <class S>
  Cache<S> cache(Arena<S>& arena, Index w) const {
    S* const block = arena.take(3 * features_ * w);
    return {block, block + features_ * w, block + 2 * features_ * w};
  }

  // x: in × w; memory and φ a column each `rows` and `phi_rows` long; φ is changed.
  template <class S>
  void forward(Transposed<S> params, Index w, const S* x, const Memory& memory, const S* remembered,
               Index phi_rows, const Cache<S>& c, S* phi) const {
    gate_.forward(params, w, x, c.gate);
    const S* const fall = params.values + fall_;
    const S* const growth = params.values + growth_;
    for (Index i = 0; i < w; ++i) {
      S* const gate = c.gate + i * features_;
      const S* const column = remembered + i * memory.rows();
      for (Index j = 0; j < features_; ++j) gate[j] -= fall[j] * memory.log_age(column, j);
      sigmoid_inplace(gate, features_);
      S* const slope = c.slope + i * features_;
      S* const mu = phi + i * phi_rows;
      for (Index j = 0; j < features_; ++j) {
        if (!memory.seen(column, j)) gate[j] = S(0);
        const S way = memory.last(column, j) - mu[j];
        slope[j] = way * gate[j] * (S(1) - gate[j]);
        mu[j] += gate[j] * way;
        const S least = static_cast<S>(least_[static_cast<std::size_t>(j)]);
        const S above = mu[features_ + j] + growth[j] * memory.log_age(column, j) - least;
        mu[features_ + j] = least + softplus(above);
        c.bend[i * features_ + j] = sigmoid(above);
      }
      for (const Index j : unchanging_) {
        gate[j] = S(1);
        slope[j] = c.bend[i * features_ + j] = S(0);
        mu[j] = memory.last(column, j);
        mu[features_ + j] = static_cast<S>(least_[static_cast<std::size_t>(j)]);
      }
      for (const Index j : sporadic_)
        gate[j] = slope[j] = c.bend[i * features_ + j] = mu[j] = mu[features_ + j] = S(0);
    }
  }

  // d_φ: of the changed φ on entry, of the one before on return. d_x += …, and so is
  // d_remembered (memory.h) where it is not null.
  template <class S>
  void backward(const S* params, Index w, const S* x, const Memory& memory, const S* remembered,
                Index phi_rows, const Cache<S>& c, Arena<S>& scratch, S* d_phi, S* d_x,
                S* d_remembered, S* grads) const {
    S* const d_gate = scratch.take(features_ * w);
    S* const d_from_gate = scratch.take(gate_.in() * w);
    S* const d_fall = scratch.take(features_);
    S* const d_growth = scratch.take(features_);
    std::fill_n(d_fall, features_, S(0));
    std::fill_n(d_growth, features_, S(0));
    for (Index i = 0; i < w; ++i) {
      const S* const column = remembered + i * memory.rows();
      S* const d_mu = d_phi + i * phi_rows;
      for (const Index j : sporadic_) d_mu[j] = d_mu[features_ + j] = S(0);  // φ is not the head's
      for (Index j = 0; j < features_; ++j) {
        const S age = memory.log_age(column, j);
        const S d = d_mu[j] * c.slope[i * features_ + j];
        d_gate[i * features_ + j] = d;
        d_fall[j] -= d * age;
        d_mu[features_ + j] *= c.bend[i * features_ + j];
        d_growth[j] += d_mu[features_ + j] * age;
        if (d_remembered)
          d_remembered[i * memory.gradient_rows() + j] += d_mu[j] * c.gate[i * features_ + j];
        d_mu[j] *= S(1) - c.gate[i * features_ + j];
      }
    }
    for (Index j = 0; j < features_; ++j) {
      grads[fall_ + j] += d_fall[j] * sigmoid(params[fall_ + j]);
      grads[growth_ + j] += d_growth[j] * sigmoid(params[growth_ + j]);
    }
    gate_.backward(params, w, x, d_gate, d_from_gate, grads);
    for (Index i = 0; i < gate_.in() * w; ++i) d_x[i] += d_from_gate[i];
  }

 private:
  static constexpr double kOpen = 2.0;     // the gate's bias at the start
  static constexpr double kFall = -3.0;    // and ln(e^fall − 1)
  static constexpr double kLeast = -11.5;  // a scale of about 0.3 % of a standardised feature's

  Index features_;
  std::vector<double> least_;  // of ln scale², a feature each
  std::vector<Index> unchanging_, sporadic_;
  Linear gate_;
  Index fall_, growth_;
};

}  // namespace edict

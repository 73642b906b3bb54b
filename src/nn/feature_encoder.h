// Encodes observations feature by feature: q = relu(v W_j + b_j) with four inputs v and weights of
// the observed feature's own; then multiplies q by that feature's columns of the GRU's W_ih, so
// that a feature that was not observed costs nothing. Observations come sorted by feature.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include "base/arena.h"
#include "math/relu.h"
#include "nn/parameters.h"
#include "nn/product.h"
#include "nn/small_product.h"

namespace edict {

class FeatureEncoder {
 public:
  static constexpr Index kInputs = 4;

  FeatureEncoder(ParameterLayout& layout, const std::string& name, Index features, Index width)
      : features_(features),
        width_(width),
        weight_(layout.add(name + ".weight", {features, kInputs, width},
                           Start::normal(std::sqrt(2.0 / static_cast<double>(kInputs + width))))),
        bias_(layout.add(name + ".bias", {features, width}, Start::constant(0.1))) {}

  Index features() const { return features_; }
  Index width() const { return width_; }

  // v: 4 × n inputs, q: Q × n. first[j] … first[j+1] are the observations of feature j.
  template <class S>
  void forward(const S* params, const Index* first, const S* v, S* q) const {
    for (Index j = 0; j < features_; ++j) {
      const S* const w = params + weight_ + j * kInputs * width_;
      const S* const b = params + bias_ + j * width_;
      for (Index k = first[j]; k < first[j + 1]; ++k) {
        const S v0 = v[4 * k], v1 = v[4 * k + 1], v2 = v[4 * k + 2], v3 = v[4 * k + 3];
        S* const out = q + k * width_;
        for (Index i = 0; i < width_; ++i) {
          out[i] = relu(b[i] + v0 * w[i] + v1 * w[width_ + i] + v2 * w[2 * width_ + i] +
                        v3 * w[3 * width_ + i]);
        }
      }
    }
  }

  // d_q is masked in place; d_v: 4 × n is written.
  template <class S>
  void backward(const S* params, const Index* first, const S* v, const S* q, S* d_q, S* d_v,
                S* grads) const {
    for (Index j = 0; j < features_; ++j) {
      const S* const w = params + weight_ + j * kInputs * width_;
      S* const d_w = grads + weight_ + j * kInputs * width_;
      S* const d_b = grads + bias_ + j * width_;
      const Index n = first[j + 1] - first[j];
      S* const d = d_q + first[j] * width_;
      const S* const out = q + first[j] * width_;
      for (Index i = 0; i < n * width_; ++i) d[i] = out[i] > S(0) ? d[i] : S(0);
      accumulate_bias(d, width_, n, d_b);
      small_multiply<true, S>({d, width_, v + 4 * first[j], kInputs, 1, n}, width_, kInputs, d_w,
                              width_);  // d_W += v d_qᵀ
      for (Index k = 0; k < n; ++k) {   // four sums at a time: one alone would wait for itself
        S sum[kInputs] = {};
        for (Index i = 0; i < width_; ++i)
          for (Index input = 0; input < kInputs; ++input)
            sum[input] += d[k * width_ + i] * w[input * width_ + i];
        std::copy_n(sum, kInputs, d_v + 4 * (first[j] + k));
      }
    }
  }

  // gi[:, column[k]] += W_ih[:, jQ … (j+1)Q] q_k. w_ih: transposed; gi: out × w, set by the caller.
  template <class S>
  void project(Transposed<S> w_ih, Index out, const Index* first, const Index* column, const S* q,
               Arena<S>& scratch, S* gi) const {
    S* const product = scratch.take(out * first[features_]);
    for (Index j = 0; j < features_; ++j) {
      const Index n = first[j + 1] - first[j];
      if (n == 0) continue;
      multiply_from_transposed(w_ih.values + j * width_ * out, out, width_, q + first[j] * width_,
                               n, product);
      for (Index k = 0; k < n; ++k) {
        S* const target = gi + column[first[j] + k] * out;
        for (Index i = 0; i < out; ++i) target[i] += product[k * out + i];
      }
    }
  }

  template <class S>
  void project_backward(const S* w_ih, Index out, const Index* first, const Index* column,
                        const S* q, const S* d_gi, Arena<S>& scratch, S* d_q, S* d_w_ih) const {
    S* const gathered = scratch.take(out * first[features_]);
    for (Index j = 0; j < features_; ++j) {
      const Index n = first[j + 1] - first[j];
      if (n == 0) continue;
      for (Index k = 0; k < n; ++k) {
        const S* const source = d_gi + column[first[j] + k] * out;
        for (Index i = 0; i < out; ++i) gathered[k * out + i] = source[i];
      }
      const Index step = features_ * width_;  // between rows of W_ih
      small_multiply<false, S>({w_ih + j * width_, step, gathered, 1, out, out}, width_, n,
                               d_q + first[j] * width_, width_);
      small_multiply<true, S>({q + first[j] * width_, width_, gathered, out, 1, n}, width_, out,
                              d_w_ih + j * width_, step);
    }
  }

 private:
  Index features_, width_;
  Index weight_, bias_;
};

}  // namespace edict

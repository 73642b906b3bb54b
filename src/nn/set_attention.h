// Attention of M heads over a set, with one query a head and set that is made from the whole set:
//
//   f = relu(R · mean_j ψ(s_j) + r)     q = Q f + b     e_mj = q_m · (K_m s_j) / √A
//   a_m = softmax_j e_m
//
// Keys are linear in the elements, so q_m is carried through K_m once a set and no key is ever
// formed:  e_mj = v_m · s_j  with  v_m = K_mᵀ q_m / √A.  Q and b start at 0, where every element
// counts alike (a mean).
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "nn/linear.h"
#include "nn/mlp.h"
#include "nn/segments.h"
#include "nn/small_product.h"

namespace edict {

class SetAttention {
 public:
  template <class S>
  struct Cache {
    Mlp::Cache<S> psi;
    S *mean, *f, *q;  // width, width and M·A × sets
    S* v;             // in·M × sets
    S* a;             // M × elements: the attention
  };

  SetAttention(ParameterLayout& layout, const std::string& name, Index in, Index width,
               Index key_width, Index heads)
      : in_(in),
        key_width_(key_width),
        heads_(heads),
        psi_(layout, name + ".psi", in, width, 2),
        rho_(layout, name + ".rho", width, width),
        query_(
            layout.add(name + ".query.weight", {heads * key_width, width}, Start::constant(0.0))),
        query_bias_(layout.add(name + ".query.bias", {heads * key_width}, Start::constant(0.0))),
        keys_(layout.add(name + ".keys.weight", {heads * key_width, in},
                         Start::xavier(key_width, in))) {}

  Index heads() const { return heads_; }

  // x: in × elements.
  template <class S>
  void forward(const S* params, const Segments& segments, const S* x, Arena<S>& arena,
               Cache<S>& c) const {
    const Index sets = segments.sets(), width = psi_.width(), queries = heads_ * key_width_;
    if (sets == 0) return;  // the arena has nothing to point to
    psi_.forward(params, segments.elements(), x, {}, arena, c.psi);
    c.mean = arena.take(width * sets);
    c.f = arena.take(width * sets);
    c.q = arena.take(queries * sets);
    c.v = arena.take(in_ * heads_ * sets);
    c.a = arena.take(heads_ * segments.elements());
    segment_mean(segments, width, c.psi.y.back(), c.mean);
    rho_.forward(params, sets, c.mean, c.f);
    for (Index i = 0; i < width * sets; ++i) c.f[i] = std::max(c.f[i], S(0));
    spread_bias(params + query_bias_, queries, sets, c.q);
    multiply_add(params + query_, queries, width, c.f, sets, c.q);
    for (Index m = 0; m < heads_; ++m)
      small_multiply<false, S>({key(params, m), in_, c.q + m * key_width_, 1, queries, key_width_},
                               in_, sets, c.v + m * in_, in_ * heads_);
    scale(c.v, sets);
    for (Index s = 0; s < sets; ++s)
      multiply(c.v + s * in_ * heads_, heads_, in_, x + segments.first[s] * in_, segments.size(s),
               c.a + segments.first[s] * heads_);
    segment_softmax(segments, heads_, c.a);
  }

  // d_a: M × elements, used up. d_x: in × elements is written, unless null because nobody needs it.
  template <class S>
  void backward(const S* params, const Segments& segments, const S* x, S* d_a, const Cache<S>& c,
                Arena<S>& arena, S* d_x, S* grads) const {
    const Index sets = segments.sets(), width = psi_.width(), queries = heads_ * key_width_;
    if (sets == 0) return;  // the arena has nothing to point to
    S* const d_v = arena.take(in_ * heads_ * sets);
    S* const d_q = arena.take(queries * sets);
    S* const d_f = arena.take(width * sets);
    S* const d_mean = arena.take(width * sets);
    S* const d_psi = arena.take(width * segments.elements());
    segment_softmax_backward(segments, heads_, c.a, d_a);
    std::fill_n(d_v, in_ * heads_ * sets, S(0));
    for (Index s = 0; s < sets; ++s)  // e = vᵀ s
      accumulate_outer(d_a + segments.first[s] * heads_, heads_, x + segments.first[s] * in_, in_,
                       segments.size(s), d_v + s * in_ * heads_);
    scale(d_v, sets);
    S* const transposed = arena.take(key_width_ * in_);
    for (Index m = 0; m < heads_; ++m) {  // v = Kᵀ q / √A
      const S* const d = d_v + m * in_;
      transpose_weights(key(params, m), key_width_, in_, transposed);
      small_multiply<false, S>({transposed, key_width_, d, 1, in_ * heads_, in_}, key_width_, sets,
                               d_q + m * key_width_, queries);
      small_multiply<true, S>({d, in_ * heads_, c.q + m * key_width_, queries, 1, sets}, in_,
                              key_width_, grads + keys_ + m * key_width_ * in_, in_);
    }
    accumulate_bias(d_q, queries, sets, grads + query_bias_);  // q = Q f + b
    accumulate_outer(d_q, queries, c.f, width, sets, grads + query_);
    multiply_transposed(params + query_, queries, width, d_q, sets, d_f);
    for (Index i = 0; i < width * sets; ++i) d_f[i] = c.f[i] > S(0) ? d_f[i] : S(0);
    rho_.backward(params, sets, c.mean, d_f, d_mean, grads);
    segment_mean_backward(segments, width, d_mean, d_psi);
    psi_.backward(params, segments.elements(), d_psi, c.psi, arena, d_x, grads);
    for (Index s = 0; s < sets && d_x; ++s)  // e = vᵀ s
      multiply_transposed_add(c.v + s * in_ * heads_, heads_, in_, d_a + segments.first[s] * heads_,
                              segments.size(s), d_x + segments.first[s] * in_);
  }

 private:
  // By 1/√A; v: in·M × sets.
  template <class S>
  void scale(S* v, Index sets) const {
    const S factor = S(1) / std::sqrt(static_cast<S>(key_width_));
    for (Index i = 0; i < in_ * heads_ * sets; ++i) v[i] *= factor;
  }
  template <class S>
  const S* key(const S* params, Index m) const {
    return params + keys_ + m * key_width_ * in_;
  }

  Index in_, key_width_, heads_;
  Mlp psi_;
  Linear rho_;
  Index query_, query_bias_, keys_;
};

}  // namespace edict

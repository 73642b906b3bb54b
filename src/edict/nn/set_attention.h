// Attention of M heads over a set, with one query a head and set that is made from the whole set:
//
//   f = relu(R · mean_j ψ(s_j) + r)     q = Q f + b     e_mj = q_m · (K_m s_j) / √A
//   a_m = softmax_j e_m
//
// Keys are linear in the elements, so q_m is carried through K_m once a set and no key is ever
// formed:  e_mj = v_m · s_j  with  v_m = K_mᵀ q_m / √A.  Q and b start at 0, where every element
// counts alike (a mean).
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "edict/nn/linear.h"
#include "edict/nn/mlp.h"
#include "edict/nn/segments.h"

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
    psi_.forward(params, segments.elements(), x, {}, arena, c.psi);
    c.mean = arena.take(width * sets);
    c.f = arena.take(width * sets);
    c.q = arena.take(queries * sets);
    c.v = arena.take(in_ * heads_ * sets);
    c.a = arena.take(heads_ * segments.elements());
    segment_mean(segments, width, c.psi.y.back(), c.mean);
    rho_.forward(params, sets, c.mean, c.f);
    for (Index i = 0; i < width * sets; ++i) c.f[i] = std::max(c.f[i], S(0));
    for (Index s = 0; s < sets; ++s) std::copy_n(params + query_bias_, queries, c.q + s * queries);
    multiply_add(params + query_, queries, width, c.f, sets, c.q);
    const S scale = this->scale<S>();
    for (Index m = 0; m < heads_; ++m)
      head(c.v, m, in_, sets).noalias() =
          scale * (key(params, m).transpose() * head(c.q, m, key_width_, sets));
    for (Index s = 0; s < sets; ++s)
      set(c.a, segments, s, heads_).noalias() =
          Eigen::Map<const Matrix<S>>(c.v + s * in_ * heads_, in_, heads_).transpose() *
          set(x, segments, s, in_);
    segment_softmax(segments, heads_, c.a);
  }

  // d_a: M × elements, used up. d_x: in × elements is written, unless null because nobody needs it.
  template <class S>
  void backward(const S* params, const Segments& segments, const S* x, S* d_a, const Cache<S>& c,
                Arena<S>& arena, S* d_x, S* grads) const {
    const Index sets = segments.sets(), width = psi_.width(), queries = heads_ * key_width_;
    S* const d_v = arena.take(in_ * heads_ * sets);
    S* const d_q = arena.take(queries * sets);
    S* const d_f = arena.take(width * sets);
    S* const d_mean = arena.take(width * sets);
    S* const d_psi = arena.take(width * segments.elements());
    segment_softmax_backward(segments, heads_, c.a, d_a);
    for (Index s = 0; s < sets; ++s)  // e = vᵀ s
      Eigen::Map<Matrix<S>>(d_v + s * in_ * heads_, in_, heads_).noalias() =
          set(x, segments, s, in_) *
          set(static_cast<const S*>(d_a), segments, s, heads_).transpose();
    const S scale = this->scale<S>();
    for (Index m = 0; m < heads_; ++m) {  // v = Kᵀ q / √A
      const auto q = head(c.q, m, key_width_, sets);
      const auto d = head(d_v, m, in_, sets);
      head(d_q, m, key_width_, sets).noalias() = scale * (key(params, m) * d);
      weight(grads, keys_ + m * key_width_ * in_, key_width_, in_).noalias() +=
          scale * (q * d.transpose());
    }
    accumulate_bias(d_q, queries, sets, grads + query_bias_);  // q = Q f + b
    accumulate_outer(d_q, queries, c.f, width, sets, grads + query_);
    multiply_transposed(params + query_, queries, width, d_q, sets, d_f);
    for (Index i = 0; i < width * sets; ++i) d_f[i] = c.f[i] > S(0) ? d_f[i] : S(0);
    rho_.backward(params, sets, c.mean, d_f, d_mean, grads);
    segment_mean_backward(segments, width, d_mean, d_psi);
    psi_.backward(params, segments.elements(), d_psi, c.psi, arena, d_x, grads);
    for (Index s = 0; s < sets && d_x; ++s)  // e = vᵀ s
      set(d_x, segments, s, in_).noalias() +=
          Eigen::Map<const Matrix<S>>(c.v + s * in_ * heads_, in_, heads_) *
          set(static_cast<const S*>(d_a), segments, s, heads_);
  }

 private:
  template <class S>
  S scale() const {
    return S(1) / std::sqrt(static_cast<S>(key_width_));
  }
  template <class S>
  auto key(const S* params, Index m) const {
    return weight(params, keys_ + m * key_width_ * in_, key_width_, in_);
  }
  // Head m's rows of a matrix that stacks `rows` of each head, a set a column.
  template <class S>
  Eigen::Map<Matrix<S>, 0, Eigen::OuterStride<>> head(S* x, Index m, Index rows, Index sets) const {
    return {x + m * rows, rows, sets, Eigen::OuterStride<>(rows * heads_)};
  }
  template <class S>
  static auto set(const S* x, const Segments& segments, Index s, Index rows) {
    return Eigen::Map<const Matrix<S>>(x + segments.first[s] * rows, rows, segments.size(s));
  }
  template <class S>
  static auto set(S* x, const Segments& segments, Index s, Index rows) {
    return Eigen::Map<Matrix<S>>(x + segments.first[s] * rows, rows, segments.size(s));
  }

  Index in_, key_width_, heads_;
  Mlp psi_;
  Linear rho_;
  Index query_, query_bias_, keys_;
};

}  // namespace edict

// A GRU cell with PyTorch's gate order r, z, n and its two biases:
//
//   r = σ(gi_r + gh_r)   z = σ(gi_z + gh_z)   n = tanh(gi_n + r∘gh_n)   h' = (1 − z)∘n + z∘h
//
// with gi = W_ih x + b_ih and gh = W_hh h + b_hh, both 3H × w. The input product W_ih x is the
// caller's: a sparse input needs only some of its columns.
#pragma once

#include <cmath>
#include <string>

#include "base/arena.h"
#include "math/activation.h"
#include "nn/parameters.h"
#include "nn/product.h"

namespace edict {

class GruCell {
 public:
  template <class S>
  struct Cache {
    const S* h;  // H × w
    S* rzn;      // 3H × w; after backward the gradient of gi
    S* gh_n;     // H × w
  };

  GruCell(ParameterLayout& layout, const std::string& name, Index input, Index hidden)
      : input_(input), hidden_(hidden) {
    const Start start = Start::uniform(1.0 / std::sqrt(static_cast<double>(hidden)));
    w_ih_ = layout.add(name + ".w_ih", {3 * hidden, input}, start);
    w_hh_ = layout.add(name + ".w_hh", {3 * hidden, hidden}, start);
    b_ih_ = layout.add(name + ".b_ih", {3 * hidden}, start);
    b_hh_ = layout.add(name + ".b_hh", {3 * hidden}, start);
  }

  Index input_weights() const { return w_ih_; }  // offset of W_ih, 3H × input

  template <class S>
  Cache<S> cache(Arena<S>& arena, const S* h, Index w) const {
    S* const block = arena.take(4 * hidden_ * w);
    return {h, block, block + 3 * hidden_ * w};
  }

  template <class S>
  void transpose(const S* params, S* transposed) const {
    transpose_weights(params + w_ih_, 3 * hidden_, input_, transposed + w_ih_);
    transpose_weights(params + w_hh_, 3 * hidden_, hidden_, transposed + w_hh_);
  }

  // gi: W_ih x without its bias, 3H × w. h_next: H × w.
  template <class S>
  void forward(Transposed<S> params, Index w, const S* gi, const Cache<S>& c, S* h_next) const {
    const Index n = hidden_;
    const S* const b_i = params.values + b_ih_;
    const S* const b_h = params.values + b_hh_;
    multiply_from_transposed(params.values + w_hh_, 3 * n, n, c.h, w, c.rzn);
    for (Index column = 0; column < w; ++column) {
      S* const g = c.rzn + column * 3 * n;
      const S* const x = gi + column * 3 * n;
      S* const gh_n = c.gh_n + column * n;
      for (Index i = 0; i < 2 * n; ++i) g[i] += x[i] + b_i[i] + b_h[i];
      sigmoid_inplace(g, 2 * n);
      for (Index i = 0; i < n; ++i) {
        gh_n[i] = g[2 * n + i] + b_h[2 * n + i];
        g[2 * n + i] = x[2 * n + i] + b_i[2 * n + i] + g[i] * gh_n[i];
      }
      tanh_inplace(g + 2 * n, n);
      const S* const h = c.h + column * n;
      S* const out = h_next + column * n;
      for (Index i = 0; i < n; ++i) out[i] = g[2 * n + i] + g[n + i] * (h[i] - g[2 * n + i]);
    }
  }

  // d_h is written; the gradient of gi is left in the cache (rzn) for the caller's input product.
  template <class S>
  void backward(const S* params, Index w, const S* d_h_next, const Cache<S>& c, S* d_h, S* d_gh,
                S* grads) const {
    const Index n = hidden_;
    for (Index column = 0; column < w; ++column) {
      S* const g = c.rzn + column * 3 * n;
      S* const dg = d_gh + column * 3 * n;
      gates_back(n, d_h_next + column * n, c.h + column * n, c.gh_n + column * n, g, g + n,
                 g + 2 * n, dg, dg + n, dg + 2 * n, d_h + column * n);
    }
    accumulate_bias(c.rzn, 3 * n, w, grads + b_ih_);
    accumulate_bias(d_gh, 3 * n, w, grads + b_hh_);
    accumulate_outer(d_gh, 3 * n, c.h, n, w, grads + w_hh_);  // gh = W_hh h + b_hh
    multiply_transposed_add(params + w_hh_, 3 * n, n, d_gh, w, d_h);
  }

 private:
  // One column; r, z, n hold the gates on entry and the gradient of gi on return. Parameters that
  // do not overlap, so that the loop is vectorised.
  template <class S>
  static void gates_back(Index size, const S* __restrict d, const S* __restrict h,
                         const S* __restrict gh_n, S* __restrict r, S* __restrict z,
                         S* __restrict n, S* __restrict dg_r, S* __restrict dg_z,
                         S* __restrict dg_n, S* __restrict d_h) {
    for (Index i = 0; i < size; ++i) {
      d_h[i] = d[i] * z[i];  // h' = (1 − z)∘n + z∘h
      const S d_z = d[i] * (h[i] - n[i]) * z[i] * (S(1) - z[i]);
      const S d_n = d[i] * (S(1) - z[i]) * (S(1) - n[i] * n[i]);
      const S d_r = d_n * gh_n[i] * r[i] * (S(1) - r[i]);  // n = tanh(gi_n + r∘gh_n)
      dg_n[i] = d_n * r[i];
      r[i] = dg_r[i] = d_r;
      z[i] = dg_z[i] = d_z;
      n[i] = d_n;
    }
  }

  Index input_, hidden_;
  Index w_ih_, w_hh_, b_ih_, b_hh_;
};

}  // namespace edict

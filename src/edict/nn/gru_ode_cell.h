// The drift of h(t) between observations (De Brouwer et al. 2019), without biases:
//
//   r = σ(W_r h)   z = σ(W_z h)   u = tanh(W_u (r∘h))   dh/dt = (1 − z)∘(u − h)
//
// The two gates that need only h are stacked:
//
//         ┌ W_r ┐         ┌ r ┐
//   σ (   │     │ · h ) = │   │     2H × w, one product
//         └ W_z ┘         └ z ┘
#pragma once

#include <string>

#include "edict/math/activation.h"
#include "edict/nn/arena.h"
#include "edict/nn/parameters.h"
#include "edict/nn/product.h"

namespace edict {

class GruOdeCell {
 public:
  template <class S>
  struct Cache {
    const S* h;  // H × w
    S* rz;       // 2H × w
    S* u;        // H × w
  };

  GruOdeCell(ParameterLayout& layout, const std::string& name, Index hidden)
      : hidden_(hidden),
        w_rz_(layout.add(name + ".w_r", {hidden, hidden}, Start::xavier(hidden, hidden))) {
    layout.add(name + ".w_z", {hidden, hidden}, Start::xavier(hidden, hidden));
    w_u_ = layout.add(name + ".w_u", {hidden, hidden}, Start::xavier(hidden, hidden));
  }

  Index size() const { return hidden_; }

  // Values of one evaluation that the backward pass needs, for w columns.
  template <class S>
  Cache<S> cache(Arena<S>& arena, const S* h, Index w) const {
    S* const block = arena.take(3 * hidden_ * w);
    return {h, block, block + 2 * hidden_ * w};
  }

  template <class S>
  void turn(const S* params, S* turned) const {
    turn_weights(params + w_rz_, 2 * hidden_, hidden_, turned + w_rz_);
    turn_weights(params + w_u_, hidden_, hidden_, turned + w_u_);
  }

  // dh_dt: H × w; it holds r∘h on the way, which backward computes again rather than read.
  template <class S>
  void forward(Turned<S> params, Index w, const Cache<S>& c, S* dh_dt) const {
    const Index n = hidden_;
    S* const r_h = dh_dt;
    multiply_turned(params.values + w_rz_, 2 * n, n, c.h, w, c.rz);
    sigmoid_inplace(c.rz, 2 * n * w);
    for (Index column = 0; column < w; ++column) {
      const S* const r = c.rz + column * 2 * n;
      const S* const h = c.h + column * n;
      S* const rh = r_h + column * n;
      for (Index i = 0; i < n; ++i) rh[i] = r[i] * h[i];
    }
    multiply_turned(params.values + w_u_, n, n, r_h, w, c.u);
    tanh_inplace(c.u, n * w);
    for (Index column = 0; column < w; ++column) {
      const S* const z = c.rz + column * 2 * n + n;
      const S* const h = c.h + column * n;
      const S* const u = c.u + column * n;
      S* const out = dh_dt + column * n;
      for (Index i = 0; i < n; ++i) out[i] = (S(1) - z[i]) * (u[i] - h[i]);
    }
  }

  // d_h is written, the cache is used up (it holds the gradients of the pre-activations after).
  // r_h: scratch, H × w.
  template <class S>
  void backward(const S* params, Index w, const S* d_dh_dt, const Cache<S>& c, S* r_h, S* d_h,
                S* grads) const {
    const Index n = hidden_;
    for (Index column = 0; column < w; ++column) {
      const S* const r = c.rz + column * 2 * n;
      update_back(n, d_dh_dt + column * n, c.h + column * n, r, c.rz + column * 2 * n + n,
                  c.u + column * n, r_h + column * n, d_h + column * n);
    }
    accumulate_outer(c.u, n, r_h, n, w, grads + w_u_);  // u = tanh(W_u (r∘h))
    S* const d_rh = r_h;
    multiply_transposed(params + w_u_, n, n, c.u, w, d_rh);
    for (Index column = 0; column < w; ++column)
      reset_back(n, d_rh + column * n, c.h + column * n, c.rz + column * 2 * n, d_h + column * n);
    accumulate_outer(c.rz, 2 * n, c.h, n, w, grads + w_rz_);  // [r; z] = σ([W_r; W_z] h)
    multiply_transposed_add(params + w_rz_, 2 * n, n, c.rz, w, d_h);
  }

 private:
  // The element-wise parts of backward, one column at a time. As parameters of their own the
  // pointers can be said not to overlap, without which the loops are not vectorised.
  template <class S>
  static void update_back(Index n, const S* __restrict d_k, const S* __restrict h,
                          const S* __restrict r, S* __restrict z, S* __restrict u,
                          S* __restrict r_h, S* __restrict d_h) {
    for (Index i = 0; i < n; ++i) {
      const S open = S(1) - z[i];
      const S d_open = d_k[i] * open;
      d_h[i] = -d_open;                              // dh/dt = (1 − z)∘(u − h)
      z[i] = -d_k[i] * (u[i] - h[i]) * z[i] * open;  // through σ
      u[i] = d_open * (S(1) - u[i] * u[i]);          // through tanh
      r_h[i] = r[i] * h[i];
    }
  }
  template <class S>
  static void reset_back(Index n, const S* __restrict d_rh, const S* __restrict h, S* __restrict r,
                         S* __restrict d_h) {
    for (Index i = 0; i < n; ++i) {
      d_h[i] += d_rh[i] * r[i];                      // r∘h
      r[i] = d_rh[i] * h[i] * r[i] * (S(1) - r[i]);  // through σ
    }
  }

  Index hidden_;
  Index w_rz_;
  Index w_u_;
};

}  // namespace edict

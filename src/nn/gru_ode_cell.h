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

#include "base/arena.h"
#include "math/activation.h"
#include "nn/parameters.h"
#include "nn/product.h"
#include "nn/reset_gate.h"

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
  void transpose(const S* params, S* transposed) const {
    transpose_weights(params + w_rz_, 2 * hidden_, hidden_, transposed + w_rz_);
    transpose_weights(params + w_u_, hidden_, hidden_, transposed + w_u_);
  }

  // dh_dt: H × w; it holds r∘h on the way, which backward computes again rather than read.
  template <class S>
  void forward(Transposed<S> params, Index w, const Cache<S>& c, S* dh_dt) const {
    const Index n = hidden_;
    S* const r_h = dh_dt;
    multiply_from_transposed(params.values + w_rz_, 2 * n, n, c.h, w, c.rz);
    reset_forward(n, w, c.h, c.rz, r_h);
    multiply_from_transposed(params.values + w_u_, n, n, r_h, w, c.u);
    for (Index column = 0; column < w; ++column)
      slope(n, c.h + column * n, c.rz + column * 2 * n + n, c.u + column * n, dh_dt + column * n);
  }

  // d_h += Jᵀ d_dh_dt; the cache is used up (it holds the gradients of the pre-activations after).
  // r_h: scratch, H × w.
  template <class S>
  void backward(const S* params, Index w, const S* d_dh_dt, const Cache<S>& c, S* r_h, S* d_h,
                S* grads) const {
    const Index n = hidden_;
    for (Index column = 0; column < w; ++column)
      slope_back(n, d_dh_dt + column * n, c.h + column * n, c.rz + column * 2 * n, c.u + column * n,
                 r_h + column * n, d_h + column * n);
    accumulate_outer(c.u, n, r_h, n, w, grads + w_u_);  // u = tanh(W_u (r∘h))
    S* const d_rh = r_h;
    multiply_transposed(params + w_u_, n, n, c.u, w, d_rh);
    reset_backward(n, w, d_rh, c.h, c.rz, d_h);
    accumulate_outer(c.rz, 2 * n, c.h, n, w, grads + w_rz_);  // [r; z] = σ([W_r; W_z] h)
    multiply_transposed_add(params + w_rz_, 2 * n, n, c.rz, w, d_h);
  }

 private:
  // The element-wise parts, one column at a time; rz holds a column's r above its z.
  template <class S>
  static void slope(Index n, const S* h, const S* z, S* u, S* dh_dt) {
    sweep<S>(n, [=](auto lanes, Index i) {
      const auto v = tanh_lanes(lanes.load(u + i));
      return [=, k = (S(1) - lanes.load(z + i)) * (v - lanes.load(h + i))] {
        lanes.store(v, u + i);
        lanes.store(k, dh_dt + i);
      };
    });
  }
  template <class S>
  static void slope_back(Index n, const S* d_dh_dt, const S* h, S* rz, S* u, S* r_h, S* d_h) {
    sweep<S>(n, [=](auto lanes, Index i) {
      const auto d = lanes.load(d_dh_dt + i), y = lanes.load(h + i), v = lanes.load(u + i);
      const auto z = lanes.load(rz + n + i), open = S(1) - z, d_open = d * open;
      const auto d_y = lanes.load(d_h + i) - d_open;  // dh/dt = (1 − z)∘(u − h)
      const auto d_z = d_open * (y - v) * z;          // through σ
      const auto d_u = d_open * (S(1) - v * v);       // through tanh
      return [=, rh = lanes.load(rz + i) * y] {
        lanes.store(d_y, d_h + i);
        lanes.store(d_z, rz + n + i);
        lanes.store(d_u, u + i);
        lanes.store(rh, r_h + i);
      };
    });
  }

  Index hidden_;
  Index w_rz_;
  Index w_u_;
};

}  // namespace edict

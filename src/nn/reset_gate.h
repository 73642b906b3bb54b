// The gates of a GRU whose reset gate acts on the state before the candidate's product (Cho et al.
// 2014). They stand as [r ; z], 2H × w; all else is H × w.
#pragma once

#include "math/activation.h"

namespace edict {

// [r ; z] = σ([r ; z]), and r∘h.
template <class S>
void reset_forward(Index n, Index w, const S* h, S* rz, S* r_h) {
  for (Index column = 0; column < w; ++column, h += n, rz += 2 * n, r_h += n)
    sweep<S>(n, [=](auto lanes, Index i) {
      const auto r = sigmoid_lanes(lanes.load(rz + i)), z = sigmoid_lanes(lanes.load(rz + n + i));
      return [=, rh = r * lanes.load(h + i)] {
        lanes.store(r, rz + i);
        lanes.store(z, rz + n + i);
        lanes.store(rh, r_h + i);
      };
    });
}

// d_h += …; r becomes the gradient of its pre-activation.
template <class S>
void reset_backward(Index n, Index w, const S* d_rh, const S* h, S* rz, S* d_h) {
  for (Index column = 0; column < w; ++column, d_rh += n, h += n, rz += 2 * n, d_h += n)
    sweep<S>(n, [=](auto lanes, Index i) {
      const auto d = lanes.load(d_rh + i), r = lanes.load(rz + i), d_state = d * r;
      const auto d_sum = lanes.load(d_h + i) + d_state;           // r∘h
      const auto d_r = d_state * lanes.load(h + i) * (S(1) - r);  // through σ
      return [=] {
        lanes.store(d_sum, d_h + i);
        lanes.store(d_r, rz + i);
      };
    });
}

}  // namespace edict

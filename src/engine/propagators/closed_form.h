// A propagator without steps: the state a time Δ after an event is one formula of the state there,
// so that the farthest moment costs what the nearest does. The first half of h are P complex
// numbers, all real parts before all imaginary ones, that turn and fade; the rest relaxes:
//
//   z(Δ) = z e^{(−decay + 2πi·frequency) Δ}         g(Δ) = rest + (g − rest) e^{−rate Δ}
//
// Decay, frequency and rate are softplus of a parameter each and thus never negative. They start
// spread log-uniformly over the time scales from model.shortest_timescale to
// model.longest_timescale.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>
#include <string>

#include "base/arena.h"
#include "base/lanes.h"
#include "engine/engine_settings.h"
#include "engine/propagators/clock.h"
#include "math/activation.h"
#include "math/rotation.h"
#include "math/special.h"
#include "nn/parameters.h"
#include "nn/product.h"

namespace edict {

class ClosedForm {
 public:
  ClosedForm(ParameterLayout& layout, const std::string& name, const EngineSettings& settings)
      : size_(settings.hidden),
        pairs_(settings.hidden / 4),
        relaxing_(settings.hidden - 2 * pairs_) {
    const TimeScales scales = time_scales(settings);
    const double fast = 1.0 / scales.shortest, slow = 1.0 / scales.longest;
    // A pair that turns by one radian in its time scale fades in several of them.
    if (pairs_ > 0) {
      constexpr double kTurn = 2 * std::numbers::pi;
      decay_ = layout.add(name + ".decay", {pairs_}, Start::rates(kFading * fast, kFading * slow));
      frequency_ =
          layout.add(name + ".frequency", {pairs_}, Start::rates(fast / kTurn, slow / kTurn));
    }
    rate_ = layout.add(name + ".rate", {relaxing_}, Start::rates(fast, slow));
    rest_ = layout.add(name + ".rest", {relaxing_}, Start::constant(0.0));
  }

  Index size() const { return size_; }  // of a state
  // The whole way to `target` is one move.
  Move next(const Clock& clock, double target) const {
    const double gap = target - clock.start;
    return {gap > 0 ? gap : 0.0, true};
  }

  // In place of the parameters the rates themselves.
  template <class S>
  void transpose(const S* params, S* transposed) const {
    for (Index i = 0; i < pairs_; ++i) {
      transposed[decay_ + i] = softplus(params[decay_ + i]);
      transposed[frequency_ + i] = softplus(params[frequency_ + i]);
    }
    for (Index i = 0; i < relaxing_; ++i) transposed[rate_ + i] = softplus(params[rate_ + i]);
  }

  // What backward needs besides h: the factors, H × w.
  Index kept() const { return size_; }

  // h, h_next: H × w, which may be the same.
  template <class S>
  void forward(Transposed<S> params, Index w, const S* dt, const S* h, S* factors,
               S* h_next) const {
    const Index n = pairs_;
    const S* const decay = params.values + decay_;
    const S* const frequency = params.values + frequency_;
    const S* const rate = params.values + rate_;
    const S* const rest = params.values + rest_;
    for (Index column = 0; column < w; ++column, h += size_, factors += size_, h_next += size_) {
      const S t = dt[column];
      sweep<S>(n, [=](auto lanes, Index i) {
        const auto size = exp_lanes(-t * lanes.load(decay + i));
        const Rotation<S> turn = rotation_lanes(t * lanes.load(frequency + i));
        const auto c = size * turn.cosine, s = size * turn.sine;
        const auto re = lanes.load(h + i), im = lanes.load(h + n + i);
        return [=, re_next = re * c - im * s, im_next = re * s + im * c] {
          lanes.store(c, factors + i);
          lanes.store(s, factors + n + i);
          lanes.store(re_next, h_next + i);
          lanes.store(im_next, h_next + n + i);
        };
      });
      const S* const g = h + 2 * n;
      S* const g_next = h_next + 2 * n;
      S* const left = factors + 2 * n;
      sweep<S>(relaxing_, [=](auto lanes, Index i) {
        const auto e = exp_lanes(-t * lanes.load(rate + i)), from = lanes.load(g + i);
        // Written so that no time leaves exactly what was there.
        return [=, to = from + (lanes.load(rest + i) - from) * (S(1) - e)] {
          lanes.store(e, left + i);
          lanes.store(to, g_next + i);
        };
      });
    }
  }

  // d_h: the gradient of h_next on entry and of h on return.
  template <class S>
  void backward(const S* params, Index w, const S* dt, const S* h, const S* factors,
                Arena<S>& scratch, S* d_h, S* grads) const {
    const Index n = pairs_, m = relaxing_;
    S* const d_decay = scratch.take(n);
    S* const d_angle = scratch.take(n);
    S* const d_rate = scratch.take(m);
    S* const d_rest = grads + rest_;
    std::fill_n(d_decay, n, S(0));
    std::fill_n(d_angle, n, S(0));
    std::fill_n(d_rate, m, S(0));
    for (Index column = 0; column < w; ++column, h += size_, factors += size_, d_h += size_) {
      const S t = dt[column];
      sweep<S>(n, [=](auto lanes, Index i) {
        const auto c = lanes.load(factors + i), s = lanes.load(factors + n + i);
        const auto re = lanes.load(h + i), im = lanes.load(h + n + i);
        const auto d_re = lanes.load(d_h + i), d_im = lanes.load(d_h + n + i);
        const auto re_next = re * c - im * s, im_next = re * s + im * c;
        // ∂z(Δ)/∂decay = −Δ z(Δ), and by the angle per time iΔ z(Δ)
        const auto fades = lanes.load(d_decay + i) - t * (d_re * re_next + d_im * im_next);
        const auto turns = lanes.load(d_angle + i) + t * (d_im * re_next - d_re * im_next);
        return [=, d_from_re = d_re * c + d_im * s, d_from_im = d_im * c - d_re * s] {
          lanes.store(fades, d_decay + i);
          lanes.store(turns, d_angle + i);
          lanes.store(d_from_re, d_h + i);
          lanes.store(d_from_im, d_h + n + i);
        };
      });
      const S* const g = h + 2 * n;
      const S* const left = factors + 2 * n;
      const S* const rest = params + rest_;
      S* const d_g = d_h + 2 * n;
      sweep<S>(m, [=](auto lanes, Index i) {
        const auto e = lanes.load(left + i), d = lanes.load(d_g + i);
        const auto way = lanes.load(rest + i) - lanes.load(g + i);
        const auto relaxes = lanes.load(d_rate + i) + t * d * way * e;
        const auto rests = lanes.load(d_rest + i) + d * (S(1) - e);
        return [=, d_from = d * e] {
          lanes.store(relaxes, d_rate + i);
          lanes.store(rests, d_rest + i);
          lanes.store(d_from, d_g + i);
        };
      });
    }
    for (Index i = 0; i < n; ++i) {
      grads[decay_ + i] += d_decay[i] * sigmoid(params[decay_ + i]);
      grads[frequency_ + i] +=
          static_cast<S>(2 * std::numbers::pi) * d_angle[i] * sigmoid(params[frequency_ + i]);
    }
    for (Index i = 0; i < m; ++i) grads[rate_ + i] += d_rate[i] * sigmoid(params[rate_ + i]);
  }

 private:
  static constexpr double kFading = 0.2;

  Index size_, pairs_, relaxing_;
  Index decay_ = 0, frequency_ = 0, rate_, rest_;
};

}  // namespace edict

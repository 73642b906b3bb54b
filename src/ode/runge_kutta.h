// One explicit Runge–Kutta step of many columns at once, each with a step length of its own, and
// its exact reverse. The vector field is a concept and knows its own caches:
//
//   S* field.state(stage)                   where stage's input y (n × w) is to be written
//   void field.evaluate(stage, S* k)        k = f(y), n × w
//   void field.pull_back(stage, d_k, d_y)   d_y += Jᵀ d_k
#pragma once

#include <algorithm>
#include <cmath>

#include "base/lanes.h"
#include "base/types.h"
#include "ode/tableau.h"

namespace edict {

// to = from + scale · slope, one column.
template <class S>
void advance(Index n, const S* from, S scale, const S* slope, S* to) {
  sweep<S>(n, [=](auto lanes, Index i) {
    return
        [=, y = lanes.load(from + i) + scale * lanes.load(slope + i)] { lanes.store(y, to + i); };
  });
}

// y_i = h + dt Σ_j a_ij k_j, k_i = f(y_i), h_next = h + dt Σ_i b_i k_i.
// h, h_next: n × w (may be the same); dt: w; k: scratch for stages (+1 if adaptive) × n × w.
template <class S, class Field>
void step_forward(const Tableau& t, Field& field, Index n, Index w, const S* h, const S* dt, S* k,
                  S* h_next) {
  const Index size = n * w;
  // to = h + dt Σ_j weights_j k_j over the first `stages` slopes
  const auto combine = [&](const auto& weights, int stages, S* to) {
    const S* from = h;  // then what has been added up so far
    for (int j = 0; j < stages; ++j) {
      const S weight = static_cast<S>(weights[j]);
      if (weight == S(0)) continue;
      for (Index e = 0, column = 0; column < w; ++column, e += n)
        advance(n, from + e, weight * dt[column], k + j * size + e, to + e);
      from = to;
    }
    if (from != to) std::copy(h, h + size, to);
  };
  for (int i = 0; i < t.stages; ++i) {
    combine(t.a[i], i, field.state(i));
    field.evaluate(i, k + i * size);
  }
  combine(t.b, t.stages, h_next);
}

// d_h: the gradient of h_next on entry and of h on return. d_k, d_y: scratch, n × w and
// stages × n × w.
template <class S, class Field>
void step_backward(const Tableau& t, Field& field, Index n, Index w, const S* dt, S* d_k, S* d_y,
                   S* d_h) {
  const Index size = n * w;
  for (int i = t.stages - 1; i >= 0; --i) {
    for (Index e = 0, column = 0; column < w; ++column, e += n) {
      const S b = static_cast<S>(t.b[i]) * dt[column];  // h_next = h + dt Σ b_i k_i
      sweep<S>(n, [=](auto lanes, Index r) {
        return [=, d = b * lanes.load(d_h + e + r)] { lanes.store(d, d_k + e + r); };
      });
      for (int j = i + 1; j < t.stages; ++j)  // y_j = h + dt Σ a_ji k_i
        if (t.a[j][i] != 0.0)
          advance(n, d_k + e, static_cast<S>(t.a[j][i]) * dt[column], d_y + j * size + e, d_k + e);
    }
    if (i == 0) break;
    std::fill_n(d_y + i * size, size, S(0));
    field.pull_back(i, d_k, d_y + i * size);  // k_i = f(y_i)
  }
  for (int i = 1; i < t.stages; ++i)  // y_i = h + …
    advance(size, d_h, S(1), d_y + i * size, d_h);
  field.pull_back(0, d_k, d_h);  // k_0 = f(h), straight into the gradient of h
}

// Root-mean-square of the scaled error of each column: error = dt Σ (b − b̂)_i k_i with the last
// stage f(h_next) in k. A step is good where the result is at most 1.
template <class S>
void error_norms(const Tableau& t, Index n, Index w, const S* h, const S* h_next, const S* dt,
                 const S* k, double rtol, double atol, double* norms) {
  const Index size = n * w;
  for (Index column = 0; column < w; ++column) {
    double sum = 0;
    for (Index r = column * n; r < (column + 1) * n; ++r) {
      double error = 0;
      for (int i = 0; i <= t.stages; ++i)
        error += t.error[i] * static_cast<double>(k[i * size + r]);
      const double scale = atol + rtol * std::max(std::abs(static_cast<double>(h[r])),
                                                  std::abs(static_cast<double>(h_next[r])));
      const double ratio = static_cast<double>(dt[column]) * error / scale;
      sum += ratio * ratio;
    }
    norms[column] = std::sqrt(sum / static_cast<double>(n));
  }
}

// Factor for the next step length (Hairer, Nørsett & Wanner 1993, II.4).
inline double step_factor(const Tableau& t, double norm) {
  if (!(norm > 0.0)) return std::isnan(norm) ? 0.2 : 5.0;
  return std::clamp(0.9 * std::pow(norm, -1.0 / t.order), 0.2, 5.0);
}

}  // namespace edict

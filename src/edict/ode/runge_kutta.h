// One explicit Runge–Kutta step of many columns at once, each with a step length of its own, and
// its exact reverse. The vector field is a concept and knows its own caches:
//
//   S* field.state(stage)                   where stage's input y (n × w) is to be written
//   void field.evaluate(stage, S* k)        k = f(y), n × w
//   void field.pull_back(stage, d_k, d_y)   d_y = Jᵀ d_k
#pragma once

#include <algorithm>
#include <cmath>

#include "edict/core/types.h"
#include "edict/ode/tableau.h"

namespace edict {

// y_i = h + dt Σ_j a_ij k_j, k_i = f(y_i), h_next = h + dt Σ_i b_i k_i.
// h, h_next: n × w (may be the same); dt: w; k: scratch for stages (+1 if adaptive) × n × w.
template <class S, class Field>
void step_forward(const Tableau& t, Field& field, Index n, Index w, const S* h, const S* dt, S* k,
                  S* h_next) {
  const Index size = n * w;
  for (int i = 0; i < t.stages; ++i) {
    S* const y = field.state(i);
    if (y != h) std::copy(h, h + size, y);
    for (int j = 0; j < i; ++j) {
      const S a = static_cast<S>(t.a[i][j]);
      if (a == S(0)) continue;
      for (Index column = 0; column < w; ++column) {
        const S scale = a * dt[column];
        const S* const slope = k + j * size + column * n;
        for (Index r = 0; r < n; ++r) y[column * n + r] += scale * slope[r];
      }
    }
    field.evaluate(i, k + i * size);
  }
  const S* from = h;  // then what has been added up so far
  for (int i = 0; i < t.stages; ++i) {
    const S b = static_cast<S>(t.b[i]);
    if (b == S(0)) continue;
    for (Index column = 0; column < w; ++column) {
      const S scale = b * dt[column];
      const S* const slope = k + i * size + column * n;
      for (Index r = column * n, s = 0; s < n; ++r, ++s) h_next[r] = from[r] + scale * slope[s];
    }
    from = h_next;
  }
}

// d_h: the gradient of h_next on entry and of h on return. d_k, d_y: scratch, stages × n × w each.
template <class S, class Field>
void step_backward(const Tableau& t, Field& field, Index n, Index w, const S* dt, S* d_k, S* d_y,
                   S* d_h) {
  const Index size = n * w;
  for (int i = t.stages - 1; i >= 0; --i) {
    S* const d = d_k + i * size;
    for (Index column = 0; column < w; ++column) {
      S* const out = d + column * n;
      const S b = static_cast<S>(t.b[i]) * dt[column];  // h_next = h + dt Σ b_i k_i
      for (Index r = 0; r < n; ++r) out[r] = b * d_h[column * n + r];
      for (int j = i + 1; j < t.stages; ++j) {
        const S a = static_cast<S>(t.a[j][i]) * dt[column];  // y_j = h + dt Σ a_ji k_i
        if (t.a[j][i] == 0.0) continue;
        const S* const later = d_y + j * size + column * n;
        for (Index r = 0; r < n; ++r) out[r] += a * later[r];
      }
    }
    field.pull_back(i, d, d_y + i * size);  // k_i = f(y_i)
  }
  for (int i = 0; i < t.stages; ++i)  // y_i = h + …
    for (Index e = 0; e < size; ++e) d_h[e] += d_y[i * size + e];
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

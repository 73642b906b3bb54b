// A nonlinear field with a known solution, for the solver tests: in polar coordinates r' = r(1 −
// r²) and θ' = 1, so that r(t) = 1/√(1 + (1/r0² − 1) e^−2t) and θ(t) = θ0 + t. Columns are points
// of the plane.
#pragma once

#include <array>
#include <cmath>
#include <vector>

#include "base/types.h"
#include "ode/runge_kutta.h"

namespace edict {

struct Oscillator {
  static constexpr double kPull = 0.2;

  explicit Oscillator(Index width) : w(width), states(Tableau::kMaxStages) {
    for (auto& y : states) y.resize(2, width);
  }

  double* state(int stage) { return states[static_cast<std::size_t>(stage)].data(); }

  void evaluate(int stage, double* k) { slope(state(stage), k); }

  void slope(const double* y, double* k) const {
    for (Index c = 0; c < w; ++c, y += 2, k += 2) {
      const double pull = kPull * (1 - y[0] * y[0] - y[1] * y[1]);
      k[0] = -y[1] + y[0] * pull;
      k[1] = y[0] + y[1] * pull;
    }
  }

  // The Jacobian is p [[1 − 3x² − y², −2xy], [−2xy, 1 − x² − 3y²]] + [[0, −1], [1, 0]].
  void pull_back(int stage, const double* d_k, double* d_y) {
    const double* p = state(stage);
    for (Index c = 0; c < w; ++c, p += 2, d_k += 2, d_y += 2) {
      const double x = p[0], y = p[1];
      d_y[0] += kPull * ((1 - 3 * x * x - y * y) * d_k[0] - 2 * x * y * d_k[1]) + d_k[1];
      d_y[1] += kPull * (-2 * x * y * d_k[0] + (1 - x * x - 3 * y * y) * d_k[1]) - d_k[0];
    }
  }

  static std::array<double, 2> solution(double r0, double theta0, double t) {
    const double r = 1 / std::sqrt(1 + (1 / (r0 * r0) - 1) * std::exp(-2 * kPull * t));
    return {r * std::cos(theta0 + t), r * std::sin(theta0 + t)};
  }

  Index w;
  std::vector<Matrix<double>> states;
};

// One step of all columns.
inline Matrix<double> step(const Tableau& t, const Matrix<double>& h, const Vector<double>& dt) {
  Oscillator field(h.cols());
  std::vector<double> k(static_cast<std::size_t>((t.stages + 1) * h.size()));
  Matrix<double> next(h.rows(), h.cols());
  step_forward(t, field, h.rows(), h.cols(), h.data(), dt.data(), k.data(), next.data());
  return next;
}

// The slope of the least-squares line through (ln x, ln y).
inline double log_slope(const std::vector<double>& x, const std::vector<double>& y) {
  double mean_x = 0, mean_y = 0, xx = 0, xy = 0;
  const auto n = static_cast<double>(x.size());
  for (std::size_t i = 0; i < x.size(); ++i)
    mean_x += std::log(x[i]) / n, mean_y += std::log(y[i]) / n;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xx += (std::log(x[i]) - mean_x) * (std::log(x[i]) - mean_x);
    xy += (std::log(x[i]) - mean_x) * (std::log(y[i]) - mean_y);
  }
  return xy / xx;
}

}  // namespace edict

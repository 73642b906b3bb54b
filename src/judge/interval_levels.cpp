#include "judge/interval_levels.h"

#include <fmt/core.h>

#include <cmath>
#include <numbers>

#include "base/error.h"
#include "math/student_t.h"

namespace edict {
namespace {

// Chebyshev coefficients in v = 2/dof − 1, one row an order: the half-width is smooth in 1/dof from
// the Cauchy distribution (v = 1) to the Gaussian (v = −1), where it is far from smooth in dof.
constexpr std::size_t kOrders = 32;
using Coefficients = std::array<PerWidth, kOrders>;

Coefficients fit() {
  Coefficients coefficients{};
  for (std::size_t node = 0; node < kOrders; ++node) {
    const double angle =
        std::numbers::pi * (static_cast<double>(node) + 0.5) / static_cast<double>(kOrders);
    const double dof = 2.0 / (1.0 + std::cos(angle));
    for (std::size_t k = 0; k < kWidths; ++k) {
      const double half_width = student_t_half_width(interval_levels()[k], dof);
      for (std::size_t order = 0; order < kOrders; ++order)
        coefficients[order][k] += half_width * std::cos(static_cast<double>(order) * angle) *
                                  (order == 0 ? 1.0 : 2.0) / static_cast<double>(kOrders);
    }
  }
  return coefficients;
}

}  // namespace

PerWidth interval_half_widths(double dof) {
  if (!(dof > 1.0))
    throw Error(fmt::format(
        "intervals of a Student-t with {} degrees of freedom: pass a number above 1", dof));
  static const Coefficients coefficients = fit();
  // Clenshaw: b_n = c_n + 2v b_{n+1} − b_{n+2}; the sum is c_0 + v b_1 − b_2.
  const double v = 2.0 / dof - 1.0;
  PerWidth b1{}, b2{};
  for (std::size_t order = kOrders - 1; order > 0; --order)
    for (std::size_t k = 0; k < kWidths; ++k) {
      const double b = coefficients[order][k] + 2.0 * v * b1[k] - b2[k];
      b2[k] = b1[k];
      b1[k] = b;
    }
  for (std::size_t k = 0; k < kWidths; ++k) b1[k] = coefficients[0][k] + v * b1[k] - b2[k];
  return b1;
}

}  // namespace edict

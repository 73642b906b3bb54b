// The multivariate gamma function Γ_m(a) = π^{m(m−1)/4} Π_{i<m} Γ(a − i/2), a > (m−1)/2, which
// normalises the (inverse) Wishart distribution. Every sum over its m arguments, half a unit apart,
// costs two evaluations of the univariate function and m−2 steps of its recurrence.
#pragma once

#include "base/types.h"

namespace edict {

double log_multivariate_gamma(double a, Index m);
double multivariate_digamma(double a, Index m);   // ψ_m, the derivative of lnΓ_m
double multivariate_trigamma(double a, Index m);  // the derivative of ψ_m

// lnΓ_m(a0) − lnΓ_m(a1) − (a0 − a1) ψ_m(a1) ≥ 0: how far lnΓ_m at a0 lies above its tangent at a1,
// which is the part of the Wishart KL divergence that its degrees of freedom decide. Computed
// term by term, so that nothing cancels when both arguments are large and near each other.
struct TangentGap {
  double value;
  double d_a0;
  double d_a1;
};
TangentGap log_multivariate_gamma_gap(double a0, double a1, Index m);

}  // namespace edict

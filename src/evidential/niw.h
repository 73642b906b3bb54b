// The Normal-Inverse-Wishart evidential distribution with diagonal Ψ, as the network puts it out:
//   x ~ N(μ, Σ),  μ | Σ ~ N(μ0, Σ/λ),  Σ ~ W⁻¹(diag ψ, ν).
// Its predictive is a multivariate Student-t with d = ν − D + 1 degrees of freedom (paper, app. B).
#pragma once

#include <cmath>

#include "base/types.h"
#include "evidential/observed.h"

namespace edict {

// A view of one column of network outputs. The head keeps λ ≥ 1 and ν ≥ D + 2; the losses ask for
// no more than λ > 0 and ν > D − 1, the variances for ν > D + 1.
template <class S>
struct Niw {
  const S* mu;       // D
  const S* log_psi;  // D
  S lambda;
  S nu;
  Index dim;  // D

  S dof() const { return nu - S(dim) + S(1); }
  // E[Σ_jj] and Var[μ_j]: what more data would leave, and what it would take away.
  S aleatoric(Index j) const { return std::exp(log_psi[j]) / (nu - S(dim) - S(1)); }
  S epistemic(Index j) const { return aleatoric(j) / lambda; }
  S predictive_variance(Index j) const { return aleatoric(j) * (S(1) + S(1) / lambda); }
  // Squared scale of feature j's Student-t.
  S scale2(Index j) const { return std::exp(log_psi[j]) * (S(1) + S(1) / lambda) / dof(); }
};

// Losses add into it; the arrays hold D entries each.
template <class S>
struct NiwGradient {
  S* d_mu;
  S* d_log_psi;
  S d_lambda = S(0);
  S d_nu = S(0);
};

}  // namespace edict

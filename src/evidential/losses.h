// The training losses of one event, over the features it observed (O, m of them). Each returns its
// unweighted value and adds weight × its gradient; with nothing observed both are 0. All is O(m)
// without allocation, computed in double whatever the scalar, and finite in float for |x − μ| and
// evidence up to 10⁶ and log ψ within ±30: what exceeds the scalar's range stays at its limit.
// Instantiated for float and double.
#pragma once

#include "evidential/niw.h"
#include "evidential/observed.h"

namespace edict {

// Negative log density of the predictive Student-t on O. With r = x − μ0 and q = λ/(1+λ) Σ r²/ψ:
//   lnΓ(d/2) − lnΓ((d+m)/2) + (m/2) ln(π(1+λ)/λ) + ½ Σ ln ψ + ((d+m)/2) ln(1+q)
template <class S>
S student_t_nll(const Niw<S>& niw, const Observed<S>& observed, S weight, NiwGradient<S>& d_niw);

// KL(Bayes ‖ post) between distributions of (μ, Σ) on O. Bayes is the conjugate update by x of
// pre's marginal on O; the gradient flows into both pre and post.
template <class S>
S niw_kl(const Niw<S>& pre, const Niw<S>& post, const Observed<S>& observed, S weight,
         NiwGradient<S>& d_pre, NiwGradient<S>& d_post);

// The moment-matched form: pre and post as Gaussians with their predictive variances, feature by
// feature, Bayes the product of pre and N(x, observation_std²), observation_std > 0.
template <class S>
S gaussian_kl(const Niw<S>& pre, const Niw<S>& post, const Observed<S>& observed, S observation_std,
              S weight, NiwGradient<S>& d_pre, NiwGradient<S>& d_post);

// ‖μ0 − x‖₁ (λ + ν): evidence costs where the prediction errs (subgradient 0 at μ0 = x).
template <class S>
S evidence_penalty(const Niw<S>& niw, const Observed<S>& observed, S weight, NiwGradient<S>& d_niw);

}  // namespace edict

// Quantiles and probabilities of a distribution that was answered.
#include <cmath>

#include "base/error.h"
#include "front/capi/border.h"
#include "math/student_t.h"

using namespace edict;
using namespace edict::capi;

namespace {

void check_distribution(double mean, double scale, double dof) {
  if (!std::isfinite(mean) || !(scale > 0) || std::isinf(scale) || !(dof > 0))
    throw Error("a distribution has a finite mean, and scale and degrees of freedom above 0");
}

}  // namespace

int edict_quantile(int64_t count, const double* mean, const double* scale, const double* dof,
                   const double* p, double* out) {
  return run_guarded([&] {
    const std::size_t size = size_of(count, "count");
    for (std::size_t i = 0; i < size; ++i) {
      check_distribution(mean[i], scale[i], dof[i]);
      if (!(p[i] > 0 && p[i] < 1))
        throw Error("a quantile's probability must lie between 0 and 1, both excluded");
      out[i] = mean[i] + scale[i] * (std::isinf(dof[i]) ? normal_quantile(p[i])
                                                        : student_t_quantile(p[i], dof[i]));
    }
  });
}

int edict_cdf(int64_t count, const double* mean, const double* scale, const double* dof,
              const double* x, double* out) {
  return run_guarded([&] {
    const std::size_t size = size_of(count, "count");
    for (std::size_t i = 0; i < size; ++i) {
      check_distribution(mean[i], scale[i], dof[i]);
      const double z = (x[i] - mean[i]) / scale[i];
      if (!std::isfinite(z))  // nothing was asked, or something beyond every number
        out[i] = std::isnan(z) ? z : (z > 0 ? 1.0 : 0.0);
      else
        out[i] = std::isinf(dof[i]) ? normal_cdf(z) : student_t_cdf(z, dof[i]);
    }
  });
}

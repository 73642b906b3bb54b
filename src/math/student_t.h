// Student-t and Gaussian distribution functions, central intervals and CRPS, in double.
// A central interval of level p is location ± half_width(p)·scale and holds probability p.
#pragma once

namespace edict {

double student_t_cdf(double z, double dof);
double student_t_quantile(double p, double dof);        // 0 < p < 1
double student_t_half_width(double level, double dof);  // 0 ≤ level < 1
// The level of the central interval that just reaches z: one call tells which intervals hold z,
// where a quantile for every level costs a root search each.
double student_t_central_level(double z, double dof);

double normal_cdf(double z);
double normal_quantile(double p);
double normal_half_width(double level);
double normal_central_level(double z);

// Φ⁻¹(T(z)) and back: what z would be if it were as unusual under a standard normal. Odd in z, and
// with the digits of the tail that z lies in; beyond ±37 normal tails end, and so do scores.
double student_t_normal_score(double z, double dof);
double student_t_at_normal_score(double score, double dof);

// Continuous ranked probability score of x under location + scale·T, T Student-t with dof > 1
// (Jordan, Krüger & Lerch 2019, J. Stat. Softw. 90(12), appendix A), and under a Gaussian.
double student_t_crps(double x, double location, double scale, double dof);
double normal_crps(double x, double mean, double std);

}  // namespace edict

// What can be asked of one predictive distribution, a Student-t or a Gaussian.
#pragma once

#include "engine/heads/marginal.h"

namespace edict {

// The standard deviation of what will be observed. Infinite where dof ≤ 2, where a Student-t has no
// variance; its quantiles and probabilities exist all the same.
double predictive_deviation(const Marginal& marginal);
double aleatoric_deviation(const Marginal& marginal);  // of the noise in the data
double epistemic_deviation(const Marginal& marginal);  // of the model's own uncertainty

// P(X ≤ x) and P(X > x), each with its digits in its own tail.
double probability_below(const Marginal& marginal, double x);
double probability_above(const Marginal& marginal, double x);

// P(|X − mean| ≥ |x − mean|): how often something at least as far off is to be expected.
double tail_probability(const Marginal& marginal, double x);

double log_density(const Marginal& marginal, double x);

// How many scales the quantile of p (0 < p < 1) is above the mean: a function of dof alone.
double standard_quantile(double p, double dof);

// Half the central interval that holds `level` of the distribution.
double half_width(const Marginal& marginal, double level);

}  // namespace edict

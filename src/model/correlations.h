// Which features of one moment err together: a correlation matrix R of their normal scores
// (engine/heads/marginal.h), one for all moments, found on series that the weights were not trained
// on (learn/posthoc/correlate.h). It travels in the model file as a part of the calibration.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <vector>

#include "base/types.h"

namespace edict {

struct CorrelatedPair {
  std::size_t first, second;  // features, first < second
  double correlation;
};

class Correlations {
 public:
  Correlations() = default;  // none is known: every feature errs for itself
  // Throws Error unless R is symmetric and positive definite with a unit diagonal.
  explicit Correlations(Matrix<double> r);

  bool empty() const { return r_.size() == 0; }
  const Matrix<double>& matrix() const { return r_; }
  // Of these features alone, in their order.
  Matrix<double> among(std::span<const std::size_t> features) const;
  // Those that are not 0, the strongest first.
  std::vector<CorrelatedPair> pairs() const;

 private:
  Matrix<double> r_;
};

// Below the diagonal, row after row.
nlohmann::json to_json(const Correlations& correlations);
// Throws Error, or nlohmann's exception, where the text is not a matrix of so many features.
Correlations correlations_from_json(const nlohmann::json& json, std::size_t features);

}  // namespace edict

#include "model/correlations.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "base/json/json.h"

namespace edict {
namespace {

// Of R's eigenvalues; what is fitted stays far above it.
constexpr double kLeastEigenvalue = 1e-6;

}  // namespace

Correlations::Correlations(Matrix<double> r) : r_(std::move(r)) {
  const bool right = r_.rows() == r_.cols() && r_.allFinite() && r_ == r_.transpose() &&
                     (r_.diagonal().array() == 1.0).all();
  if (!right) throw Error("its correlations are no symmetric matrix with a diagonal of ones");
  if (r_.size() == 0) return;
  const Eigen::SelfAdjointEigenSolver<Matrix<double>> solver(r_, Eigen::EigenvaluesOnly);
  if (solver.info() != Eigen::Success || !(solver.eigenvalues()[0] >= kLeastEigenvalue))
    throw Error("its correlations contradict each other: they are not positive definite");
}

Matrix<double> Correlations::among(std::span<const std::size_t> features) const {
  const auto count = static_cast<Index>(features.size());
  Matrix<double> part(count, count);
  for (Index i = 0; i < count; ++i)
    for (Index j = 0; j < count; ++j)
      part(i, j) = r_(static_cast<Index>(features[static_cast<std::size_t>(i)]),
                      static_cast<Index>(features[static_cast<std::size_t>(j)]));
  return part;
}

std::vector<CorrelatedPair> Correlations::pairs() const {
  std::vector<CorrelatedPair> found;
  for (Index i = 0; i < r_.rows(); ++i)
    for (Index j = i + 1; j < r_.cols(); ++j)
      if (r_(i, j) != 0)
        found.push_back({static_cast<std::size_t>(i), static_cast<std::size_t>(j), r_(i, j)});
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
    return std::abs(a.correlation) > std::abs(b.correlation);
  });
  return found;
}

nlohmann::json to_json(const Correlations& correlations) {
  nlohmann::json below = nlohmann::json::array();
  const Matrix<double>& r = correlations.matrix();
  for (Index i = 1; i < r.rows(); ++i)
    for (Index j = 0; j < i; ++j) below.push_back(r(i, j));
  return below;
}

Correlations correlations_from_json(const nlohmann::json& json, std::size_t features) {
  const auto below = json.get<std::vector<double>>();
  if (features == 0 || below.size() != features * (features - 1) / 2)
    throw Error("its correlations are of another number of features");
  const auto size = static_cast<Index>(features);
  Matrix<double> r = Matrix<double>::Identity(size, size);
  auto next = below.begin();
  for (Index i = 1; i < size; ++i)
    for (Index j = 0; j < i; ++j) r(i, j) = r(j, i) = *next++;
  return Correlations(std::move(r));
}

}  // namespace edict

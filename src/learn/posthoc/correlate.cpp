#include "learn/posthoc/correlate.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <span>
#include <tuple>

#include "base/each_run.h"

namespace edict {
namespace {

// Of a pair, below which nothing is told of it.
constexpr double kFewestMoments = 50;
constexpr double kFewestSeries = 10;
// A single value that is far off would make a correlation by itself.
constexpr double kFarthest = 4.0;
constexpr double kLeastEigenvalue = 0.02;

// Of pairs (i, j), i > j: sums over the moments at which both were observed.
struct PairSums {
  Matrix<double> own, other, product, moments;  // of i², j² and ij; moments are counted

  explicit PairSums(Index features)
      : own(Matrix<double>::Zero(features, features)), other(own), product(own), moments(own) {}

  void clear() {
    for (auto* sum : {&own, &other, &product, &moments}) sum->setZero();
  }

  void add(std::span<const ScoredObservation> moment) {
    for (const ScoredObservation& a : moment)
      for (const ScoredObservation& b : moment) {
        if (a.feature <= b.feature) continue;
        const double x = std::clamp(a.score, -kFarthest, kFarthest);
        const double y = std::clamp(b.score, -kFarthest, kFarthest);
        const auto i = static_cast<Index>(a.feature), j = static_cast<Index>(b.feature);
        own(i, j) += a.weight * x * x;
        other(i, j) += a.weight * y * y;
        product(i, j) += a.weight * x * y;
        moments(i, j) += 1;
      }
  }
};

template <class Visit>
void each_series(std::span<const ScoredObservation> observations, const Visit& visit) {
  each_run(
      observations, [](const auto& a, const auto& b) { return a.series == b.series; }, visit);
}

void add_moments(std::span<const ScoredObservation> series, PairSums& sums) {
  each_run(
      series, [](const auto& a, const auto& b) { return a.stop == b.stop; },
      [&](std::span<const ScoredObservation> moment) { sums.add(moment); });
}

Matrix<double> positive_definite(const Matrix<double>& r) {
  const Eigen::SelfAdjointEigenSolver<Matrix<double>> solver(r);
  if (solver.eigenvalues()[0] >= kLeastEigenvalue) return r;
  const Vector<double> bounded = solver.eigenvalues().cwiseMax(kLeastEigenvalue);
  const Matrix<double> near =
      solver.eigenvectors() * bounded.asDiagonal() * solver.eigenvectors().transpose();
  Matrix<double> scaled = Matrix<double>::Identity(r.rows(), r.cols());
  for (Index i = 0; i < r.rows(); ++i)
    for (Index j = 0; j < i; ++j)
      scaled(i, j) = scaled(j, i) = near(i, j) / std::sqrt(near(i, i) * near(j, j));
  return scaled;
}

}  // namespace

Correlations fit_correlations(std::vector<ScoredObservation> observations, std::size_t features) {
  const auto place = [](const ScoredObservation& o) {
    return std::tuple(o.series, o.stop, o.feature);
  };
  std::sort(observations.begin(), observations.end(),
            [&](const auto& a, const auto& b) { return place(a) < place(b); });
  const auto size = static_cast<Index>(features);
  PairSums all(size), one(size);
  add_moments(observations, all);

  // What a series contributes to r is its part of the derivative of r by the weights.
  Matrix<double> r = Matrix<double>::Identity(size, size);
  Matrix<double> variance = Matrix<double>::Zero(size, size), series = variance;
  const auto told = [&](Index i, Index j) {
    return all.moments(i, j) >= kFewestMoments && all.own(i, j) > 0 && all.other(i, j) > 0;
  };
  const auto each_told_pair = [&](const auto& visit) {
    for (Index i = 0; i < size; ++i)
      for (Index j = 0; j < i; ++j)
        if (told(i, j)) visit(i, j);
  };
  each_told_pair([&](Index i, Index j) {
    r(i, j) = all.product(i, j) / std::sqrt(all.own(i, j) * all.other(i, j));
  });
  each_series(observations, [&](std::span<const ScoredObservation> own) {
    one.clear();
    add_moments(own, one);
    each_told_pair([&](Index i, Index j) {
      if (one.moments(i, j) == 0) return;
      const double part =
          one.product(i, j) / std::sqrt(all.own(i, j) * all.other(i, j)) -
          0.5 * r(i, j) * (one.own(i, j) / all.own(i, j) + one.other(i, j) / all.other(i, j));
      variance(i, j) += part * part;
      series(i, j) += 1;
    });
  });
  each_told_pair([&](Index i, Index j) {
    const double n = series(i, j), square = r(i, j) * r(i, j);
    const double noise = n >= kFewestSeries ? variance(i, j) * n / (n - 1) : square;
    r(i, j) = square > noise ? r(i, j) * (1.0 - noise / square) : 0.0;
    r(j, i) = r(i, j);
  });
  if (r.isIdentity(0.0)) return {};
  return Correlations(positive_definite(r));
}

}  // namespace edict

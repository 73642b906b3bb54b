// Correlations that are found: those by which scores were drawn, and none where none are.
#include "learn/posthoc/correlate.h"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <span>

#include "base/generator.h"

namespace edict {
namespace {

Matrix<double> drawn_by() {
  Matrix<double> r(4, 4);
  r << 1, 0.9, -0.4, 0,  //
      0.9, 1, -0.3, 0,   //
      -0.4, -0.3, 1, 0,  //
      0, 0, 0, 1;
  return r;
}

// Each feature is there at 60 % of the moments.
std::vector<ScoredObservation> drawn(const Matrix<double>& r, std::size_t series,
                                     std::size_t moments, std::uint64_t seed = 1) {
  const Matrix<double> root = r.llt().matrixL();
  std::vector<ScoredObservation> all;
  for (std::size_t i = 0; i < series; ++i) {
    Generator random(seed, "scores", i);
    for (std::size_t s = 0; s < moments; ++s) {
      Vector<double> n(r.rows());
      for (double& each : n) each = random.normal();
      n = root * n;
      for (Index j = 0; j < n.size(); ++j)
        if (random.uniform() < 0.6)
          all.push_back({i, s, static_cast<std::size_t>(j), n[j], 1.0 / double(moments)});
    }
  }
  return all;
}

TEST(FitCorrelations, FindsThoseByWhichScoresWereDrawn) {
  const Correlations found = fit_correlations(drawn(drawn_by(), 300, 20), 4);
  ASSERT_FALSE(found.empty());
  // About 2,160 pairs of moments: a deviation of at most 0.022.
  EXPECT_LT((found.matrix() - drawn_by()).cwiseAbs().maxCoeff(), 0.08);
}

TEST(FitCorrelations, DoesNotDependOnTheOrderOfObservations) {
  auto turned = drawn(drawn_by(), 60, 10);
  const Correlations found = fit_correlations(turned, 4);
  Generator(5).shuffle(std::span(turned));
  EXPECT_EQ(fit_correlations(turned, 4).matrix(), found.matrix());
}

TEST(FitCorrelations, OfFewDataAreNone) {
  EXPECT_TRUE(fit_correlations({}, 4).empty());
  EXPECT_TRUE(fit_correlations(drawn(Matrix<double>::Identity(1, 1), 50, 20), 1).empty());
  EXPECT_TRUE(fit_correlations(drawn(drawn_by(), 12, 6), 4).empty()) << "some 26 moments a pair";
  EXPECT_TRUE(fit_correlations(drawn(drawn_by(), 5, 200), 4).empty()) << "five series";
}

// Series that keep their errors: two thousand moments are forty pieces of evidence.
TEST(FitCorrelations, CountsSeriesAndNotTheirMoments) {
  double largest = 0, naive = 0;
  constexpr std::size_t kRounds = 40;
  for (std::size_t round = 0; round < kRounds; ++round) {
    std::vector<ScoredObservation> all;
    double ab = 0, aa = 0, bb = 0;
    for (std::size_t i = 0; i < 40; ++i) {
      Generator random(round, "kept", i);
      const double a = random.normal(), b = random.normal();
      ab += a * b, aa += a * a, bb += b * b;
      for (std::size_t s = 0; s < 50; ++s) {
        all.push_back({i, s, 0, a, 1});
        all.push_back({i, s, 1, b, 1});
      }
    }
    const Correlations found = fit_correlations(all, 2);
    largest += found.empty() ? 0 : std::abs(found.matrix()(0, 1)) / kRounds;
    naive += std::abs(ab) / std::sqrt(aa * bb) / kRounds;
  }
  // Nothing is there; chance alone makes √(2/π)/√40 = 0.126.
  EXPECT_GT(naive, 0.1);
  EXPECT_LT(largest, 0.6 * naive);
}

// Pairs that were never observed at the same moments contradict each other.
TEST(FitCorrelations, MakesOneMatrixOfPairsThatContradictEachOther) {
  std::vector<ScoredObservation> all;
  const std::size_t pairs[][2] = {{0, 1}, {1, 2}, {0, 2}};
  for (std::size_t i = 0; i < 100; ++i) {
    Generator random(2, "pairs", i);
    for (std::size_t s = 0; s < 30; ++s) {
      const double n = random.normal(), m = n + 0.2 * random.normal();
      all.push_back({i, s, pairs[s % 3][0], n, 1});
      all.push_back({i, s, pairs[s % 3][1], s % 3 == 2 ? -m : m, 1});
    }
  }
  const Matrix<double> r = fit_correlations(all, 3).matrix();
  const Eigen::SelfAdjointEigenSolver<Matrix<double>> solver(r);
  EXPECT_GT(solver.eigenvalues()[0], 0.005);
  EXPECT_GT(r(0, 1), 0.3);
  EXPECT_GT(r(1, 2), 0.3);
  EXPECT_LT(r(0, 2), -0.3);
}

TEST(FitCorrelations, AreNotMadeByOneValueThatIsFarOff) {
  auto all = drawn(Matrix<double>::Identity(2, 2), 200, 10);
  for (ScoredObservation& o : all)
    if (o.series == 7 && o.stop == 3) o.score = 37;
  const Correlations found = fit_correlations(all, 2);
  EXPECT_LT(found.empty() ? 0 : std::abs(found.matrix()(0, 1)), 0.1);
}

}  // namespace
}  // namespace edict

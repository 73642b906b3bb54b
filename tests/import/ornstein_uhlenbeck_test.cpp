// The exact predictor against the conditional Gaussian of the whole series, and the data against
// the predictor.
#include "research/import/ornstein_uhlenbeck.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

namespace edict {
namespace {

double covariance(const OrnsteinUhlenbeck& p, double t, int j, double s, int k) {
  const double variance = p.sigma * p.sigma / (2 * p.theta);
  return variance * (j == k ? 1.0 : p.correlation) * std::exp(-p.theta * std::abs(t - s));
}

TEST(ExactPredictor, IsTheConditionalGaussianOfAllThatCameBefore) {
  const OrnsteinUhlenbeck process;
  struct Seen {
    double time;
    std::int32_t feature;
    double value;
  };
  const std::vector<Seen> seen{
      {0.3, 0, 0.9}, {0.8, 1, -0.2}, {0.8, 0, 0.7}, {2.0, 1, -1.0}, {2.1, 0, 0.1}};
  ExactPredictor exact(process);
  for (const Seen& s : seen) exact.observe(s.time, ObservationRange(&s.feature, &s.value, 1));

  const auto n = static_cast<Eigen::Index>(seen.size());
  Eigen::MatrixXd among(n, n);
  Eigen::VectorXd off(n);
  for (Eigen::Index a = 0; a < n; ++a) {
    const Seen& x = seen[static_cast<std::size_t>(a)];
    off[a] = x.value - process.level[static_cast<std::size_t>(x.feature)];
    for (Eigen::Index b = 0; b < n; ++b) {
      const Seen& y = seen[static_cast<std::size_t>(b)];
      among(a, b) = covariance(process, x.time, x.feature, y.time, y.feature) +
                    (a == b ? process.noise * process.noise : 0.0);
    }
  }
  for (const double time : {2.1, 2.5, 4.0, 40.0})
    for (const int feature : {0, 1}) {
      Eigen::VectorXd to(n);
      for (Eigen::Index a = 0; a < n; ++a)
        to[a] = covariance(process, time, feature, seen[static_cast<std::size_t>(a)].time,
                           seen[static_cast<std::size_t>(a)].feature);
      const Eigen::VectorXd weights = among.ldlt().solve(to);
      const auto [mean, variance] = exact.expected(time, static_cast<std::size_t>(feature));
      EXPECT_NEAR(mean, process.level[static_cast<std::size_t>(feature)] + weights.dot(off), 1e-12);
      EXPECT_NEAR(variance,
                  covariance(process, time, feature, time, feature) - weights.dot(to) +
                      process.noise * process.noise,
                  1e-12);
    }
}

TEST(OrnsteinUhlenbeck, DrawsWhatItsPredictorExpects) {
  const OrnsteinUhlenbeck process;
  const Dataset data = generate_ornstein_uhlenbeck(400, 3);
  data.check();
  ASSERT_EQ(data.size(), 400u);
  double count = 0, sum = 0, squares = 0;
  for (std::size_t i = 0; i < data.size(); ++i) {
    ExactPredictor exact(process);
    for (std::size_t e = data.first_event[i]; e < data.first_event[i + 1]; ++e) {
      const Observation first = data.observed(e)[0];
      const auto [mean, variance] =
          exact.expected(data.times[e], static_cast<std::size_t>(first.feature));
      const double z = (first.value - mean) / std::sqrt(variance);
      ++count, sum += z, squares += z * z;
      exact.observe(data.times[e], data.observed(e));
    }
  }
  ASSERT_GT(count, 6000);
  // One-step errors are independent standard normals: three deviations of mean and mean square.
  EXPECT_NEAR(sum / count, 0.0, 3 / std::sqrt(count));
  EXPECT_NEAR(squares / count, 1.0, 3 * std::sqrt(2 / count));
}

TEST(OrnsteinUhlenbeck, ASeriesDoesNotDependOnHowManyThereAre) {
  const Dataset few = generate_ornstein_uhlenbeck(3, 5), more = generate_ornstein_uhlenbeck(9, 5);
  for (std::size_t e = 0; e < few.events(); ++e) EXPECT_EQ(few.times[e], more.times[e]);
  for (std::size_t o = 0; o < few.observations(); ++o) EXPECT_EQ(few.value[o], more.value[o]);
}

}  // namespace
}  // namespace edict

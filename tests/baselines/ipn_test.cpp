// IPN's own pieces: the interpolation layer against its formulas written out term by term, where
// the reference points lie, and what is reconstructed.
#include "baselines/ipn.h"

#include <gtest/gtest.h>

#include <cmath>

#include "baselines/supervised_case.h"

namespace edict {
namespace {

struct Channel {
  std::vector<double> t, x;
};

struct Interpolated {
  std::vector<std::vector<double>> y;  // [point][3D]
};

Interpolated interpolate(const std::vector<Channel>& channels, const std::vector<double>& points,
                         const Interpolation& layer, const Vector<double>& params) {
  std::vector<Index> first{0};
  std::vector<double> t, x;
  for (const Channel& c : channels) {
    t.insert(t.end(), c.t.begin(), c.t.end());
    x.insert(x.end(), c.x.begin(), c.x.end());
    first.push_back(static_cast<Index>(t.size()));
  }
  Arena<double> arena;
  Arena<bool> flags;
  const auto cache = layer.cache(arena, flags, static_cast<Index>(points.size()));
  layer.forward(params.data(), points.data(), first.data(), t.data(), x.data(), cache);
  Interpolated result;
  for (std::size_t k = 0; k < points.size(); ++k) {
    result.y.emplace_back(3 * channels.size());
    layer.read(cache, static_cast<Index>(k), result.y.back().data());
  }
  return result;
}

const std::vector<Channel> kChannels = {
    {{0.1, 0.9, 2.0}, {1.0, -0.5, 0.7}}, {{1.2}, {2.0}}, {{}, {}}};
const std::vector<double> kPoints = {0.0, 0.5, 1.0, 1.5, 2.0};

TEST(Interpolation, FollowsItsFormulas) {
  ParameterLayout layout;
  const Interpolation layer(layout, "i", 3);
  const Vector<double> params = moved_parameters<double>(layout, 1);
  const Interpolated result = interpolate(kChannels, kPoints, layer, params);

  const std::size_t n = 3;
  std::vector<std::vector<double>> sigma(5, std::vector<double>(n)), lambda = sigma, gamma = sigma;
  std::vector<double> mu(n);
  for (std::size_t k = 0; k < 5; ++k)
    for (std::size_t d = 0; d < n; ++d) {
      const double alpha = std::log1p(std::exp(params[static_cast<Index>(d)]));
      double w = 0, wx = 0, v = 0, vx = 0;
      for (std::size_t j = 0; j < kChannels[d].t.size(); ++j) {
        const double squared = std::pow(kPoints[k] - kChannels[d].t[j], 2);
        w += std::exp(-alpha * squared);
        wx += std::exp(-alpha * squared) * kChannels[d].x[j];
        v += std::exp(-10 * alpha * squared);
        vx += std::exp(-10 * alpha * squared) * kChannels[d].x[j];
      }
      lambda[k][d] = w;
      if (w > 0) sigma[k][d] = wx / w, gamma[k][d] = vx / v;
      mu[d] += sigma[k][d] / 5;
    }
  for (std::size_t k = 0; k < 5; ++k)
    for (std::size_t d = 0; d < n; ++d) {
      double chi = mu[d];
      const double total = lambda[k][0] + lambda[k][1] + lambda[k][2];
      for (std::size_t e = 0; e < n; ++e)
        chi += params[static_cast<Index>(3 + 3 * e + d)] * lambda[k][e] / total *
               (sigma[k][e] - mu[e]);
      EXPECT_NEAR(result.y[k][d], chi, 1e-12);
      EXPECT_NEAR(result.y[k][n + d], lambda[k][d], 1e-12);
      EXPECT_NEAR(result.y[k][2 * n + d], gamma[k][d] - chi, 1e-12);
    }
}

// Far from every observation the weights underflow; the interpolant is then the nearest value.
TEST(Interpolation, StaysFiniteFarFromEveryObservation) {
  ParameterLayout layout;
  const Interpolation layer(layout, "i", 3);
  const Vector<double> params = layout.initial<double>(1);
  const Interpolated result = interpolate(kChannels, {1e4}, layer, params);
  for (const double y : result.y[0]) EXPECT_TRUE(std::isfinite(y));
  EXPECT_NEAR(result.y[0][0] + result.y[0][6], 0.7, 1e-12);  // γ is the last observation
  EXPECT_EQ(result.y[0][3], 0.0);
}

TEST(Interpolation, MixingStartsAsTheIdentity) {
  ParameterLayout layout;
  const Interpolation layer(layout, "i", 2);
  const Vector<double> params = layout.initial<double>(4);
  EXPECT_EQ(Vector<double>(params.tail(4)), (Vector<double>(4) << 1, 0, 0, 1).finished());
}

// The state must not change when points past the last observation are added, nor without them.
TEST(Ipn, ReferencePointsReachTheLastObservation) {
  Config config = small_supervised<Ipn>();
  assign(config, "model.reference_step=0.5");
  Timeline<double> timeline;
  timeline.start = 2.0;
  timeline.stop(2.6, Timeline<double>::kAbsorb);
  timeline.observe(0, 1.0);
  timeline.stop(3.2, Timeline<double>::kAbsorb);  // 1.2 after the start: points 0, 0.5, 1, 1.5
  timeline.observe(1, -1.0);
  const Batch<double> batch({timeline});
  const auto logits = [&](const std::string& end) {
    assign(config, "model.reference_end=" + end);
    const Supervised<Ipn> model(network_settings(config), kFeatures, 0, kClasses);
    return classify<double, Ipn>(model, batch.examples, moved_parameters<double>(model.layout, 2));
  };
  EXPECT_EQ(logits("auto"), logits("1.5"));
  EXPECT_NE(logits("auto"), logits("1.0"));
  EXPECT_NE(logits("auto"), logits("2.0"));
}

TEST(Ipn, TooManyReferencePointsAreRefused) {
  Config config = small_supervised<Ipn>();
  assign(config, "model.reference_step=1e-9");
  const Supervised<Ipn> model(network_settings(config), kFeatures, kCovariates, kClasses);
  const Batch<double> batch(1, {3});
  EXPECT_THROW(
      (classify<double, Ipn>(model, batch.examples, moved_parameters<double>(model.layout, 2))),
      Error);
}

// Half of the observations are held out: their number and squared error are reported.
TEST(Ipn, ReconstructsWhatIsHeldOut) {
  Config config = small_supervised<Ipn>();
  assign(config, "loss.reconstruction_holdout=0.5");
  const Supervised<Ipn> model(network_settings(config), kFeatures, kCovariates, kClasses);
  const Vector<double> params = moved_parameters<double>(model.layout, 2);
  const Batch<double> batch(2, std::vector<int>(40, 12));
  double observations = 0;
  for (const auto& timeline : batch.timelines)
    observations += static_cast<double>(timeline.value.size());
  LossWeights weights;
  weights.classification = 1;
  Vector<double> grads = Vector<double>::Zero(params.size());
  SupervisedPass<double, Ipn> pass(model);
  const LossSums sums = pass.learn(params.data(), batch.examples, weights, grads.data());
  // Binomial: four standard deviations of a fair coin.
  EXPECT_NEAR(sums.observations, observations / 2, 4 * std::sqrt(observations / 4));
  EXPECT_GT(sums.squared_error, 0);
  EXPECT_GT(sums.reconstruction, 0);

  assign(config, "loss.reconstruction=0");
  const Supervised<Ipn> without(network_settings(config), kFeatures, kCovariates, kClasses);
  const LossSums none = SupervisedPass<double, Ipn>(without).learn(params.data(), batch.examples,
                                                                   weights, grads.data());
  EXPECT_EQ(none.reconstruction, 0);
  EXPECT_EQ(none.classification, sums.classification);
}

}  // namespace
}  // namespace edict

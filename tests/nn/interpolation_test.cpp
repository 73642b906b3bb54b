// The interpolation layer of IPN against its definition, sum by sum.
#include "nn/interpolation.h"

#include "nn/gradient_check.h"

namespace edict {
namespace {

constexpr Index kChannels = 3,
                kPoints = 11;  // more points than a register holds, and not all of it

struct Interpolated : testing::Test {
  ParameterLayout layout;
  Interpolation layer{layout, "i", kChannels};
  Generator rng{12};
  Vector<double> params = random_vector(rng, layout.size());
  // Channel 0 has four observations, channel 1 none, channel 2 a single one.
  std::vector<Index> first = {0, 4, 4, 5};
  std::vector<double> t = {0.1, 0.35, 0.4, 0.9, 0.6}, x = {1.0, -2.0, 0.5, 3.0, -1.5}, r = points();

  static std::vector<double> points() {
    std::vector<double> r;
    for (Index k = 0; k < kPoints; ++k) r.push_back(static_cast<double>(k) / (kPoints - 1));
    return r;
  }

  // 3D × K.
  Vector<double> forward(const Vector<double>& p) const {
    Arena<double> arena;
    Arena<bool> flags;
    const auto cache = layer.cache(arena, flags, kPoints);
    layer.forward(p.data(), r.data(), first.data(), t.data(), x.data(), cache);
    Vector<double> y(3 * kChannels * kPoints);
    for (Index k = 0; k < kPoints; ++k) layer.read(cache, k, y.data() + k * 3 * kChannels);
    return y;
  }
};

TEST_F(Interpolated, EqualsTheDefinition) {
  const NamedWeights weight(layout, params);
  const Vector<double> y = forward(params);
  Matrix<double> sigma = Matrix<double>::Zero(kChannels, kPoints), lambda = sigma, gamma = sigma;
  for (Index d = 0; d < kChannels; ++d) {
    const double alpha = std::log1p(std::exp(weight("i.bandwidth", d)));
    for (Index k = 0; k < kPoints; ++k) {
      double smooth = 0, sharp = 0;
      for (auto j = static_cast<std::size_t>(first[static_cast<std::size_t>(d)]);
           j < static_cast<std::size_t>(first[static_cast<std::size_t>(d) + 1]); ++j) {
        const double distance = r[static_cast<std::size_t>(k)] - t[j];
        const double w = std::exp(-alpha * distance * distance);
        const double w10 = std::exp(-10 * alpha * distance * distance);
        lambda(d, k) += w;
        smooth += w * x[j];
        sharp += w10;
        gamma(d, k) += w10 * x[j];
      }
      if (lambda(d, k) == 0) continue;
      sigma(d, k) = smooth / lambda(d, k);
      gamma(d, k) /= sharp;
    }
  }
  for (Index k = 0; k < kPoints; ++k)
    for (Index d = 0; d < kChannels; ++d) {
      double chi = sigma.row(d).mean();
      for (Index e = 0; e < kChannels; ++e)
        chi += weight("i.mixing", e, d) * lambda(e, k) / lambda.col(k).sum() *
               (sigma(e, k) - sigma.row(e).mean());
      const double* const at = y.data() + k * 3 * kChannels;
      EXPECT_NEAR(at[d], chi, 1e-12) << d << " at " << k;
      EXPECT_NEAR(at[kChannels + d], lambda(d, k), 1e-12) << d << " at " << k;
      EXPECT_NEAR(at[2 * kChannels + d], gamma(d, k) - chi, 1e-12) << d << " at " << k;
    }
}

TEST_F(Interpolated, BackwardEqualsDifferences) {
  Arena<double> arena;
  Arena<bool> flags;
  const auto cache = layer.cache(arena, flags, kPoints);
  layer.forward(params.data(), r.data(), first.data(), t.data(), x.data(), cache);
  const Vector<double> c = random_vector(rng, 3 * kChannels * kPoints);
  Vector<double> d_chi(kChannels * kPoints), d_log_lambda(d_chi.size()), d_gamma(d_chi.size());
  for (Index k = 0; k < kPoints; ++k)
    layer.read_backward(cache, k, c.data() + k * 3 * kChannels, d_chi.data(), d_log_lambda.data(),
                        d_gamma.data());
  Vector<double> grads = Vector<double>::Constant(layout.size(), 5);
  layer.backward(params.data(), cache, d_chi.data(), d_log_lambda.data(), d_gamma.data(), arena,
                 grads.data());
  // Observations have no gradient.
  expect_gradients([&](const auto& p, const auto&) { return forward(p); }, params, {}, c, {}, grads,
                   5);
}

TEST_F(Interpolated, WithoutAnyObservationEverythingIsZero) {
  first = {0, 0, 0, 0};
  EXPECT_TRUE(forward(params).isZero(0));
}

// Every weight e^−α(r − t)² underflows to 0; the nearest observation still decides.
TEST_F(Interpolated, FarFromEveryObservationTheNearestIsTaken) {
  params.head(kChannels).setConstant(50);  // α ≈ 50
  for (double& point : r) point += 100;
  Arena<double> arena;
  Arena<bool> flags;
  const auto cache = layer.cache(arena, flags, kPoints);
  layer.forward(params.data(), r.data(), first.data(), t.data(), x.data(), cache);
  for (Index k = 0; k < kPoints; ++k) {
    EXPECT_NEAR(cache.sigma[k], 3.0, 1e-12);  // at 0.9, the last of channel 0
    EXPECT_NEAR(cache.gamma[k], 3.0, 1e-12);
  }
  EXPECT_TRUE(forward(params).allFinite());
}

}  // namespace
}  // namespace edict

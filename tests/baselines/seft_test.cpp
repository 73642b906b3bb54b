// SeFT's own pieces: a set has no order, attention starts as a mean, and its weights follow from
// the query made of the whole set.
#include "baselines/seft.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "baselines/supervised_case.h"

namespace edict {
namespace {

TEST(Seft, TheOrderOfSimultaneousObservationsDoesNotMatter) {
  const Supervised<Seft> model(network_settings(small_supervised<Seft>()), kFeatures, kCovariates,
                               kClasses);
  const Vector<double> params = moved_parameters<double>(model.layout, 1);
  Generator rng(1);
  const auto timeline = random_timeline<double>(rng, kFeatures, 5, 0.3, 1.1);
  auto other = timeline;
  for (const auto& stop : other.stops) {
    std::reverse(other.feature.begin() + stop.first,
                 other.feature.begin() + stop.first + stop.count);
    std::reverse(other.value.begin() + stop.first, other.value.begin() + stop.first + stop.count);
  }
  const Batch<double> batch({timeline, other});
  const Matrix<double> logits = classify<double, Seft>(model, batch.examples, params);
  EXPECT_LT((logits.col(0) - logits.col(1)).cwiseAbs().maxCoeff(), 1e-13);
}

TEST(Seft, TimeCountsFromTheStart) {
  const Supervised<Seft> model(network_settings(small_supervised<Seft>()), kFeatures, kCovariates,
                               kClasses);
  const Vector<double> params = moved_parameters<double>(model.layout, 1);
  Generator rng(2);
  const auto timeline = random_timeline<double>(rng, kFeatures, 5, 0.3, 0.6);
  auto later = timeline, shifted = timeline;
  later.start += 8.0;
  for (auto& stop : later.stops) stop.time += 8.0;
  for (auto& stop : shifted.stops) stop.time += 8.0;
  const Batch<double> batch({timeline, later, shifted});
  const Matrix<double> logits = classify<double, Seft>(model, batch.examples, params);
  EXPECT_LT((logits.col(0) - logits.col(1)).cwiseAbs().maxCoeff(), 1e-13);
  EXPECT_GT((logits.col(0) - logits.col(2)).cwiseAbs().maxCoeff(), 1e-3);
}

TEST(Seft, ScalesRunFromOneToTheLongest) {
  Config config = small_supervised<Seft>();
  assign(config, "model.time_scales=3");
  assign(config, "model.longest_scale=64.0");
  ParameterLayout layout;
  const Seft seft(layout, network_settings(config), kFeatures, 0);
  ASSERT_EQ(seft.scales.size(), 3u);
  EXPECT_DOUBLE_EQ(seft.scales[0], 1.0);
  EXPECT_DOUBLE_EQ(seft.scales[1], 8.0);
  EXPECT_DOUBLE_EQ(seft.scales[2], 64.0);
}

struct Sets {
  Sets() {
    segments.first = {0, 3, 3, 7};  // the second is empty
    Generator rng(5);
    for (Index i = 0; i < 7 * 2; ++i) x.push_back(rng.normal());
  }
  Segments segments;
  std::vector<double> x;  // 2 × 7
};

TEST(SetAttention, StartsAsTheMean) {
  const Sets sets;
  ParameterLayout layout;
  const SetAttention attention(layout, "a", 2, 3, 4, 2);
  const Vector<double> params = layout.initial<double>(1);
  Arena<double> arena;
  SetAttention::Cache<double> cache;
  attention.forward(params.data(), sets.segments, sets.x.data(), arena, cache);
  for (Index i = 0; i < 2 * 3; ++i) EXPECT_DOUBLE_EQ(cache.a[i], 1.0 / 3.0);
  for (Index i = 2 * 3; i < 2 * 7; ++i) EXPECT_DOUBLE_EQ(cache.a[i], 0.25);
}

// Formed with explicit keys, a set at a time.
TEST(SetAttention, WeightsAreTheSoftmaxOfQueryTimesKey) {
  const Sets sets;
  constexpr Index kWidth = 3, kKey = 4, kHeads = 2;
  ParameterLayout layout;
  const SetAttention attention(layout, "a", 2, kWidth, kKey, kHeads);
  const Vector<double> params = moved_parameters<double>(layout, 2);
  const auto tensor = [&](const std::string& name, Index rows, Index cols) {
    for (const Tensor& t : layout.tensors())
      if (t.name == name)
        return WeightMatrix<double>(
            Eigen::Map<const WeightMatrix<double>>(params.data() + t.offset, rows, cols));
    throw std::runtime_error("no tensor " + name);
  };
  Arena<double> arena;
  SetAttention::Cache<double> cache;
  attention.forward(params.data(), sets.segments, sets.x.data(), arena, cache);
  for (const auto& [begin, size] : {std::pair<Index, Index>{0, 3}, {3, 4}}) {
    const Eigen::Map<const Matrix<double>> x(sets.x.data() + 2 * begin, 2, size);
    Matrix<double> y =
        ((tensor("a.psi.0.weight", 3, 2) * x).colwise() + tensor("a.psi.0.bias", 3, 1).col(0))
            .cwiseMax(0.0);
    y = ((tensor("a.psi.1.weight", 3, 3) * y).colwise() + tensor("a.psi.1.bias", 3, 1).col(0))
            .cwiseMax(0.0);
    const Vector<double> f =
        (tensor("a.rho.weight", 3, 3) * y.rowwise().mean() + tensor("a.rho.bias", 3, 1))
            .cwiseMax(0.0);
    const Vector<double> q = tensor("a.query.weight", kHeads * kKey, kWidth) * f +
                             tensor("a.query.bias", kHeads * kKey, 1);
    const Matrix<double> keys = tensor("a.keys.weight", kHeads * kKey, 2) * x;
    for (Index m = 0; m < kHeads; ++m) {
      Vector<double> e =
          keys.middleRows(m * kKey, kKey).transpose() * q.segment(m * kKey, kKey) / 2.0;
      e = e.array().exp();
      e /= e.sum();
      for (Index j = 0; j < size; ++j) EXPECT_NEAR(cache.a[(begin + j) * kHeads + m], e[j], 1e-12);
    }
  }
}

}  // namespace
}  // namespace edict

#include "nn/feature_encoder.h"

#include "nn/gradient_check.h"

namespace edict {
namespace {

constexpr Index kFeatures = 4, kQ = 3, kOut = 5, kSeries = 3, kSeen = 6;

// Six observations of three series; feature 1 was never seen, feature 2 by every series.
constexpr Index kFirst[kFeatures + 1] = {0, 2, 2, 5, 6};
constexpr Index kColumn[kSeen] = {0, 2, 0, 1, 2, 1};

// The encoder followed by the product with W_ih, which is registered behind the encoder's weights.
struct Encoder : testing::Test {
  ParameterLayout layout;
  FeatureEncoder encoder{layout, "e", kFeatures, kQ};
  Index w_ih = layout.add("w_ih", {kOut, kFeatures* kQ}, Start::constant(0));
  Generator rng{5};
  Vector<double> params = random_vector(rng, layout.size());
  Vector<double> v = random_vector(rng, 4 * kSeen);

  Vector<double> encode(const Vector<double>& p, const Vector<double>& x) const {
    Vector<double> q(kQ * kSeen);
    encoder.forward(p.data(), kFirst, x.data(), q.data());
    return q;
  }
  // W_ih as the projection reads it.
  Vector<double> turn(const Vector<double>& p) const {
    Vector<double> transposed(kOut * kFeatures * kQ);
    transpose_weights(p.data() + w_ih, kOut, kFeatures * kQ, transposed.data());
    return transposed;
  }
  Vector<double> forward(const Vector<double>& p, const Vector<double>& x) const {
    Arena<double> scratch;
    Vector<double> gi = Vector<double>::Zero(kOut * kSeries);
    const Vector<double> transposed = turn(p);
    encoder.project(Transposed<double>{transposed.data()}, kOut, kFirst, kColumn,
                    encode(p, x).data(), scratch, gi.data());
    return gi;
  }
};

Index feature_of(Index k) {
  Index j = 0;
  while (kFirst[j + 1] <= k) ++j;
  return j;
}

TEST_F(Encoder, EqualsOneNetworkAFeature) {
  const NamedWeights weight(layout, params);
  Vector<double> expected(kQ * kSeen);
  for (Index k = 0; k < kSeen; ++k)
    for (Index i = 0; i < kQ; ++i) {
      const Index j = feature_of(k);
      double sum = weight("e.bias", j, i);
      for (Index n = 0; n < 4; ++n) sum += v[4 * k + n] * weight("e.weight", j, n * kQ + i);
      expected[k * kQ + i] = std::max(sum, 0.0);
    }
  EXPECT_GT(expected.minCoeff() + expected.maxCoeff(), 0);
  EXPECT_EQ(expected.minCoeff(), 0);  // both sides of the relu are met
  expect_equal(encode(params, v), expected);
}

// The dense form: a D·Q vector a series, zero where a feature was not seen, times W_ih.
TEST_F(Encoder, ProjectionEqualsTheDenseProduct) {
  const NamedWeights weight(layout, params);
  const Vector<double> q = encode(params, v);
  Matrix<double> dense = Matrix<double>::Zero(kFeatures * kQ, kSeries);
  for (Index k = 0; k < kSeen; ++k)
    for (Index i = 0; i < kQ; ++i) dense(feature_of(k) * kQ + i, kColumn[k]) = q[k * kQ + i];
  Vector<double> expected = Vector<double>::Zero(kOut * kSeries);
  for (Index c = 0; c < kSeries; ++c)
    for (Index o = 0; o < kOut; ++o)
      for (Index i = 0; i < kFeatures * kQ; ++i)
        expected[c * kOut + o] += weight("w_ih", o, i) * dense(i, c);
  expect_equal(forward(params, v), expected);
}

TEST_F(Encoder, ProjectionAddsToWhatIsThere) {
  Arena<double> scratch;
  Vector<double> gi = Vector<double>::Constant(kOut * kSeries, 2);
  const Vector<double> transposed = turn(params);
  encoder.project(Transposed<double>{transposed.data()}, kOut, kFirst, kColumn,
                  encode(params, v).data(), scratch, gi.data());
  expect_equal(gi.array() - 2, forward(params, v));
}

TEST_F(Encoder, BackwardEqualsDifferences) {
  const Vector<double> c = random_vector(rng, kOut * kSeries);
  const Vector<double> q = encode(params, v);
  Arena<double> scratch;
  Vector<double> d_q(q.size()), d_v(v.size());
  Vector<double> grads = Vector<double>::Constant(layout.size(), 1);
  encoder.project_backward(params.data() + w_ih, kOut, kFirst, kColumn, q.data(), c.data(), scratch,
                           d_q.data(), grads.data() + w_ih);
  encoder.backward(params.data(), kFirst, v.data(), q.data(), d_q.data(), d_v.data(), grads.data());
  expect_gradients([&](const auto& p, const auto& x) { return forward(p, x); }, params, v, c, d_v,
                   grads, 1);
}

TEST_F(Encoder, NothingSeenCostsNothing) {
  const Index none[kFeatures + 1] = {};
  Arena<double> scratch;
  Vector<double> gi = Vector<double>::Constant(kOut * kSeries, 2), before = gi;
  encoder.forward<double>(params.data(), none, nullptr, nullptr);
  const Vector<double> transposed = turn(params);
  encoder.project<double>(Transposed<double>{transposed.data()}, kOut, none, nullptr, nullptr,
                          scratch, gi.data());
  EXPECT_EQ(gi, before);
}

}  // namespace
}  // namespace edict

#include "nn/classifier.h"

#include "nn/gradient_check.h"

namespace edict {
namespace {

constexpr Index kIn = 5, kClasses = 3, kWidth = 4;

// Of one layer, or of two with a bottleneck of half the width.
struct Scores : testing::TestWithParam<int> {
  ParameterLayout layout;
  Classifier classifier{layout, "classifier", kIn, kClasses, GetParam()};
  Generator rng{6};
  Vector<double> params = random_vector(rng, layout.size());
  Vector<double> h = random_vector(rng, kIn* kWidth);

  Vector<double> forward(const Vector<double>& p, const Vector<double>& x) const {
    Vector<double> hidden(classifier.bottleneck() * kWidth), logits(kClasses * kWidth);
    classifier.forward(p.data(), kWidth, x.data(), hidden.data(), logits.data());
    return logits;
  }
};

TEST_P(Scores, EqualTheLayersByHand) {
  const NamedWeights weight(layout, params);
  const Index half = kIn / 2;
  EXPECT_EQ(classifier.bottleneck(), GetParam() == 2 ? half : 0);
  Vector<double> expected(kClasses * kWidth);
  for (Index c = 0; c < kWidth; ++c) {
    const auto layer = [&](const std::string& name, Index row, const double* x, Index n) {
      double sum = weight(name + ".bias", row);
      for (Index i = 0; i < n; ++i) sum += weight(name + ".weight", row, i) * x[i];
      return sum;
    };
    const double* const x = h.data() + c * kIn;
    std::vector<double> inner;
    for (Index k = 0; k < half && GetParam() == 2; ++k)
      inner.push_back(std::max(0.0, layer("classifier.0", k, x, kIn)));
    for (Index k = 0; k < kClasses; ++k)
      expected[c * kClasses + k] = GetParam() == 2 ? layer("classifier.1", k, inner.data(), half)
                                                   : layer("classifier.0", k, x, kIn);
  }
  expect_equal(forward(params, h), expected);
}

TEST_P(Scores, BackwardEqualsDifferences) {
  const Vector<double> c = random_vector(rng, kClasses * kWidth);
  Vector<double> hidden(classifier.bottleneck() * kWidth), logits(c.size()), d_h(h.size());
  Vector<double> grads = Vector<double>::Constant(layout.size(), 4);
  Arena<double> scratch;
  classifier.forward(params.data(), kWidth, h.data(), hidden.data(), logits.data());
  classifier.backward(params.data(), kWidth, h.data(), hidden.data(), c.data(), scratch, d_h.data(),
                      grads.data());
  expect_gradients([&](const auto& p, const auto& v) { return forward(p, v); }, params, h, c, d_h,
                   grads, 4);
}

// Weighted cross-entropy of the labelled columns, by state and parameters.
TEST_P(Scores, LearningGivesTheGradientOfTheCrossEntropy) {
  const std::int32_t labels[kWidth] = {2, -1, 0, 2};
  const auto loss = [&](const Vector<double>& p, const Vector<double>& x) {
    Arena<double> scratch;
    Vector<double> d_h(h.size()), grads = Vector<double>::Zero(layout.size());
    Vector<double> result(1);
    result[0] = 0.7 * classifier.learn(p.data(), kWidth, x.data(), labels, 0.7, scratch, d_h.data(),
                                       grads.data());
    return result;
  };
  Arena<double> scratch;
  Vector<double> d_h(h.size()), grads = Vector<double>::Constant(layout.size(), 1);
  classifier.learn(params.data(), kWidth, h.data(), labels, 0.7, scratch, d_h.data(), grads.data());
  expect_gradients(loss, params, h, Vector<double>::Ones(1), d_h, grads, 1);
  EXPECT_TRUE(d_h.segment(kIn, kIn).isZero(0)) << "a series without a label taught";
}

INSTANTIATE_TEST_SUITE_P(Layers, Scores, testing::Values(1, 2));

TEST(CrossEntropy, IsTheLogarithmOfTheShare) {
  double logits[] = {std::log(1.0), std::log(2.0), std::log(5.0)};
  EXPECT_NEAR(Classifier::cross_entropy(logits, 3, 1, 2.0), -std::log(2.0 / 8), 1e-14);
  EXPECT_NEAR(logits[0], 2 * (1.0 / 8), 1e-14);
  EXPECT_NEAR(logits[1], 2 * (2.0 / 8 - 1), 1e-14);
  EXPECT_NEAR(logits[2], 2 * (5.0 / 8), 1e-14);
}

TEST(CrossEntropy, ScoresOfAnySizeDoNotOverflow) {
  float sure[] = {3e4f, -3e4f}, wrong[] = {3e4f, -3e4f};
  EXPECT_EQ(Classifier::cross_entropy(sure, 2, 0, 1.0f), 0.0);
  EXPECT_EQ(Classifier::cross_entropy(wrong, 2, 1, 1.0f), 6e4);
  EXPECT_EQ(wrong[0], 1.0f);
  EXPECT_EQ(wrong[1], -1.0f);
}

TEST(CrossEntropy, WithoutALabelThereIsNothingToLearn) {
  double logits[] = {1, 2, 3};
  EXPECT_EQ(Classifier::cross_entropy(logits, 3, -1, 1.0), 0.0);
  for (const double d : logits) EXPECT_EQ(d, 0.0);
}

// A state of one number has no half: the bottleneck is still one wide.
TEST(ClassifierSizes, TheSmallestStateHasABottleneckOfOne) {
  ParameterLayout layout;
  const Classifier classifier(layout, "c", 1, 2, 2);
  EXPECT_EQ(classifier.bottleneck(), 1);
  EXPECT_EQ(layout.size(), (1 + 1) + (2 + 2));
}

}  // namespace
}  // namespace edict

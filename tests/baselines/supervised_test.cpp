// What GRU-D, IPN and SeFT have in common: gradients, equality with their PyTorch peers, batching,
// determinism, dropout, and what they refuse.
#include "baselines/supervised.h"

#include <gtest/gtest.h>

#include <limits>

#include "baselines/supervised_case.h"
#include "engine/peer_golden.h"

namespace edict {
namespace {

template <class Encoder>
class SupervisedModel : public testing::Test {
 protected:
  static Supervised<Encoder> make(const Config& config = small_supervised<Encoder>()) {
    return Supervised<Encoder>(network_settings(config), kFeatures, kCovariates, kClasses);
  }
  static std::string golden_name() {
    std::string name = Encoder::kKind;
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
  }
  static void check_gradients(const Batch<double>& batch,
                              const Config& config = small_supervised<Encoder>()) {
    const auto model = make(config);
    expect_gradients(model.layout, moved_parameters<double>(model.layout, 3),
                     [&](const Vector<double>& params, Vector<double>& grads) {
                       return learn<double, Encoder>(model, batch.examples, params, grads);
                     });
  }
};

using Encoders = testing::Types<GruD, Ipn, Seft>;
TYPED_TEST_SUITE(SupervisedModel, Encoders);

TYPED_TEST(SupervisedModel, GradientOfManyLengths) {
  this->check_gradients(Batch<double>(1, {5, 1, 3, 0, 7, 2}));
}

TYPED_TEST(SupervisedModel, GradientOfOneObservation) {
  Generator rng(2);
  this->check_gradients(Batch<double>({random_timeline<double>(rng, kFeatures, 1, 0.3, 0.0)}));
}

TYPED_TEST(SupervisedModel, GradientWithoutObservation) {
  this->check_gradients(Batch<double>(3, {0}));
}

TYPED_TEST(SupervisedModel, GradientWithAFeatureNeverSeenAndWithoutCovariates) {
  Generator rng(4);
  std::vector<Timeline<double>> timelines{random_timeline<double>(rng, kFeatures - 1, 6, 0.3, 0.6),
                                          random_timeline<double>(rng, kFeatures - 1, 3, 0.3, 0.6)};
  timelines[0].covariates.clear();
  this->check_gradients(Batch<double>(std::move(timelines)));
}

TYPED_TEST(SupervisedModel, GradientWithTwoClassifierLayersAndOtherSettings) {
  Config config = small_supervised<TypeParam>();
  config.classify.layers = 2;
  assign(config, "model.layers=1");
  assign(config, "model.aggregation=mean");
  assign(config, "model.reference_end=1.0");
  assign(config, "model.dropout=0.0");
  this->check_gradients(Batch<double>(5, {4, 0, 2}), config);
}

TYPED_TEST(SupervisedModel, UnlabelledSeriesTeachNoClass) {
  Config config = small_supervised<TypeParam>();
  assign(config, "loss.reconstruction=0");
  const auto model = this->make(config);
  Batch<double> batch(6, {4, 2});
  for (auto& example : batch.examples) example.label = -1;
  const Vector<double> params = moved_parameters<double>(model.layout, 3);
  Vector<double> grads;
  EXPECT_EQ((learn<double, TypeParam>(model, batch.examples, params, grads)), 0.0);
  EXPECT_EQ(grads.cwiseAbs().maxCoeff(), 0.0);
}

TYPED_TEST(SupervisedModel, EqualsPyTorch) {
  for (const auto& c : peer_cases(this->golden_name())) {
    const Config config = peer_config(c);
    const Supervised<TypeParam> model(network_settings(config), c.at("features"),
                                      c.at("covariates"), c.at("classes"));
    const auto params = peer_vector<double>(model.layout, c.at("params"));
    Batch<double> batch(peer_timelines<double>(c));
    for (std::size_t i = 0; i < batch.examples.size(); ++i)
      batch.examples[i].label = c.at("labels")[i];
    const auto expected = c.at("logits").template get<std::vector<double>>();
    const Matrix<double> logits = classify<double, TypeParam>(model, batch.examples, params);
    ASSERT_EQ(static_cast<Index>(expected.size()), logits.size());
    for (Index i = 0; i < logits.size(); ++i)
      EXPECT_NEAR(logits.data()[i], expected[static_cast<std::size_t>(i)], 1e-10);
    Vector<double> grads;
    EXPECT_NEAR((learn<double, TypeParam>(model, batch.examples, params, grads, 1.0)), c.at("loss"),
                1e-10);
    expect_peer_gradients(model.layout, grads, c.at("grads"), 1e-9);

    const auto narrow = peer_vector<float>(model.layout, c.at("params"));
    Batch<float> floats(peer_timelines<float>(c));
    const Matrix<float> close = classify<float, TypeParam>(model, floats.examples, narrow);
    for (Index i = 0; i < close.size(); ++i)
      EXPECT_NEAR(static_cast<double>(close.data()[i]), expected[static_cast<std::size_t>(i)],
                  2e-5);
  }
}

// Dropout belongs to the series, not to its place in the batch.
TYPED_TEST(SupervisedModel, BatchingChangesNothing) {
  const auto model = this->make();
  const Batch<double> batch(7, {4, 0, 9, 1, 6});
  const Vector<double> params = moved_parameters<double>(model.layout, 3);
  Vector<double> together, one, sum = Vector<double>::Zero(params.size());
  const double all = learn<double, TypeParam>(model, batch.examples, params, together);
  const Matrix<double> logits = classify<double, TypeParam>(model, batch.examples, params);
  double added = 0;
  for (std::size_t i = 0; i < batch.examples.size(); ++i) {
    const std::span<const BasicExample<double>> single(&batch.examples[i], 1);
    added += learn<double, TypeParam>(model, single, params, one);
    sum += one;
    const Matrix<double> alone = classify<double, TypeParam>(model, single, params);
    EXPECT_LT((alone - logits.col(static_cast<Index>(i))).cwiseAbs().maxCoeff(), 1e-12);
  }
  EXPECT_NEAR(added, all, 1e-12 * all);
  EXPECT_LT((sum - together).cwiseAbs().maxCoeff(), 1e-12 * together.cwiseAbs().maxCoeff());
}

TYPED_TEST(SupervisedModel, RepeatedRunsGiveTheSameBits) {
  const auto model = this->make();
  const Batch<float> batch(8, {4, 0, 9, 1, 6});
  const Vector<float> params = moved_parameters<float>(model.layout, 3);
  LossWeights weights;
  weights.classification = 0.2;
  SupervisedPass<float, TypeParam> pass(model);
  std::vector<Vector<float>> grads(2, Vector<float>::Zero(params.size()));
  std::vector<double> losses;
  for (auto& g : grads) {
    losses.push_back(pass.learn(params.data(), batch.examples, weights, g.data()).classification);
    classify<float, TypeParam>(model, batch.examples, params);
  }
  EXPECT_EQ(losses[0], losses[1]);
  EXPECT_EQ(grads[0], grads[1]);
}

TYPED_TEST(SupervisedModel, DropoutFollowsItsKeyAndIsOffWhenClassifying) {
  Config config = small_supervised<TypeParam>();
  assign(config, "loss.reconstruction=0");
  const auto model = this->make(config);
  Batch<double> batch(9, {6, 4});
  const Vector<double> params = moved_parameters<double>(model.layout, 3);
  Vector<double> grads;
  const auto loss = [&] {
    return learn<double, TypeParam>(model, batch.examples, params, grads, 1.0);
  };
  const double first = loss();
  batch.examples[0].dropout_key = 99;
  EXPECT_NE(loss(), first);
  batch.examples[0].dropout_key = 0;
  EXPECT_EQ(loss(), first);

  assign(config, "model.dropout=0");
  const auto plain = this->make(config);
  const double without = learn<double, TypeParam>(plain, batch.examples, params, grads, 1.0);
  EXPECT_NE(first, without);
  const Matrix<double> logits = classify<double, TypeParam>(model, batch.examples, params);
  EXPECT_EQ(logits, (classify<double, TypeParam>(plain, batch.examples, params)));
  double cross_entropy = 0;
  for (Index i = 0; i < 2; ++i)
    cross_entropy += std::log(logits.col(i).array().exp().sum()) -
                     logits(batch.examples[static_cast<std::size_t>(i)].label, i);
  EXPECT_NEAR(cross_entropy, without, 1e-12);
}

// Stops that are only asked about, or lie past the limit, must not be seen.
TYPED_TEST(SupervisedModel, ReadsOnlyWhatItAbsorbs) {
  const auto model = this->make();
  const Vector<double> params = moved_parameters<double>(model.layout, 3);
  Batch<double> whole(10, {6});
  const double until = whole.timelines[0].stops[4].time;
  Timeline<double> cut = whole.timelines[0];
  cut.stops.resize(4);
  cut.stop(until, Timeline<double>::kScore | Timeline<double>::kQuery);
  cut.observe(0, 5.0);
  whole.examples[0].absorb_until = until;
  const Batch<double> part({cut});
  EXPECT_EQ((classify<double, TypeParam>(model, whole.examples, params)),
            (classify<double, TypeParam>(model, part.examples, params)));
}

// 100 clean examples of two classes told apart by one feature's sign: Adam-free descent must learn.
TYPED_TEST(SupervisedModel, LearnsASimpleRule) {
  Config config = small_supervised<TypeParam>();
  assign(config, "model.dropout=0.1");
  assign(config, "loss.reconstruction=0.1");
  const auto model = this->make(config);
  Batch<double> batch(11, std::vector<int>(100, 5));
  for (std::size_t i = 0; i < 100; ++i) {
    const bool positive = i % 2;
    for (auto& x : batch.timelines[i].value) x = positive ? std::abs(x) : -std::abs(x);
    batch.examples[i].label = positive;
  }
  Vector<double> params = model.layout.template initial<double>(1), grads;
  for (int step = 0; step < 150; ++step) {
    for (std::size_t i = 0; i < 100; ++i)
      batch.examples[i].dropout_key = static_cast<std::uint64_t>(step) * 100 + i;
    learn<double, TypeParam>(model, batch.examples, params, grads, 0.01);
    params -= 0.5 * grads;
  }
  const Matrix<double> logits = classify<double, TypeParam>(model, batch.examples, params);
  int right = 0;
  for (Index i = 0; i < 100; ++i) {
    Index best;
    logits.col(i).maxCoeff(&best);
    right += best == i % 2;
  }
  EXPECT_GE(right, 97);
}

TYPED_TEST(SupervisedModel, RefusesWhatNeedsADistribution) {
  const Config config = small_supervised<TypeParam>();
  const auto network = make_network(config, {"a", "b", "c"}, kCovariates, kClasses);
  EXPECT_FALSE(network->has_distribution());
  EXPECT_EQ(network->classes(), kClasses);
  const Vector<float> params = network->layout().template initial<float>(1);
  const Batch<float> batch(12, {3});
  const auto message = [](const auto& call) -> std::string {
    try {
      call();
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  const std::string expected = std::string(TypeParam::kKind) +
                               " only classifies and predicts no distribution; use "
                               "edict or gru-ode-bayes";
  const Weights weights = network->weights(params.data());
  EXPECT_EQ(message([&] { network->worker()->infer(weights, batch.examples, {}, {}); }), expected);
  InferenceOptions options;
  options.guard.kind = Guard::Kind::edgr;
  Vector<float> logits(kClasses);
  EXPECT_EQ(message([&] {
              network->worker()->classify(weights, batch.examples, options, {}, logits.data());
            }),
            expected);
  EXPECT_EQ(message([&] {
              make_network(config, {"a", "b", "c"}, kCovariates, 0);
            }),
            std::string(TypeParam::kKind) + " only classifies; give it data with a label column");
}

TYPED_TEST(SupervisedModel, PopulationClipHoldsObservations) {
  const auto model = this->make();
  const Vector<double> params = moved_parameters<double>(model.layout, 3);
  Batch<double> batch(13, {4}), clipped(13, {4});
  batch.timelines[0].value[2] = 7.0;
  const std::int32_t feature = batch.timelines[0].feature[2];
  clipped.timelines[0].value[2] = 0.5 + 3.0 * 2.0;
  InferenceOptions options;
  options.guard = {Guard::Kind::population, 3.0, Guard::Deviation::epistemic};
  options.population = {{0.5, 0.5, 0.5}, {2.0, 2.0, 2.0}};
  std::vector<std::vector<Clipped>> clips(1);
  EXPECT_EQ((classify<double, TypeParam>(model, batch.examples, params, options, clips)),
            (classify<double, TypeParam>(model, clipped.examples, params)));
  ASSERT_EQ(clips[0].size(), 1u);
  EXPECT_EQ(clips[0][0].feature, feature);
  EXPECT_EQ(clips[0][0].raw, 7.0);
  EXPECT_EQ(clips[0][0].used, 6.5);
  EXPECT_EQ(clips[0][0].sigmas, 3.25);
}

}  // namespace
}  // namespace edict

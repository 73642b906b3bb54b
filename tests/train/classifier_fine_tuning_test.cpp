// The classification loss through the whole sequence, alone and beside the evidential one.
#include <gtest/gtest.h>

#include <cmath>

#include "edict/train/classifier_training.h"
#include "engine/small_model.h"

namespace edict {
namespace {

ClassifierOptions tuning(std::int64_t epochs) {
  ClassifierOptions options;
  options.settings = small_synthetic_config().classify;
  options.settings.epochs = 1;
  options.settings.learning_rate = 1e-4;  // leaves something to improve
  options.settings.fine_tune = epochs;
  options.settings.fine_tune_rate = 3e-3;
  return options;
}

ClassifierResult tuned(const ClassifierOptions& options, std::size_t threads = 2) {
  ThreadPool pool(threads);
  const Model& model = small_trained_model();
  const Dataset& data = small_synthetic();
  return train_classifier(model, data, model.split(data), pool, options);
}

TEST(FineTuning, StartsWhereTheFrozenClassifierEndsAndNeverEndsWorse) {
  const ClassifierResult frozen = tuned(tuning(0)), result = tuned(tuning(3));
  EXPECT_TRUE(frozen.fine_tuning.empty());
  ASSERT_EQ(result.fine_tuning.size(), 4u);
  const EpochRow& start = result.fine_tuning[0];
  EXPECT_EQ(start.epoch, 0);
  const ClassifierRun* chosen = nullptr;
  for (const ClassifierRun& run : frozen.runs)
    if (run.seed == frozen.model.config.classify.seed) chosen = &run;
  EXPECT_DOUBLE_EQ(start.validation_accuracy, chosen->validation_accuracy);
  EXPECT_NEAR(start.validation_cross_entropy, chosen->validation_cross_entropy, 1e-5);

  const EpochRow* best = nullptr;
  for (const EpochRow& row : result.fine_tuning)
    if (row.best) best = &row;
  for (const EpochRow& row : result.fine_tuning)
    EXPECT_LE(best->validation_cross_entropy, row.validation_cross_entropy);
  // The classes of Synthetic can be told apart by whoever may move the states.
  EXPECT_GE(best->validation_accuracy, 0.96);
  EXPECT_LT(result.fine_tuning.back().cross_entropy, result.fine_tuning[1].cross_entropy);
  EXPECT_NE(result.model.params.head(100), small_trained_model().params.head(100));
}

TEST(FineTuning, KeepsOneClassifierThatFitsTheMovedStates) {
  const ClassifierResult result = tuned(tuning(2));
  ASSERT_EQ(result.model.seed_classifiers.size(), 1u);
  EXPECT_EQ(result.model.seed_classifiers[0].seed, result.model.config.classify.seed);
  EXPECT_EQ(result.model.seed_classifiers[0].params,
            result.model.params.tail(result.model.classifier_size()));
  EXPECT_EQ(result.runs.size(), 3u);
}

TEST(FineTuning, GivesTheSameBitsForAnyNumberOfThreads) {
  EXPECT_EQ(tuned(tuning(1), 1).model.params, tuned(tuning(1), 3).model.params);
}

TEST(FineTuning, WithoutRateChangesNothing) {
  ClassifierOptions options = tuning(1);
  options.settings.fine_tune_rate = 0;
  EXPECT_EQ(tuned(options).model.params, tuned(tuning(0)).model.params);
}

// At weight 0 the distribution is not held: a long way with the classes alone costs likelihood that
// the evidential loss keeps.
TEST(FineTuning, EvidentialWeightHoldsTheDistribution) {
  const auto nll_after = [](double weight) {
    ClassifierOptions options = tuning(3);
    options.settings.evidential_weight = weight;
    ClassifierResult result = tuned(options);
    // Judge the last epoch's distribution by one more pass of scoring.
    Model& model = result.model;
    ThreadPool pool(2);
    const Lessons lessons =
        distribution_lessons(model, small_synthetic(), model.split(small_synthetic()));
    TrainSettings once = model.config.train;
    once.epochs = 1;
    once.learning_rate = 0;
    return train(model, lessons, once, pool, {}).rows[0].validation_nll;
  };
  EXPECT_LT(nll_after(1.0), nll_after(0.0));
}

TEST(ClassLessons, ANetworkLearnsFromTheClassesAlone) {
  const Dataset& data = small_synthetic();
  Config config = small_synthetic_config();
  config.train.epochs = 4;
  const Split parts = small_trained_model().split(data);
  Model model = Model::create(config, data, parts, true);
  const Lessons lessons = class_lessons(model, data, parts);
  EXPECT_EQ(lessons.train.size(), parts.train.size());
  EXPECT_EQ(lessons.evidential, 0.0);
  ThreadPool pool(2);
  const TrainResult result = train(model, lessons, config.train, pool, {});
  ASSERT_EQ(result.rows.size(), 4u);
  EXPECT_EQ(result.rows[0].validation_nll, 0.0);
  EXPECT_LT(result.rows[3].loss, 0.5 * std::log(2.0));
  EXPECT_DOUBLE_EQ(result.rows[3].loss, result.rows[3].cross_entropy);
  double lowest = 1e9;
  for (const EpochRow& row : result.rows) {
    EXPECT_EQ(row.best, row.validation_cross_entropy < lowest);
    lowest = std::min(lowest, row.validation_cross_entropy);
  }
  EXPECT_GE(result.rows[3].validation_accuracy, 0.9);
}

TEST(ClassLessons, NeedLabels) {
  Dataset data = small_synthetic();
  const Split parts = small_trained_model().split(data);
  data.classes.clear();
  std::fill(data.labels.begin(), data.labels.end(), Dataset::kNone);
  EXPECT_EQ(refusal_of([&] { Model::create(small_synthetic_config(), data, parts, true); }),
            "the data have no labels; edict learns to tell classes apart and needs a label column "
            "with at least two");
}

// The gradient that a worker gives for the cross-entropy, along a random direction, against the
// difference quotient of the loss it reports. The step stays short of the ReLUs' kinks (at 1e-4
// they bend the quotient by 1 %, in proportion to the step); rounding a loss near 1 in single
// precision leaves about 3e-3.
TEST(JointLoss, GradientOfAWorkerFollowsItsLoss) {
  const Dataset& data = small_synthetic();
  const Model model = small_trained_model().with_classifier(small_synthetic_config(), data.classes);
  const Lessons lessons = joint_lessons(model, data, model.split(data), 0.5);
  std::vector<Example> examples;
  double observations = 0;
  for (std::size_t i = 0; i < 12; ++i) {
    examples.push_back(
        {&lessons.train[i], std::numeric_limits<double>::infinity(), lessons.train_labels[i], 0});
    observations += static_cast<double>(lessons.train[i].feature.size());
  }
  const LossWeights weights{0.5 / observations, 0.01, 0.05, 1.0 / 12};
  const auto worker = model.network->worker();
  Vector<float> grads = Vector<float>::Zero(model.params.size()), unused = grads;
  worker->learn(model.params.data(), examples, weights, grads.data());
  Generator rng(3);
  Vector<float> direction(grads.size());
  for (Index i = 0; i < direction.size(); ++i) direction[i] = static_cast<float>(rng.normal());
  const auto loss = [&](float step) {
    const Vector<float> params = model.params + step * direction;
    const LossSums s = worker->learn(params.data(), examples, weights, unused.data());
    return weights.scale * (s.nll + weights.kl * s.kl + weights.evidence * s.evidence) +
           weights.classification * s.classification;
  };
  constexpr float kStep = 1e-5f;
  const double numeric = (loss(kStep) - loss(-kStep)) / (2.0 * static_cast<double>(kStep));
  const double analytic = grads.cast<double>().dot(direction.cast<double>());
  ASSERT_GT(std::abs(analytic), 1.0);
  EXPECT_NEAR(numeric, analytic, 5e-3 * std::abs(analytic));
}

}  // namespace
}  // namespace edict

// The classification loss through the whole sequence, alone and beside the evidential one.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <limits>

#include "engine/finite_difference.h"
#include "engine/heads/niw_head.h"
#include "engine/small_model.h"
#include "engine/training_pass.h"
#include "learn/classifier/classifier_training.h"
#include "model/registry.h"

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
  EXPECT_NE(result.model.first().params.head(100), small_trained_model().first().params.head(100));
}

TEST(FineTuning, KeepsOneClassifierThatFitsTheMovedStates) {
  const ClassifierResult result = tuned(tuning(2));
  ASSERT_EQ(result.model.first().seed_classifiers.size(), 1u);
  EXPECT_EQ(result.model.first().seed_classifiers[0].seed, result.model.config.classify.seed);
  EXPECT_EQ(result.model.first().seed_classifiers[0].params,
            result.model.first().params.tail(result.model.classifier_size()));
  EXPECT_EQ(result.runs.size(), 3u);
}

TEST(FineTuning, WithoutRateChangesNothing) {
  ClassifierOptions options = tuning(1);
  options.settings.fine_tune_rate = 0;
  EXPECT_EQ(tuned(options).model.first().params, tuned(tuning(0)).model.first().params);
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
    const TrainingSet set =
        distribution_training_set(model, small_synthetic(), model.split(small_synthetic()));
    TrainSettings once = model.config.train;
    once.epochs = 1;
    once.learning_rate = 0;
    return train(model, set, once, pool, {}).rows[0].validation_nll;
  };
  EXPECT_LT(nll_after(1.0), nll_after(0.0));
}

// Fine-tuning moves the distributions away from what the last step of training was fitted to. The
// classes are read from the states, which calibration leaves.
TEST(FineTuning, CalibratesWhatWasCalibratedBefore) {
  const Dataset& data = small_synthetic();
  Model model = small_trained_model().with_classifier(small_synthetic_config(), data.classes);
  Split parts = model.split(data);
  parts.validation = parts.train;  // enough series to fit by
  ThreadPool pool(2);
  const auto tuned_with = [&](bool calibrate) {
    model.config.train.calibrate = calibrate;
    return train_classifier(model, data, parts, pool, tuning(2)).model;
  };
  const Model with = tuned_with(true), without = tuned_with(false);
  EXPECT_FALSE(with.calibration.empty());
  EXPECT_TRUE(without.calibration.empty());
  EXPECT_EQ(with.first().params, without.first().params);
}

TEST(FineTuning, AStopLeavesItAtOnceAndBeforeItToo) {
  for (const std::int64_t epochs : {0, 2}) {
    ClassifierOptions options = tuning(epochs);
    std::atomic<bool> stop = epochs == 0;
    options.stop = &stop;
    options.on_batch = [&](std::int64_t, std::int64_t batch, std::int64_t) { stop = batch == 2; };
    const ClassifierResult result = tuned(options);
    EXPECT_TRUE(result.interrupted);
    EXPECT_LE(result.fine_tuning.size(), 1u) << "no epoch was finished";
  }
}

TEST(ClassTrainingSet, ANetworkLearnsFromTheClassesAlone) {
  const Dataset& data = small_synthetic();
  Config config = small_synthetic_config();
  config.train.epochs = 4;
  const Split parts = small_trained_model().split(data);
  Model model = Model::create(config, data, parts, true);
  const TrainingSet set = class_training_set(model, data, parts);
  EXPECT_EQ(set.train.size(), parts.train.size());
  EXPECT_EQ(set.evidential, 0.0);
  ThreadPool pool(2);
  const TrainResult result = train(model, set, config.train, pool, {});
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

TEST(ClassTrainingSet, NeedLabels) {
  Dataset data = small_synthetic();
  const Split parts = small_trained_model().split(data);
  data.classes.clear();
  data.labels.assign(data.size(), Dataset::kNone);
  EXPECT_EQ(refusal_of([&] { Model::create(small_synthetic_config(), data, parts, true); }),
            "the data have no labels; edict learns classes and needs a label column "
            "with at least two");
}

// ------------------------------------------------------------------------------- gradient

// Both losses of the first twelve training series, computed in either precision.
struct JointLoss : testing::Test {
  JointLoss() {
    for (std::size_t i = 0; i < 12; ++i) {
      examples.push_back({&timelines_[i], kForever, set.train_labels[i], 0});
      observations += static_cast<double>(timelines_[i].feature.size());
    }
    weights = {0.5 / observations, 0.01, 0.05, 1.0 / 12};
  }

  double total(const LossSums& s) const {
    return weights.scale * (s.nll + weights.kl * s.kl + weights.evidence * s.evidence) +
           weights.classification * s.classification;
  }

  double in_double(const Vector<double>& params, Vector<double>& grads) const {
    std::vector<Timeline<double>> timelines;
    std::vector<std::int32_t> labels;
    for (const Example& e : examples) {
      Timeline<double>& copy = timelines.emplace_back();
      copy.id = e.timeline->id;
      copy.start = e.timeline->start;
      for (const auto& stop : e.timeline->stops) {
        copy.stop(stop.time, stop.what);
        for (std::uint32_t k = stop.first; k < stop.first + stop.count; ++k)
          copy.observe(e.timeline->feature[k], e.timeline->value[k]);
      }
      labels.push_back(e.label);
    }
    std::vector<BasicExample<double>> twins;
    for (const auto& timeline : timelines) twins.push_back({&timeline, kForever});
    grads = Vector<double>::Zero(params.size());
    TrainingPass<double, NiwHead> pass(jump_ode);
    Arena<double> scratch;
    double cross_entropy = 0;
    LossSums sums =
        pass.train(params.data(), twins, weights, std::size_t{1} << 30, grads.data(),
                   [&](const double* h, double* d_h) {
                     cross_entropy = jump_ode.classifier->learn(
                         params.data(), static_cast<Index>(labels.size()), h, labels.data(),
                         weights.classification, scratch, d_h, grads.data());
                   });
    sums.classification = cross_entropy;
    return total(sums);
  }

  // Not where training ends, which moves with every change of rounding, sometimes onto a kink.
  static Model at_a_fixed_place() {
    const Dataset& data = small_synthetic();
    Model model = untrained_model(data).with_classifier(small_synthetic_config(), data.classes);
    model.first().params = moved_parameters<float>(model.network->layout(), 3);
    return model;
  }

  static constexpr double kForever = std::numeric_limits<double>::infinity();
  const Dataset& data = small_synthetic();
  const Model model = at_a_fixed_place();
  const TrainingSet set = joint_training_set(model, data, model.split(data), 0.5);
  const std::vector<Timeline<float>> timelines_ = set.train.written();
  const JumpOde<NiwHead> jump_ode{network_settings(model.config), 3, 0, 2};
  std::vector<Example> examples;
  double observations = 0;
  LossWeights weights;
};

// In double, one tensor at a time and along its own gradient, where the loss moves most. The step
// stays short of the ReLUs' kinks, which bend a quotient over 1e-3 by 3 %; rounding a loss near 1
// to 1e-16 leaves 1e-9 of it.
TEST_F(JointLoss, GradientFollowsTheLoss) {
  const Vector<double> params = model.first().params.cast<double>();
  Vector<double> grads, unused;
  in_double(params, grads);
  for (const Tensor& tensor : model.network->layout().tensors()) {
    const Vector<double> own = grads.segment(tensor.offset, tensor.size);
    const double norm = own.norm();
    if (tensor.name == "init.0.weight") {
      EXPECT_EQ(norm, 0) << "it reads covariates, and there are none";
      continue;
    }
    const auto at = [&](double step) {
      Vector<double> moved = params;
      moved.segment(tensor.offset, tensor.size) += step / norm * own;
      return in_double(moved, unused);
    };
    constexpr double kStep = 1e-7;
    EXPECT_NEAR((at(kStep) - at(-kStep)) / (2 * kStep), norm, 1e-8 + 1e-6 * norm) << tensor.name;
  }
}

// What a worker computes in float is the same loss and the same gradient, to rounding: a series
// takes some two hundred steps, whose errors of 6e-8 add up to about 1e-5 at most. Where a tensor's
// gradient is what is left of larger terms, rounding is theirs.
TEST_F(JointLoss, AWorkerGivesTheSame) {
  Vector<double> expected;
  const double loss = in_double(model.first().params.cast<double>(), expected);
  Vector<float> grads = Vector<float>::Zero(model.first().params.size());
  const LossSums sums =
      model.network->worker()->learn(model.first().params.data(), examples, weights, grads.data());
  EXPECT_NEAR(total(sums), loss, 1e-5 * std::abs(loss));
  for (const Tensor& tensor : model.network->layout().tensors()) {
    const Vector<double> want = expected.segment(tensor.offset, tensor.size);
    const Vector<double> got = grads.segment(tensor.offset, tensor.size).cast<double>();
    EXPECT_LE((got - want).norm(), 5e-5 * want.norm() + 1e-8 * expected.norm()) << tensor.name;
  }
}

}  // namespace
}  // namespace edict

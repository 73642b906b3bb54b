// The factors on the predictive scale: what they change, what they leave, and that they are right.
#include "learn/posthoc/recalibrate.h"

#include <gtest/gtest.h>

#include "engine/small_model.h"
#include "engine/variant.h"
#include "judge/evaluate.h"
#include "learn/classifier/classifier_training.h"
#include "learn/training_set.h"
#include "model/encode.h"
#include "model/infer.h"
#include "temporary_folder.h"

namespace edict {
namespace {

std::vector<Marginal> all_marginals(const Model& model,
                                    std::span<const Timeline<float>> timelines) {
  std::vector<Marginal> result;
  ThreadPool pool(1);
  for (const Answer& answer : infer(model, examples_of(timelines), pool, {}))
    result.insert(result.end(), answer.marginals.begin(), answer.marginals.end());
  return result;
}

class Rescale : public testing::TestWithParam<const char*> {};

TEST_P(Rescale, ChangesTheScalesAndNothingElse) {
  const Dataset& data = small_synthetic();
  Config config = small_synthetic_config();
  if (const std::string name = GetParam(); name == "memory" || name == "forgetting")
    set_variant(config, name);
  else
    config.model.kind = name;
  Model model = untrained_model(data, config);
  const Split parts = model.split(data);
  const TrainingSet set = distribution_training_set(model, data, parts);
  const auto before = all_marginals(model, set.validation.written());
  ThreadPool pool(1);
  const Matrix<float> states = encode(model, data, parts.validation, pool).states;

  const std::vector<double> factors = {0.5, 1.0, 3.0};
  model.network->rescale(factors, model.params.data());
  const auto after = all_marginals(model, set.validation.written());
  ASSERT_EQ(after.size(), before.size());
  ASSERT_FALSE(after.empty());
  // A head that recalls bends ln scale² away from its least, by e^{least − ln scale²} of it: at the
  // scales of this model about 1e-3.
  const double bend = config.model.recall ? 20.0 : 1.0;
  for (std::size_t i = 0; i < after.size(); ++i) {
    const double factor = factors[i % 3];
    EXPECT_NEAR(after[i].mean, before[i].mean, bend * 2e-5);
    EXPECT_NEAR(after[i].scale / before[i].scale, factor, bend * 1e-4 * factor);
    EXPECT_NEAR(after[i].aleatoric / before[i].aleatoric, factor * factor,
                bend * 3e-4 * factor * factor);
    if (std::isfinite(before[i].dof)) {
      EXPECT_NEAR(after[i].dof, before[i].dof, 1e-3);
    }
  }
  EXPECT_TRUE(encode(model, data, parts.validation, pool)
                  .states.isApprox(states, static_cast<float>(bend) * 2e-5f));
}

INSTANTIATE_TEST_SUITE_P(Heads, Rescale,
                         testing::Values("edict", "gru-ode-bayes", "memory", "forgetting"));

TEST(SpreadFactors, UndoWhatWasRescaledAndBalanceTheIntervals) {
  const Dataset& data = small_synthetic();
  Model model = small_trained_model().with_classifier(small_trained_model().config, {"0", "1"});
  Split parts = model.split(data);
  parts.validation = parts.train;  // enough observations to tell
  const TrainingSet set = distribution_training_set(model, data, parts);
  ThreadPool pool(2);
  const std::vector<double> own = spread_factors(model, set.validation, pool);
  ASSERT_EQ(own.size(), 3u);

  const std::vector<double> wrong = {0.25, 1.0, 4.0};
  model.network->rescale(wrong, model.params.data());
  const std::vector<double> found = spread_factors(model, set.validation, pool);
  for (std::size_t j = 0; j < 3; ++j) EXPECT_NEAR(found[j] * wrong[j] / own[j], 1.0, 1e-3) << j;

  model.network->rescale(found, model.params.data());
  for (const double factor : spread_factors(model, set.validation, pool))
    EXPECT_NEAR(factor, 1.0, 1e-3);
  ThreadPool one(1);
  EXPECT_EQ(spread_factors(model, set.validation, one), spread_factors(model, set.validation, pool))
      << "threads do not matter";
}

TEST(SpreadFactors, LeaveAFeatureThatIsHardlyObserved) {
  const Dataset& data = small_synthetic();
  const Model& model = small_trained_model();
  const TrainingSet set = distribution_training_set(model, data, model.split(data));
  ThreadPool pool(1);
  const Timelines few =
      set.validation.subset(std::vector<std::size_t>{0, set.validation.size() / 2});
  EXPECT_EQ(spread_factors(model, few, pool), std::vector<double>(3, 1.0));
}

TEST(Recalibrate, IsTheLastStepOfTrainingAndNotTakenTwice) {
  const TemporaryFolder folder;
  const Dataset& data = small_synthetic();
  Config config = small_synthetic_config();
  config.train.epochs = 3;
  config.data.validation = 0.5;
  config.data.train = 0.4;
  config.train.recalibrate = true;
  const auto trained = [&](bool resume) {
    Model model = untrained_model(data, config);
    TrainOptions options;
    options.out = folder / "m.model";
    options.resume = resume;
    ThreadPool pool(1);
    train(model, data, model.split(data), pool, options);
    EXPECT_TRUE(load_model(options.out).params == model.params);
    return model;
  };
  const Model model = trained(false);
  const std::string file = folder.read("m.model");
  ThreadPool pool(1);
  const TrainingSet set = distribution_training_set(model, data, model.split(data));
  for (const double factor : spread_factors(model, set.validation, pool))
    EXPECT_NEAR(factor, 1.0, 1e-3);
  trained(true);  // finished already: the same file once more
  EXPECT_EQ(folder.read("m.model"), file);
}

// Stopped after the last epoch the run is not finished: it says so, the file stays as that epoch
// left it, and a resumed run takes the step.
TEST(Recalibrate, CanBeStoppedAndTakenUpAgain) {
  const TemporaryFolder folder;
  const Dataset& data = small_synthetic();
  Config config = small_synthetic_config();
  config.train.epochs = 2;
  config.data.validation = 0.5;
  config.data.train = 0.4;
  config.train.recalibrate = true;
  std::atomic<bool> stop = false;
  TrainOptions options;
  options.out = folder / "m.model";
  options.stop = &stop;
  options.on_epoch = [&](const EpochRow& row) { stop = row.epoch == 2; };
  Model stopped = untrained_model(data, config), whole = untrained_model(data, config);
  ThreadPool pool(1);
  EXPECT_TRUE(train(stopped, data, stopped.split(data), pool, options).interrupted);
  EXPECT_FALSE(train(whole, data, whole.split(data), pool, {}).interrupted);
  EXPECT_FALSE(load_model(options.out).params == whole.params);
  stop = false;
  options.resume = true;
  Model resumed = untrained_model(data, config);
  EXPECT_FALSE(train(resumed, data, resumed.split(data), pool, options).interrupted);
  EXPECT_TRUE(load_model(options.out).params == whole.params);
}

// Fine-tuning moves the distribution; where training recalibrated it, it is recalibrated again.
TEST(Recalibrate, IsTheLastStepOfFineTuningToo) {
  const Dataset& data = small_synthetic();
  Config config = small_synthetic_config();
  config.train.epochs = 3;
  config.data.validation = 0.5;
  config.data.train = 0.4;
  config.train.recalibrate = true;
  Model model = untrained_model(data, config);
  ThreadPool pool(1);
  train(model, data, model.split(data), pool, {});
  ClassifierOptions options;
  options.settings = config.classify;
  options.settings.epochs = 3;
  options.settings.fine_tune = 2;
  options.settings.fine_tune_rate = 0.01;
  const Model tuned = train_classifier(model, data, model.split(data), pool, options).model;
  const TrainingSet set = distribution_training_set(tuned, data, tuned.split(data));
  for (const double factor : spread_factors(tuned, set.validation, pool))
    EXPECT_NEAR(factor, 1.0, 1e-3);
}

TEST(Recalibrate, NeedsADistribution) {
  Config config = small_synthetic_config();
  config.model.kind = "gru-d";
  config.train.recalibrate = true;
  Model model = untrained_model(small_synthetic(), config);
  ThreadPool pool(1);
  EXPECT_EQ(refusal_of(
                [&] { train(model, small_synthetic(), model.split(small_synthetic()), pool, {}); }),
            "train.recalibrate: gru-d has no distribution to recalibrate; leave it out");
}

}  // namespace
}  // namespace edict

// The maps that are found: that they repair what is wrong, on series that did not find them.
#include "learn/posthoc/calibrate.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <utility>

#include "base/json/json.h"
#include "engine/small_model.h"
#include "judge/evaluate.h"
#include "learn/classifier/classifier_training.h"
#include "learn/training_set.h"
#include "nn/feature_encoder.h"
#include "temporary_folder.h"

namespace edict {
namespace {

// Multiplies the scale of each feature in what the head says, and undoes that in what the encoder
// reads of it, so that states and means stay.
void rescale(Model& model, const std::vector<double>& factors) {
  float *bias = nullptr, *weight = nullptr, *encoder_bias = nullptr;
  Index width = 0;
  for (const Tensor& tensor : model.network->layout().tensors()) {
    float* const at = model.first().params.data() + tensor.offset;
    if (tensor.name == "head.psi.1.bias") bias = at;
    if (tensor.name == "encoder.weight") weight = at, width = tensor.shape.back();
    if (tensor.name == "encoder.bias") encoder_bias = at;
  }
  ASSERT_TRUE(bias && weight && encoder_bias);
  for (std::size_t j = 0; j < factors.size(); ++j) {
    const auto shift = static_cast<float>(2.0 * std::log(factors[j]));
    bias[j] += shift;
    float* const of_log_scale =
        weight + (static_cast<Index>(j) * FeatureEncoder::kInputs + 2) * width;
    float* const of_error = of_log_scale + width;
    for (Index k = 0; k < width; ++k) {
      encoder_bias[static_cast<Index>(j) * width + k] -= shift * of_log_scale[k];
      of_error[k] *= static_cast<float>(factors[j]);
    }
  }
}

// A trained model whose scales were multiplied, with all of its training series to calibrate by.
struct Wrong {
  Model model = small_trained_model().with_classifier(small_trained_model().config, {"0", "1"});
  Split parts;
  TrainingSet set;

  explicit Wrong(const std::vector<double>& factors = {0.3, 1.0, 3.0}) {
    rescale(model, factors);
    parts = model.split(small_synthetic());
    parts.validation = parts.train;
    set = distribution_training_set(model, small_synthetic(), parts);
  }
};

TEST(FitCalibration, RepairsDistributionsOnSeriesThatDidNotFitIt) {
  Wrong wrong({0.2, 0.3, 0.4});
  ThreadPool pool(2);
  const CalibrationHalves halves = calibration_halves(wrong.set.validation);
  std::vector<std::size_t> others;
  for (const std::size_t i : halves.promise) others.push_back(wrong.parts.validation[i]);
  const Evaluation before = evaluate(wrong.model, small_synthetic(), others, pool);
  wrong.model.calibration = fit_calibration(wrong.model, wrong.set.validation, pool);
  const Evaluation after = evaluate(wrong.model, small_synthetic(), others, pool);
  for (const auto task : {&Evaluation::interpolation, &Evaluation::extrapolation}) {
    const CalibrationResult &was = *(before.*task), &is = *(after.*task);
    EXPECT_LT(is.ece, 0.5 * was.ece);
    EXPECT_LT(is.crps.mean, was.crps.mean);
    EXPECT_LT(is.nll.mean, was.nll.mean);
    EXPECT_NEAR(is.mse.mean, was.mse.mean, 1e-9) << "means stay";
  }
}

TEST(FitCalibration, GivesEachFeatureItsOwnWidth) {
  Wrong wrong;
  ThreadPool pool(1);
  const auto maps = fit_calibration(wrong.model, wrong.set.validation, pool).features;
  EXPECT_GT(maps[0].log_factor, maps[1].log_factor + 0.5) << "was narrowed to 0.3";
  EXPECT_LT(maps[2].log_factor, maps[1].log_factor - 0.5) << "was widened to 3";
}

TEST(FitCalibration, DoesNotDependOnThreadsNorOnACalibrationThatIsThere) {
  Wrong wrong;
  ThreadPool one(1), two(2);
  const Calibration first = fit_calibration(wrong.model, wrong.set.validation, one);
  wrong.model.calibration = first;
  const Calibration again = fit_calibration(wrong.model, wrong.set.validation, two);
  ASSERT_EQ(again.features.size(), 3u);
  for (std::size_t j = 0; j < 3; ++j) {
    EXPECT_EQ(again.features[j].log_factor, first.features[j].log_factor);
    EXPECT_EQ(again.features[j].dof, first.features[j].dof);
    EXPECT_EQ(again.features[j].ranges.size(), first.features[j].ranges.size());
  }
  EXPECT_FALSE(first.correlations.empty());
  EXPECT_EQ(again.correlations.matrix(), first.correlations.matrix());
}

TEST(FitCalibration, OfTooFewSeriesIsNone) {
  Wrong wrong;
  ThreadPool pool(1);
  const Timelines few = Timelines::of({wrong.set.validation[0]});
  EXPECT_TRUE(fit_calibration(wrong.model, few, pool).empty());
}

TEST(CalibrationHalves, BelongToIdsAndNotToPlaces) {
  Wrong wrong;
  const auto ids = [](const Timelines& timelines) {
    std::vector<std::string> fit;
    for (const std::size_t i : calibration_halves(timelines).fit) fit.push_back(timelines[i].id);
    std::sort(fit.begin(), fit.end());
    return fit;
  };
  std::vector<Timeline<float>> turned = wrong.set.validation.written();
  std::reverse(turned.begin(), turned.end());
  EXPECT_EQ(ids(Timelines::of(turned)), ids(wrong.set.validation));
  // 210 coins: a half within five deviations of 7.
  EXPECT_NEAR(static_cast<double>(ids(wrong.set.validation).size()),
              0.5 * static_cast<double>(turned.size()), 36);
}

Config calibrating_config() {
  Config config = small_synthetic_config();
  config.train.epochs = 3;
  config.data.validation = 0.5;
  config.data.train = 0.4;
  config.train.calibrate = true;
  return config;
}

TEST(Calibrate, IsTheLastStepOfTrainingAndOfFineTuning) {
  const TemporaryFolder folder;
  const Dataset& data = small_synthetic();
  const Config config = calibrating_config();
  Model model = untrained_model(data, config);
  ThreadPool pool(1);
  TrainOptions options;
  options.out = folder / "m.model";
  train(model, data, model.split(data), pool, options);
  ASSERT_FALSE(model.calibration.empty());
  EXPECT_EQ(load_model(options.out).calibration.features[0].dof, model.calibration.features[0].dof);

  ClassifierOptions classes;
  classes.settings = config.classify;
  classes.settings.epochs = 2;
  const Model frozen = train_classifier(model, data, model.split(data), pool, classes).model;
  EXPECT_EQ(frozen.calibration.features[0].dof, model.calibration.features[0].dof);
  classes.settings.fine_tune = 1;
  classes.settings.fine_tune_rate = 0.01;
  const Model tuned = train_classifier(model, data, model.split(data), pool, classes).model;
  ASSERT_FALSE(tuned.calibration.empty());
  EXPECT_NE(tuned.calibration.features[0].dof, model.calibration.features[0].dof);
  const TrainingSet set = distribution_training_set(tuned, data, tuned.split(data));
  EXPECT_EQ(tuned.calibration.features[0].dof,
            fit_calibration(tuned, set.validation, pool).features[0].dof);
}

// Stopped after the last epoch the run is not finished: it says so, the file stays as that epoch
// left it, and a resumed run takes the step. A finished run writes the same file once more.
TEST(Calibrate, CanBeStoppedAndTakenUpAgain) {
  const TemporaryFolder folder;
  const Dataset& data = small_synthetic();
  const Config config = calibrating_config();
  std::atomic<bool> stop = false;
  TrainOptions options;
  options.out = folder / "m.model";
  options.stop = &stop;
  options.on_epoch = [&](const EpochRow& row) { stop = row.epoch == config.train.epochs; };
  ThreadPool pool(1);
  const auto trained = [&](const TrainOptions& how) {
    Model model = untrained_model(data, config);
    const bool interrupted = train(model, data, model.split(data), pool, how).interrupted;
    return std::pair(interrupted, to_json(model.calibration));
  };
  EXPECT_TRUE(trained(options).first);
  EXPECT_TRUE(load_model(options.out).calibration.empty());
  const auto whole = trained({});
  EXPECT_FALSE(whole.first);
  stop = false;
  options.resume = true;
  EXPECT_EQ(trained(options), whole);
  const std::string file = folder.read("m.model");
  EXPECT_EQ(to_json(load_model(options.out).calibration), whole.second);
  EXPECT_EQ(trained(options), whole);
  EXPECT_EQ(folder.read("m.model"), file);
}

TEST(Calibrate, NeedsADistribution) {
  Config config = calibrating_config();
  config.model.kind = "gru-d";
  Model model = untrained_model(small_synthetic(), config);
  ThreadPool pool(1);
  EXPECT_EQ(refusal_of(
                [&] { train(model, small_synthetic(), model.split(small_synthetic()), pool, {}); }),
            "train.calibrate: gru-d has no distribution to calibrate; leave it out");
}

}  // namespace
}  // namespace edict

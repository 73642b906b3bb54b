// The noise sweep: its levels, what it shares, what it reports, and that EDGR holds.
#include "judge/stress.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ask/classification.h"
#include "base/json/json.h"
#include "judge/counting_network.h"
#include "judge/small_classifier.h"
#include "render/json/classes_json.h"
#include "render/json/stress_json.h"

namespace edict {
namespace {

using Kind = Guard::Kind;

StressResult swept(const StressOptions& options, std::size_t threads = 2) {
  ThreadPool pool(threads);
  const auto test = small_classifier().split(small_synthetic()).test;
  return stress(small_classifier(), small_synthetic(), test, pool, options);
}

StressOptions three_guards() {
  StressOptions options;
  options.guards = {{Kind::none}, {Kind::edgr}, {Kind::population}};
  options.levels = {0, 9};
  options.noise = noise_from_name("compounding");
  return options;
}

TEST(Stress, EqualsEachPieceDoneAlone) {
  const Dataset& data = small_synthetic();
  const Model& model = small_classifier();
  const StressResult result = swept(three_guards());
  const auto test = model.split(data).test;
  ThreadPool pool(1);
  std::vector<std::int32_t> labels;
  for (const std::size_t i : test) labels.push_back(data.labels[i]);
  for (std::size_t s = 0; s < 3; ++s) {
    NoiseSpec noise = noise_from_name("compounding");
    noise.rate = 0.7;
    noise.seed = s;
    const Dataset noisy = with_noise(model.protocol, data, test, noise);
    for (const StressCurve& curve : result.curves) {
      const Encoding clean = encode(model, data, test, pool, curve.guard);
      const Encoding hit = encode(model, noisy, test, pool, curve.guard);
      const Vector<float>& classifier = model.first().seed_classifiers[s].params;
      const auto metrics = [&](const Encoding& encoding) {
        const auto p = class_probabilities(model, encoding.states, classifier);
        return to_json(classification_metrics(Predictions(p.values, labels, 2)));
      };
      EXPECT_EQ(to_json(curve.clean.seeds[s]), metrics(clean));
      EXPECT_EQ(to_json(curve.levels[1].seeds[s]), metrics(hit));
    }
  }
}

TEST(Stress, SharesWorkWithoutChangingIt) {
  const nlohmann::json together = to_json(swept(three_guards(), 1));
  StressOptions alone = three_guards();
  alone.guards = {{Kind::edgr}};
  alone.levels = {9};
  const nlohmann::json edgr = to_json(swept(alone, 3));
  EXPECT_EQ(edgr["levels"][0], together["guards"]["edgr"]["levels"][1]);
  EXPECT_EQ(edgr["clean"], together["guards"]["edgr"]["clean"]);
}

// Synthetic under the published noise: without a guard nothing but chance is left at level 9 (69
// series: 0.5 ± 0.06 a seed), with EDGR most of the accuracy. A small model, so a loose bound.
TEST(Stress, EdgrHoldsWhereTheUnguardedModelFalls) {
  const StressResult result = swept(three_guards());
  const auto accuracy = [&](std::size_t curve, std::size_t level) {
    return over_seeds(result.curves[curve].levels[level],
                      [](const ClassificationResult& r) { return r.accuracy; })
        .mean;
  };
  EXPECT_LT(accuracy(0, 1), 0.7);
  EXPECT_GT(accuracy(1, 1), accuracy(0, 1) + 0.2);
  EXPECT_GT(accuracy(1, 0), 0.95);
  for (const StressCurve& curve : result.curves)
    for (const ClassificationResult& r : curve.clean.seeds) EXPECT_GE(r.accuracy, 0.95);
  EXPECT_EQ(result.curves[0].levels[1].clipped, 0.0);
  EXPECT_GT(result.curves[1].levels[1].clipped, result.curves[1].levels[0].clipped);
  EXPECT_GT(result.curves[1].levels[0].clipped, result.curves[1].clean.clipped);
}

// Clean data, a guard in predictive deviations: a calibrated model clips about 5 % at η = 1.96. The
// model here is small and briefly trained; half to twice that share is calibrated enough.
TEST(Stress, CleanDataAreClippedAsOftenAsEtaSays) {
  StressOptions options = three_guards();
  options.guards = {{Kind::none}, {Kind::edgr, 1.96, Guard::Deviation::predictive}};
  options.levels = {};
  const StressResult result = swept(options);
  EXPECT_GT(result.curves[1].clean.clipped, 0.02);
  EXPECT_LT(result.curves[1].clean.clipped, 0.10);
  const auto accuracy = [](const ClassificationResult& r) { return r.accuracy; };
  EXPECT_GE(over_seeds(result.curves[1].clean, accuracy).mean,
            over_seeds(result.curves[0].clean, accuracy).mean - 1.0 / 60);
}

TEST(Stress, JsonCarriesMeansDeviationsAndTheFirstGuardOnTop) {
  StressOptions options = three_guards();
  std::size_t last = 0, total = 0;
  options.progress = [&](std::size_t done, std::size_t all) {
    EXPECT_EQ(done, last + 1);
    last = done;
    total = all;
  };
  const nlohmann::json told = to_json(swept(options));
  EXPECT_EQ(last, 3u * (1 + 2 * 3));
  EXPECT_EQ(total, last);
  EXPECT_EQ(told["guard"], "none");
  EXPECT_EQ(told["levels"], told["guards"]["none"]["levels"]);
  EXPECT_EQ(told["noise"], "compounding");
  EXPECT_EQ(told["seeds"], (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(told["series"], small_classifier().split(small_synthetic()).test.size());
  const nlohmann::json& point = told["guards"]["pop-mean"]["levels"][1];
  EXPECT_EQ(point["level"], 9);
  EXPECT_EQ(point["rate"], 0.7);
  for (const char* metric : {"accuracy", "auroc", "auprc", "brier", "log_loss", "aurc"}) {
    double sum = 0, squares = 0;
    for (const auto& seed : point["seeds"]) sum += seed[metric].get<double>();
    for (const auto& seed : point["seeds"])
      squares += std::pow(seed[metric].get<double>() - sum / 3, 2);
    EXPECT_NEAR(point[metric].get<double>(), sum / 3, 1e-12);
    EXPECT_NEAR(point[std::string(metric) + "_std"].get<double>(), std::sqrt(squares / 3), 1e-12);
  }
  ASSERT_EQ(point["refusing"].size(), 20u);
  EXPECT_EQ(point["refusing"][19]["coverage"], 1.0);
  EXPECT_NEAR(point["refusing"][19]["accuracy"].get<double>(), point["accuracy"].get<double>(),
              1e-12);
}

TEST(Stress, EveryNoiseRises) {
  for (const char* name : {"asymmetric", "spikes", "stuck", "drift", "bursts", "units"}) {
    StressOptions options;
    options.guards = {{Kind::none}};
    options.levels = {0, 9};
    options.seeds = {1};
    options.noise = noise_from_name(name);
    options.largest = usual_largest(options.noise.kind);
    const StressResult result = swept(options);
    const StressCurve& curve = result.curves[0];
    if (options.noise.kind != NoiseKind::asymmetric) {  // its level 0 adds a tenth of a deviation
      EXPECT_EQ(curve.levels[0].seeds[0].log_loss, curve.clean.seeds[0].log_loss) << name;
    }
    EXPECT_GT(curve.levels[1].seeds[0].log_loss, curve.clean.seeds[0].log_loss) << name;
  }
}

TEST(NoiseAt, SetsWhatALevelIsOf) {
  NoiseSpec noise = noise_from_name("compounding");
  EXPECT_DOUBLE_EQ(noise_at(noise, 3, 0.6).rate, 0.2);
  EXPECT_DOUBLE_EQ(noise_at(noise, 3, 0.6).strength, 0.1);
  noise = noise_from_name("bursts");
  EXPECT_DOUBLE_EQ(noise_at(noise, 9, 0.9).strength, 0.9);
  noise = noise_from_name("spikes");
  EXPECT_DOUBLE_EQ(noise_at(noise, 9, 0.5).fraction, 0.5);
  EXPECT_DOUBLE_EQ(noise_at(noise, 9, 0.5).strength, 5.0);
  EXPECT_EQ(refusal_of([&] { noise_at(noise, 10, 1.0); }),
            "noise level 10 does not exist; give one from 0 to 9");
}

TEST(Stress, ServesModelsWithoutDistribution) {
  Dataset data;
  data.features = {"a"};
  data.classes = {"no", "yes"};
  for (int i = 0; i < 20; ++i) {
    data.add_series(std::to_string(i), i % 2);
    data.add_event(1.0);
    data.add_observation(0, i % 2 ? 1.0 : -1.0);
  }
  const Model model = counting_model(data);
  ThreadPool pool(2);
  StressOptions options;
  options.guards = {{Kind::none}, {Kind::population, 0.5}};
  options.levels = {0};
  const StressResult result = stress(model, data, every_series(data), pool, options);
  for (const StressCurve& curve : result.curves) {
    ASSERT_EQ(curve.clean.seeds.size(), 3u);
    EXPECT_EQ(curve.clean.seeds[2].accuracy, 1.0);
    EXPECT_EQ(curve.levels[0].seeds[2].accuracy, 1.0);  // 0.1 of noise on ±1
  }
  EXPECT_EQ(result.curves[1].clean.clipped, 1.0);
  options.guards = {{Kind::edgr}};
  EXPECT_NE(refusal_of([&] {
              stress(model, data, every_series(data), pool, options);
            }).find("no distribution that EDGR could clip to"),
            std::string::npos);
}

TEST(Stress, RefusesWhatCannotBeJudged) {
  const Dataset& data = small_synthetic();
  const Model& model = small_classifier();
  ThreadPool pool(1);
  const StressOptions options = three_guards();
  const auto test = model.split(data).test;
  EXPECT_EQ(refusal_of([&] { stress(small_trained_model(), data, test, pool, options); }),
            "this model has no classifier; make one with `edict classify`");

  Dataset single = data;
  for (const std::size_t i : test) single.labels[i] = 1;
  // There is nothing to rank in a single class, or in a single series; the rest can be told.
  for (const auto& some : {test, std::vector<std::size_t>{test.front()}}) {
    const StressResult one = stress(model, single, some, pool, options);
    const ClassificationResult& clean = one.curves[0].clean.seeds[0];
    EXPECT_TRUE(std::isnan(clean.auroc.value));
    EXPECT_TRUE(std::isnan(clean.average_precision.value));
    EXPECT_GE(clean.accuracy, 0.0);
    EXPECT_EQ(clean.series, some.size());
  }

  Dataset other = data;
  other.features[0] = "pulse";
  EXPECT_NE(refusal_of([&] {
              stress(model, other, test, pool, options);
            }).find("the data's features are [pulse, x2, x3], the model's are [x1, x2, x3]"),
            std::string::npos);

  StressOptions stopped = three_guards();
  const std::atomic<bool> stop = true;
  stopped.stop = &stop;
  EXPECT_THROW(stress(model, data, test, pool, stopped), Interrupted);
  StressOptions wrong = three_guards();
  wrong.levels = {-1};
  EXPECT_NE(refusal_of([&] { stress(model, data, test, pool, wrong); }).find("level -1"),
            std::string::npos);
}

// A class that training never saw counts as an error wherever it turns up.
TEST(Stress, CountsAnUnseenClassAsErrors) {
  Dataset data = small_synthetic();
  const Model& frozen = small_trained_model();
  const Split parts = frozen.split(data);
  data.classes.push_back("late");
  for (std::size_t k = 0; k < 6; ++k) data.labels[parts.test[k]] = 2;
  ThreadPool pool(2);
  ClassifierOptions training;
  training.settings = small_synthetic_config().classify;
  const Model model = train_classifier(frozen, data, parts, pool, training).model;
  StressOptions options = three_guards();
  options.levels = {};
  const StressResult result = stress(model, data, parts.test, pool, options);
  const ClassificationResult& clean = result.curves[0].clean.seeds[0];
  const auto judged = static_cast<double>(parts.test.size());
  EXPECT_LE(clean.accuracy, (judged - 6) / judged);
  EXPECT_GE(clean.accuracy, (judged - 8) / judged);
  EXPECT_EQ(clean.confusion[2 * 3 + 2], 0u);
}

}  // namespace
}  // namespace edict

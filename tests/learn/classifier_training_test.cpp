// f_CLF on frozen states: what is learnt, chosen, kept, and refused.
#include "learn/classifier/classifier_training.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "engine/small_model.h"
#include "model/classifier/state_classifier.h"
#include "model/encode.h"
#include "temporary_folder.h"

namespace edict {
namespace {

ClassifierOptions small_options() {
  ClassifierOptions options;
  options.settings = small_synthetic_config().classify;
  return options;
}

ClassifierResult classified(const Model& model, const Dataset& data,
                            const ClassifierOptions& options = small_options(),
                            std::size_t threads = 2) {
  ThreadPool pool(threads);
  return train_classifier(model, data, model.split(data), pool, options);
}

LabelFit test_fit(const Model& model, const Dataset& data, const Vector<float>& classifier) {
  ThreadPool pool(2);
  const auto test = model.split(data).test;
  std::vector<std::int32_t> labels;
  for (const std::size_t i : test) labels.push_back(data.labels[i]);
  const Matrix<float> states = encode(model, data, test, pool).states;
  return label_fit(StateClassifier(model).logits(classifier.data(), states), labels);
}

TEST(ClassifierTraining, TellsTheClassesOfSyntheticApartFromEverySeed) {
  const Dataset& data = small_synthetic();
  const ClassifierResult result = classified(small_trained_model(), data);
  ASSERT_EQ(result.runs.size(), 3u);
  EXPECT_EQ(result.train, small_trained_model().split(data).train.size());
  EXPECT_EQ(result.validation, small_trained_model().split(data).validation.size());
  EXPECT_EQ(result.unlabelled, 0u);
  ASSERT_EQ(result.model.first().seed_classifiers.size(), 3u);
  for (std::size_t s = 0; s < 3; ++s) {
    EXPECT_EQ(result.runs[s].seed, static_cast<std::int64_t>(s));
    EXPECT_EQ(result.model.first().seed_classifiers[s].seed, static_cast<std::int64_t>(s));
    // 69 test series: at most one wrong.
    EXPECT_GE(test_fit(result.model, data, result.runs[s].params).accuracy(), 0.98);
  }
  EXPECT_NE(result.runs[0].params, result.runs[1].params);
}

TEST(ClassifierTraining, LeavesTheModelItselfFrozenAndTakesTheBestSeed) {
  const Model& model = small_trained_model();
  const ClassifierResult result = classified(model, small_synthetic());
  EXPECT_EQ(result.model.first().params.head(model.first().params.size()), model.first().params);
  const ClassifierRun* best = &result.runs[0];
  for (const ClassifierRun& run : result.runs)
    if (run.validation_accuracy > best->validation_accuracy ||
        (run.validation_accuracy == best->validation_accuracy &&
         run.validation_cross_entropy < best->validation_cross_entropy))
      best = &run;
  EXPECT_EQ(result.model.config.classify.seed, best->seed);
  EXPECT_EQ(result.model.first().params.tail(result.model.classifier_size()), best->params);
}

// Adam's first step moves every parameter by rate · g/(|g| + ε), g from the closed form
// Σ (softmax − onehot) [h; 1]ᵀ / n of a linear layer under cross-entropy.
TEST(ClassifierTraining, FirstStepFollowsTheGradientInClosedForm) {
  const Dataset& data = small_synthetic();
  const Model& model = small_trained_model();
  ClassifierOptions options = small_options();
  options.settings.epochs = 1;
  options.settings.batch = 100000;
  options.seeds = {7};
  const ClassifierResult result = classified(model, data, options);

  ThreadPool pool(1);
  const auto train = model.split(data).train;
  const Matrix<float> h = encode(model, data, train, pool).states;
  const Vector<float> initial =
      result.model.network->layout().initial<float>(7).tail(result.model.classifier_size());
  Vector<double> g = Vector<double>::Zero(initial.size());  // [out, in] weights, then the bias
  for (Index i = 0; i < h.cols(); ++i) {
    double score[2];
    for (Index k = 0; k < 2; ++k) {
      score[k] = initial[32 + k];
      for (Index c = 0; c < 16; ++c) score[k] += static_cast<double>(initial[16 * k + c] * h(c, i));
    }
    const double p1 = 1.0 / (1.0 + std::exp(score[0] - score[1]));
    const double d1 = p1 - data.labels[train[static_cast<std::size_t>(i)]];
    for (Index k = 0; k < 2; ++k) {
      const double d = (k == 1 ? d1 : -d1) / static_cast<double>(h.cols());
      for (Index c = 0; c < 16; ++c) g[16 * k + c] += d * static_cast<double>(h(c, i));
      g[32 + k] += d;
    }
  }
  for (Index k = 0; k < g.size(); ++k) {
    if (std::abs(g[k]) < 1e-4) continue;  // its sign is rounding
    EXPECT_NEAR(result.runs[0].params[k], initial[k] - 0.01 * (g[k] > 0 ? 1 : -1), 1e-5) << k;
  }
}

TEST(ClassifierTraining, FileKeepsEverySeedAndThePopulation) {
  const ClassifierResult result = classified(small_trained_model(), small_synthetic());
  const TemporaryFolder folder;
  save_model(result.model, folder / "clf");
  const Model loaded = load_model(folder / "clf");
  EXPECT_EQ(loaded.first().params, result.model.first().params);
  EXPECT_EQ(loaded.classes, result.model.classes);
  EXPECT_EQ(loaded.protocol.population.mean, result.model.protocol.population.mean);
  EXPECT_EQ(loaded.protocol.population.scale, result.model.protocol.population.scale);
  ASSERT_EQ(loaded.first().seed_classifiers.size(), 3u);
  for (std::size_t s = 0; s < 3; ++s) {
    EXPECT_EQ(loaded.first().seed_classifiers[s].seed,
              result.model.first().seed_classifiers[s].seed);
    EXPECT_EQ(loaded.first().seed_classifiers[s].params,
              result.model.first().seed_classifiers[s].params);
  }

  TensorFile damaged = to_tensors(result.model);
  std::erase_if(damaged.tensors,
                [](const NamedTensor& t) { return t.name == "classifier_seeds.1.0.bias"; });
  EXPECT_EQ(refusal_of([&] { from_tensors(damaged, "x.clf"); }),
            "x.clf: not a usable model file: tensor 'classifier_seeds.1.0.bias' is missing; "
            "train it again with this version");
}

TEST(ClassifierTraining, BottleneckLearnsToo) {
  ClassifierOptions options = small_options();
  options.settings.layers = 2;
  options.seeds = {4};
  const ClassifierResult result = classified(small_trained_model(), small_synthetic(), options);
  EXPECT_EQ(result.model.config.classify.layers, 2);
  EXPECT_EQ(result.model.config.classify.seed, 4);
  EXPECT_GE(test_fit(result.model, small_synthetic(), result.runs[0].params).accuracy(), 0.98);
}

// ------------------------------------------------------------------------------- labels

TEST(ClassifierLabels, SeriesWithoutOneAreLeftOut) {
  Dataset data = small_synthetic();
  for (std::size_t i = 0; i < data.size(); i += 3) data.labels[i] = Dataset::kNone;
  const Model model = untrained_model(data);
  const Split parts = model.split(data);
  std::size_t missing = 0;
  for (const auto* part : {&parts.train, &parts.validation})
    for (const std::size_t i : *part) missing += data.labels[i] == Dataset::kNone;
  const ClassifierResult result = classified(model, data);
  EXPECT_EQ(result.unlabelled, missing);
  EXPECT_EQ(result.train + result.validation + missing,
            parts.train.size() + parts.validation.size());

  // Their observations do not matter either: the classifiers are those without these series.
  Dataset changed = data;
  for (const std::size_t i : parts.train)
    if (data.labels[i] == Dataset::kNone)
      for (std::size_t e = data.first_event[i]; e < data.first_event[i + 1]; ++e)
        changed.value[data.first_observation[e]] = 9.0;
  EXPECT_EQ(classified(model, changed).model.first().params, result.model.first().params);
}

TEST(ClassifierLabels, ClassWithOneMemberIsAClass) {
  Dataset data = small_synthetic();
  data.classes.push_back("rare");
  const std::size_t last = data.size() - 1;
  data.labels[last] = 2;
  const Model model = untrained_model(data);
  const Split parts = model.split(data);
  const bool trained = std::count(parts.train.begin(), parts.train.end(), last) > 0;
  const ClassifierResult result = classified(model, data);
  EXPECT_EQ(result.model.network->classes(), 3);
  EXPECT_EQ(result.never_seen,
            trained ? std::vector<std::string>{} : std::vector<std::string>{"rare"});
}

TEST(ClassifierLabels, ClassOnlyInTestIsNamedAndNeverPredicted) {
  Dataset data = small_synthetic();
  const Model model = untrained_model(data);
  Split parts = model.split(data);
  data.classes.push_back("late");
  for (std::size_t k = 0; k < 5; ++k) data.labels[parts.test[k]] = 2;
  ThreadPool pool(2);
  const ClassifierResult result = train_classifier(model, data, parts, pool, small_options());
  EXPECT_EQ(result.never_seen, std::vector<std::string>{"late"});
  const Matrix<float> logits = StateClassifier(result.model)
                                   .logits(result.runs[0].params.data(),
                                           encode(result.model, data, parts.test, pool).states);
  for (Index i = 0; i < logits.cols(); ++i) {
    Index predicted = 0;
    logits.col(i).maxCoeff(&predicted);
    EXPECT_NE(predicted, 2);
  }
}

TEST(ClassifierLabels, RefusesWhatCannotBeLearnt) {
  const Model& model = small_trained_model();
  const auto refused = [&](Dataset data) { return refusal_of([&] { classified(model, data); }); };

  Dataset none = small_synthetic();
  none.classes.clear();
  none.labels.assign(none.size(), Dataset::kNone);
  EXPECT_EQ(refused(none), "the data have no labels; add a label column to train a classifier");

  Dataset single = small_synthetic();
  single.labels.assign(single.size(), 1);
  EXPECT_EQ(refused(single),
            "all 196 labelled series of the training split are of class '1'; a classifier needs at "
            "least two classes");

  Dataset unlabelled = small_synthetic();
  const Split parts = model.split(unlabelled);
  for (const std::size_t i : parts.train) unlabelled.labels[i] = Dataset::kNone;
  ThreadPool pool(1);
  EXPECT_EQ(refusal_of([&] { train_classifier(model, unlabelled, parts, pool, small_options()); }),
            "no series of the training split has a label; add a label column to the data");

  Dataset unjudged = small_synthetic();
  for (const std::size_t i : parts.validation) unjudged.labels[i] = Dataset::kNone;
  EXPECT_EQ(refusal_of([&] { train_classifier(model, unjudged, parts, pool, small_options()); }),
            "no series of the validation split has a label, and the best epoch is chosen there; "
            "label more series or raise data.validation");

  Dataset other = small_synthetic();
  other.features[2] = "pulse";
  EXPECT_EQ(
      refused(other),
      "the data's features are [x1, x2, pulse], the model's are [x1, x2, x3]; use the columns "
      "it was trained on, in that order");

  ClassifierOptions options = small_options();
  options.seeds = {1, 1};
  EXPECT_EQ(refusal_of([&] { classified(model, small_synthetic(), options); }),
            "the seeds of the classifiers repeat; give each once");
}

}  // namespace
}  // namespace edict

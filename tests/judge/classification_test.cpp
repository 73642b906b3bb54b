// Class probabilities from raw data, at the end and over time.
#include "ask/classification.h"

#include <gtest/gtest.h>

#include <cmath>

#include "judge/counting_network.h"
#include "judge/small_classifier.h"
#include "model/infer.h"

namespace edict {
namespace {

TEST(ClassProbabilities, AreTheSoftmaxOfTheNetworksScores) {
  const Dataset& data = small_synthetic();
  const Model& model = small_classifier();
  ThreadPool pool(2);
  const auto all = every_series(data);
  std::vector<Timeline<float>> timelines;
  std::vector<Example> examples;
  for (const std::size_t i : all) timelines.push_back(encoding_timeline(model.protocol, data, i));
  for (const auto& timeline : timelines) examples.push_back({&timeline});
  const Matrix<float> logits = infer_classes(model, examples, pool);
  const ClassProbabilities p = class_probabilities(model, data, all, pool);
  ASSERT_EQ(p.classes, 2u);
  ASSERT_EQ(p.values.size(), 2 * data.size());
  for (std::size_t i = 0; i < data.size(); ++i) {
    const auto column = static_cast<Index>(i);
    const double gap = static_cast<double>(logits(0, column) - logits(1, column));
    EXPECT_NEAR(p.row(i)[1], 1.0 / (1.0 + std::exp(gap)), 1e-5);
    EXPECT_NEAR(p.row(i)[0] + p.row(i)[1], 1.0, 1e-12);
  }
}

TEST(ClassProbabilities, AreTheSameBlockAfterBlock) {
  const Dataset& data = small_synthetic();
  Model model = small_classifier().with_classifier(small_classifier().config, data.classes);
  model.first().params = small_classifier().first().params;
  model.config.train.chunk = 1;
  ASSERT_LT(block_of_series(model), data.size());
  ASSERT_GE(block_of_series(small_classifier()), data.size());
  ThreadPool pool(2);
  const auto all = every_series(data);
  const ClassProbabilities blocks = class_probabilities(model, data, all, pool);
  const ClassProbabilities once = class_probabilities(small_classifier(), data, all, pool);
  EXPECT_EQ(blocks.values, once.values);
  EXPECT_EQ(blocks.observations, once.observations);
}

TEST(ClassProbabilities, NeedAClassifier) {
  ThreadPool pool(1);
  EXPECT_EQ(refusal_of([&] {
              class_probabilities(small_trained_model(), small_synthetic(),
                                  every_series(small_synthetic()), pool);
            }),
            "this model has no classifier; make one with `edict classify`");
}

// The decision at time t is that of the same data cut off before t and walked to t.
TEST(ClassTrajectories, EqualThoseOfTheDataSoFar) {
  const Dataset& data = small_synthetic();
  ThreadPool pool(2);
  const std::vector<std::size_t> some{1, 2, 40};
  const std::vector<double> times{0.0, 2.5, 6.0, 30.0};
  const auto over_time = class_trajectories(small_classifier(), data, {times}, some, pool);
  ASSERT_EQ(over_time.size(), 3u);
  for (std::size_t t = 0; t < times.size(); ++t) {
    Dataset so_far;
    so_far.features = data.features;
    so_far.classes = data.classes;
    for (const std::size_t i : some) {
      so_far.add_series(data.ids[i], data.labels[i]);
      for (std::size_t e = data.first_event[i]; e < data.first_event[i + 1]; ++e) {
        if (data.times[e] >= times[t]) break;
        so_far.add_event(data.times[e]);
        for (const Observation& o : data.observed(e)) so_far.add_observation(o.feature, o.value);
      }
    }
    Model model = small_classifier().with_classifier(small_classifier().config, data.classes);
    model.first().params = small_classifier().first().params;
    model.protocol.horizon = times[t];
    const auto expected = class_probabilities(model, so_far, every_series(so_far), pool);
    for (std::size_t s = 0; s < some.size(); ++s)
      EXPECT_NEAR(over_time[s].probabilities.row(t)[1], expected.row(s)[1], 1e-4)
          << times[t] << " " << s;
  }
  // Before anything is seen all series look the same; in the end the classes are told apart.
  EXPECT_EQ(over_time[0].probabilities.row(0)[1], over_time[1].probabilities.row(0)[1]);
  for (std::size_t s = 0; s < some.size(); ++s)
    EXPECT_GT(over_time[s].probabilities.row(2)[static_cast<std::size_t>(data.labels[some[s]])],
              0.5);
}

Dataset counted() {
  Dataset data;
  data.features = {"a"};
  data.classes = {"no", "yes"};
  for (int i = 0; i < 4; ++i) {
    data.add_series(std::to_string(i), i % 2);
    data.add_event(1.0);
    data.add_observation(0, i % 2 ? 1.0 : -1.0);
    data.add_event(3.0);
    data.add_observation(0, i < 2 ? 4.0 : -4.0);
  }
  return data;
}

TEST(ModelsWithoutDistribution, ClassifyAtTheEndAndOverTime) {
  const Dataset data = counted();
  const Model model = counting_model(data);
  ThreadPool pool(2);
  const auto sigmoid = [](double x) { return 1.0 / (1.0 + std::exp(-x)); };
  const auto end = class_probabilities(model, data, every_series(data), pool);
  EXPECT_NEAR(end.row(0)[1], sigmoid(3), 1e-6);
  EXPECT_NEAR(end.row(3)[1], sigmoid(-3), 1e-6);
  EXPECT_EQ(end.clipped, 0u);

  const auto clipped =
      class_probabilities(model, data, every_series(data), pool, {Guard::Kind::population, 2.0});
  EXPECT_NEAR(clipped.row(0)[1], sigmoid(1), 1e-6);
  EXPECT_EQ(clipped.clipped, 4u);
  EXPECT_EQ(clipped.observations, 8u);

  const auto over_time =
      class_trajectories(model, data, {{1, 2, 9}}, std::vector<std::size_t>{1}, pool);
  EXPECT_NEAR(over_time[0].probabilities.row(0)[1], 0.5, 1e-6);
  EXPECT_NEAR(over_time[0].probabilities.row(1)[1], sigmoid(1), 1e-6);
  EXPECT_NEAR(over_time[0].probabilities.row(2)[1], sigmoid(5), 1e-6);

  EXPECT_EQ(refusal_of([&] {
              class_probabilities(model, data, every_series(data), pool, {Guard::Kind::edgr});
            }),
            "edict predicts no distribution that EDGR could clip to; use the guards none or "
            "pop-mean");
}

TEST(LabelledSeries, MatchesClassesByName) {
  Dataset data = counted();
  const Model model = counting_model(data);
  data.classes = {"yes", "no"};  // another file, other order
  data.labels[2] = Dataset::kNone;
  const auto all = every_series(data);
  const LabelledSeries found = labelled_series(model, data, all);
  EXPECT_EQ(found.series, (std::vector<std::size_t>{0, 1, 3}));
  EXPECT_EQ(found.labels, (std::vector<std::int32_t>{1, 0, 0}));
  EXPECT_EQ(found.unlabelled, 1u);

  data.classes = {"yes", "perhaps"};
  EXPECT_EQ(refusal_of([&] { labelled_series(model, data, all); }),
            "series 1: label 'perhaps' is not among the model's classes [no, yes]; train the "
            "classifier on data that holds it, or remove the label");
  data.labels.assign(data.size(), Dataset::kNone);
  EXPECT_EQ(refusal_of([&] { labelled_series(model, data, all); }),
            "none of the 4 series has a label to evaluate the classifier on");
}

}  // namespace
}  // namespace edict

// h(T): where it is read, and that it depends on the series alone.
#include "model/encode.h"

#include <gtest/gtest.h>

#include <cmath>

#include "engine/small_model.h"
#include "model/classifier/state_classifier.h"
#include "model/infer.h"

namespace edict {
namespace {

// Two series: one observed at 1 and 4, one without any event.
Dataset two_series(double shift = 0.0) {
  Dataset data;
  data.features = {"a", "b"};
  data.add_series("full");
  data.add_event(1.0 + shift);
  data.add_observation(0, 0.5);
  data.add_event(4.0 + shift);
  data.add_observation(0, -0.25);
  data.add_observation(1, 2.0);
  data.add_series("empty");
  return data;
}

Model model_of(const Dataset& data, Config config = small_synthetic_config()) {
  config.data.t_cut.reset();
  return Model::create(config, data, {{0}, {}, {}});
}

TEST(EncodingTimeline, AbsorbsEverythingAndEndsAtTheHorizon) {
  const Dataset data = two_series();
  Model model = model_of(data);
  EXPECT_EQ(model.protocol.horizon, 4.0);
  model.protocol.horizon = 6.0;
  const Timeline<float> timeline = encoding_timeline(model.protocol, data, 0);
  ASSERT_EQ(timeline.stops.size(), 3u);
  EXPECT_EQ(timeline.stops[1].what, Timeline<float>::kAbsorb);
  EXPECT_EQ(timeline.stops[1].count, 2u);
  EXPECT_EQ(timeline.stops[2].time, 6.0);
  EXPECT_EQ(timeline.stops[2].count, 0u);
  EXPECT_EQ(timeline.stops[2].what, Timeline<float>::kQuery);
  EXPECT_EQ(encoding_timeline(model.protocol, data, 0, true).stops[0].what,
            Timeline<float>::kAbsorb | Timeline<float>::kScore);
  EXPECT_EQ(encoding_timeline(model.protocol, data, 1).stops.back().time, 6.0);
}

TEST(EncodingTimeline, GoesOnToALaterEvent) {
  const Dataset data = two_series();
  Model model = model_of(data);
  model.protocol.horizon = 2.0;
  const Timeline<float> timeline = encoding_timeline(model.protocol, data, 0);
  EXPECT_EQ(timeline.stops[2].time, 4.0);
  EXPECT_EQ(timeline.stops[2].count, 0u);
}

TEST(EncodingTimeline, OfASeriesWithoutClockIsItsStart) {
  const Dataset data = two_series(1e9);  // seconds since 1970: the clock starts at the first event
  const Model model = model_of(data);
  EXPECT_EQ(model.config.data.start, ClockStart::first);
  EXPECT_EQ(encoding_timeline(model.protocol, data, 1).stops.back().time, 0.0);
  ThreadPool pool(1);
  EXPECT_TRUE(encode(model, data, every_series(data), pool).states.allFinite());
}

TEST(EncodingTimeline, KeepsTheTimeUnit) {
  const Dataset data = two_series();
  Config config = small_synthetic_config();
  config.data.time_unit = 2.0;
  EXPECT_EQ(encoding_timeline(model_of(data, config).protocol, data, 1).stops.back().time, 2.0);
}

TEST(Encode, ReadsTheStateThatAQueryAfterwardsSees) {
  const Dataset& data = small_synthetic();
  const Model& model = small_trained_model();
  ThreadPool pool(1);
  for (const std::size_t i : {0, 7, 31}) {
    const Matrix<float> h = encode(model, data, std::vector<std::size_t>{i}, pool).states;
    const Timeline<float> timeline =
        query_timeline(model.protocol, data, i, {model.protocol.horizon + 1e-9});
    InferenceOptions options;
    options.states = true;
    const std::vector<float> seen =
        infer(model, examples_of(std::span(&timeline, 1)), pool, options)[0].states;
    for (Index k = 0; k < h.rows(); ++k)
      EXPECT_NEAR(h(k, 0), seen[static_cast<std::size_t>(k)], 1e-5);
  }
}

TEST(Encode, GivesTheSameBitsForAnyNumberOfThreadsAndKeepsTheOrder) {
  const Dataset& data = small_synthetic();
  const Model& model = small_trained_model();
  ThreadPool one(1), three(3);
  const auto all = every_series(data);
  const Matrix<float> states = encode(model, data, all, one).states;
  EXPECT_EQ(states, encode(model, data, all, three).states);
  const std::vector<std::size_t> some{200, 3, 77};
  const Matrix<float> few = encode(model, data, some, one).states;
  for (Index k = 0; k < 3; ++k)
    EXPECT_EQ(few.col(k), states.col(static_cast<Index>(some[static_cast<std::size_t>(k)])));
}

TEST(Encode, BearsAbsurdValues) {
  Dataset data = two_series();
  const Model model = model_of(data);
  for (double& value : data.value.edit()) value = std::copysign(1.7e308, value);
  ThreadPool pool(1);
  for (const auto kind : {Guard::Kind::none, Guard::Kind::edgr, Guard::Kind::population})
    EXPECT_TRUE(encode(model, data, every_series(data), pool, {kind}).states.allFinite());
}

TEST(Encode, RefusesOtherFeaturesByName) {
  Dataset data = two_series();
  const Model model = model_of(data);
  data.features = {"a", "c"};
  ThreadPool pool(1);
  EXPECT_EQ(
      refusal_of([&] { encode(model, data, every_series(data), pool); }),
      "the data's features are [a, c], the model's are [a, b]; use the columns it was trained "
      "on, in that order");
}

TEST(StateClassifier, GivesTheScoresOfTheWholeNetwork) {
  const Dataset& data = small_synthetic();
  ThreadPool pool(2);
  for (const std::int64_t layers : {1, 2}) {
    Config config = small_synthetic_config();
    config.classify.layers = layers;
    const Model model = small_trained_model().with_classifier(config, data.classes);
    const StateClassifier classifier(model);
    ASSERT_EQ(classifier.size(), model.classifier_size());
    EXPECT_EQ(classifier.size(), layers == 1 ? 2 * 16 + 2 : 16 * 8 + 8 + 8 * 2 + 2);
    std::vector<Timeline<float>> timelines;
    std::vector<Example> examples;
    for (std::size_t i = 0; i < 20; ++i)
      timelines.push_back(encoding_timeline(model.protocol, data, i));
    for (const auto& timeline : timelines) examples.push_back({&timeline});
    const Matrix<float> whole = infer_classes(model, examples, pool);
    const std::vector<std::size_t> series = every_series(data);
    const Matrix<float> states = encode(model, data, std::span(series).first(20), pool).states;
    const Vector<float> params = model.first().params.tail(classifier.size());
    EXPECT_LT((whole - classifier.logits(params.data(), states)).cwiseAbs().maxCoeff(), 1e-5f);
  }
}

TEST(LabelFit, CountsLabelledSeriesOnly) {
  Matrix<float> logits(2, 3);
  logits << 0.0f, 2.0f, 1.0f,  //
      0.0f, 0.0f, 3.0f;
  const LabelFit fit = label_fit(logits, std::vector<std::int32_t>{Dataset::kNone, 0, 0});
  EXPECT_EQ(fit.labelled, 2);
  EXPECT_EQ(fit.accuracy(), 0.5);
  // −ln σ(2) and −ln σ(−2).
  EXPECT_NEAR(fit.mean_cross_entropy(), (0.126928011 + 2.126928011) / 2, 1e-7);
}

}  // namespace
}  // namespace edict

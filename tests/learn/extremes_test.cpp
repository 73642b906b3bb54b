// Data that is extreme but legal trains, and then every answer is finite; or it is refused in a
// line that says why, before anything is trained or written.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

#include "ask/anomalies.h"
#include "ask/classification.h"
#include "engine/small_model.h"
#include "judge/evaluate.h"
#include "learn/random_table.h"
#include "temporary_folder.h"

namespace edict {
namespace {

constexpr std::uint64_t kShape = 2;  // of three features
constexpr std::uint64_t kLongShape =
    17;  // of three features, each with more than 100 values to train on

// Everything that a user may ask of a trained model, after a detour through its file.
void expect_finite_answers(const Model& trained, const Dataset& data) {
  const TemporaryFolder folder;
  save_model(trained, folder / "m");
  const Model model = load_model(folder / "m");
  ThreadPool pool(1);
  for (const bool guarded : {false, true}) {
    Guard guard;
    if (guarded) guard.kind = Guard::Kind::edgr;
    const Evaluation judged = evaluate(model, data, every_series(data), pool, guard);
    for (const auto* part : {&judged.interpolation, &judged.extrapolation})
      if (*part) {
        EXPECT_TRUE(std::isfinite((*part)->mse.mean + (*part)->nll.mean + (*part)->crps.mean));
      }
    for (const Expectations& series :
         expectations(model, data, every_series(data), {.guard = guard}, pool))
      for (const JudgedEvent& one : judged_alone(series)) {
        const Surprise surprise = one.surprise();
        ASSERT_TRUE(std::isfinite(surprise.z + surprise.log_score))
            << data.ids[series.series] << " " << data.features[one.feature] << " " << one.observed;
        ASSERT_TRUE(std::isfinite(one.probability_integral() + one.tail_probability()));
      }
  }
  PredictRequest request;
  request.from = PredictRequest::From::last_observation;
  request.times = {0, model.protocol.time_unit};
  for (const Trajectory& one : trajectories(model, data, request, every_series(data), pool))
    for (const Marginal& m : one.marginals) {
      ASSERT_TRUE(std::isfinite(m.mean + half_width(m, 0.9)));
      ASSERT_TRUE(std::isfinite(predictive_deviation(m)));
      ASSERT_GT(m.scale, 0);
      ASSERT_GT(aleatoric_deviation(m), 0);
    }
}

void expect_works(const Dataset& data) {
  for (const auto& variant : model_variants()) {
    SCOPED_TRACE(variant.empty() ? "default" : variant.front());
    const Model model = tiny_model(data, variant);
    ASSERT_TRUE(model.first().params.allFinite());
    expect_finite_answers(model, data);
  }
  for (const char* kind : {"gru-d", "ipn", "seft"}) {
    SCOPED_TRACE(kind);
    const Model model = tiny_model(data, {fmt::format("model.kind={}", kind)});
    ThreadPool pool(1);
    for (const double p : class_probabilities(model, data, every_series(data), pool).values)
      ASSERT_TRUE(p >= 0 && p <= 1) << p;
  }
}

std::string refusal(const Dataset& data) {
  return refusal_of([&] { tiny_model(data); });
}

void expect_says(const std::string& said, const std::string& part) {
  EXPECT_NE(said.find(part), std::string::npos) << said;
}

// ---- values ----

TEST(Extremes, FeaturesOfScalesTwoHundredPowersOfTenApart) {
  Dataset data = random_table(kShape);
  ASSERT_EQ(data.features.size(), 3u);
  auto& values = data.value.edit();
  for (std::size_t o = 0; o < values.size(); ++o)
    values[o] *= std::array{1e-99, 1.0, 1e99}[static_cast<std::size_t>(data.feature[o])];
  expect_works(data);
}

// Their variances are no finite numbers above 0.
TEST(Extremes, ScalesThatCannotBeSquaredAreRefusedByName) {
  for (const double scale : {1e-320, 1e-300, 1e-150, 1e150, 1e300, 1e307}) {
    const std::string said = refusal(in_other_unit(random_table(kShape), scale, 0));
    expect_says(said, "'x0' deviates by ");
    expect_says(said, "look for a value in the wrong unit");
  }
}

TEST(Extremes, ConstantsAndAFeatureThatIsSeenOnce) {
  Dataset data = random_table(kShape);
  const auto once = static_cast<std::int32_t>(data.features.size());
  data.features.insert(data.features.end(), {"once", "large", "small"});
  for (int i = 0; i < 8; ++i) {  // so that some of them are trained on
    data.add_series(fmt::format("with more {}", i));
    for (int e = 0; e < 4; ++e) {
      data.add_event(e);
      if (i == 0 && e == 2) data.add_observation(once, 4.5);
      data.add_observation(once + 1, 1e300);
      data.add_observation(once + 2, 1e-300);
    }
  }
  expect_works(data);
}

TEST(Extremes, AnOutlierOfATrillionDeviationsIsSaid) {
  Dataset data = random_table(kLongShape);
  EXPECT_TRUE(tiny_settings(data).notes.empty());
  const std::size_t first = split(data, tiny_settings(data).config.data).train.front();
  const std::size_t at = data.first_observation[data.first_event[first]];
  data.value.edit()[at] = 1e12;
  const std::vector<std::string> notes = tiny_settings(data).notes;
  ASSERT_EQ(notes.size(), 1u);
  expect_says(notes[0], fmt::format("feature '{}' reaches from ",
                                    data.features[static_cast<std::size_t>(data.feature[at])]));
  expect_says(notes[0], " to 1e+12 ");
  expect_works(data);
}

// A thousand deviations suffice (N8).
TEST(Extremes, AnOutlierOfAThousandDeviationsIsSaid) {
  Dataset data = random_table(kLongShape);
  const std::size_t first = split(data, tiny_settings(data).config.data).train.front();
  data.value.edit()[data.first_observation[data.first_event[first]]] = 1000;
  const std::vector<std::string> notes = tiny_settings(data).notes;
  ASSERT_EQ(notes.size(), 1u);
  expect_says(notes[0], "look for values in the wrong unit");
}

// A rare event is no mistake: without it there is nothing to see.
TEST(Extremes, AnIndicatorThatIsRarelySetIsNoOutlier) {
  Dataset data = random_table(kShape);
  for (double& value : data.value.edit()) value = 0;
  data.value.edit()[data.first_observation[data.first_event[3]]] = 1;
  for (const std::string& note : tiny_settings(data).notes)
    EXPECT_EQ(note.find("reaches"), std::string::npos) << note;
}

// What a model never saw in training may come at any time.
TEST(Extremes, TheLargestNumbersInWhatIsAsked) {
  const Dataset data = random_table(kShape);
  for (const auto& variant : model_variants()) {
    SCOPED_TRACE(variant.empty() ? "default" : variant.front());
    const Model model = tiny_model(data, variant);
    for (const double value : {1e30, 1e300, -std::numeric_limits<double>::max()}) {
      Dataset far = data;
      for (std::size_t o = 0; o < far.observations(); o += 7) far.value.edit()[o] = value;
      expect_finite_answers(model, far);
    }
  }
}

// ---- times ----

TEST(Extremes, ThousandsOfEventsWithinASecondBesideUsualSeries) {
  Dataset data = random_table(kShape);
  data.add_series("burst", 1);
  Generator rng(1);
  double time = 5;
  for (int e = 0; e < 3000; ++e) {
    data.add_event(time += 1e-9 * static_cast<double>(1 + rng.below(600'000)));
    data.add_observation(0, rng.normal());
  }
  expect_works(data);
}

TEST(Extremes, PausesOfYearsBetweenSecondsAreSaid) {
  Dataset data = random_table(kShape);
  for (std::size_t i = 0; i < data.size(); ++i)
    for (std::size_t e = data.first_event[i]; e < data.first_event[i + 1]; ++e)
      if (e - data.first_event[i] >= data.events(i) / 2) data.times.edit()[e] += 1e15;
  const std::vector<std::string> notes = tiny_settings(data).notes;
  ASSERT_EQ(notes.size(), 1u);
  expect_says(notes[0], "make up most of the time");
  expect_works(data);
}

TEST(Extremes, TimesFarFromZero) {
  for (const double origin : {1e15, -1e15, 1.7e18})  // the last: nanoseconds since 1970
    expect_works(at_other_times(random_table(kShape), 1e6, origin));
}

TEST(Extremes, SeriesOfOneEvent) {
  for (const double apart : {0.0, 0.125}) {
    Dataset data;
    data.features = {"x"};
    data.classes = {"no", "yes"};
    Generator rng(1);
    for (int i = 0; i < 60; ++i) {
      data.add_series(fmt::format("s{}", i), i % 2);
      data.add_event(7 + apart * i);
      data.add_observation(0, rng.normal());
    }
    for (int i = 0; i < 5; ++i) data.add_series(fmt::format("empty {}", i), i % 2);
    expect_works(data);
  }
}

// A model whose settings could not be read back from its file would be of no use.
TEST(Extremes, TimesThatNoSettingHoldsAreRefused) {
  for (const double unit : {1e290, 1e-290}) {
    const Dataset data = at_other_times(random_table(1), unit, 0);
    expect_says(refusal(data), "count them in another unit");
    Config config;  // as of a file that leaves it to the data
    config.data.start = ClockStart::origin;
    expect_says(refusal_of([&] { Model::create(config, data, split(data, config.data)); }),
                "count them in another unit");
  }
  const std::string said =
      refusal_of([] { tiny_settings(random_table(1), {"data.time_unit=1e-25"}); });
  expect_says(said, "model.step = ");
}

// ---- sizes ----

TEST(Extremes, AThousandFeaturesEachRarelySeen) {
  Dataset data;
  for (int j = 0; j < 1000; ++j) data.features.push_back(fmt::format("f{}", j));
  data.classes = {"no", "yes"};
  Generator rng(4);
  for (int i = 0; i < 24; ++i) {
    data.add_series(fmt::format("s{}", i), i % 2);
    for (int e = 0; e < 6; ++e) {
      data.add_event(e + 0.1 * i);
      const auto feature = static_cast<std::int32_t>(rng.below(999));
      data.add_observation(feature, rng.normal());
      data.add_observation(feature + 1, rng.normal());
    }
  }
  expect_works(data);
}

}  // namespace
}  // namespace edict

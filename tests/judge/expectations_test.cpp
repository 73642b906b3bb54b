// What was expected of observations just before they came.
#include "ask/expectations.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ask/classification.h"
#include "ask/trajectory.h"
#include "base/not_finite.h"
#include "engine/small_model.h"

namespace edict {
namespace {

class ExpectationsOf : public testing::Test {
 protected:
  ExpectationsOf() : data(generate_synthetic(12, 1)) {
    const Config config = small_synthetic_config();
    model = Model::create(config, data, split(data, config.data), /*with_classifier=*/true);
  }
  Trajectory predicted(std::size_t series, double absorb_until) {
    PredictRequest request;
    request.times.assign(
        data.times.begin() + static_cast<std::ptrdiff_t>(data.first_event[series]),
        data.times.begin() + static_cast<std::ptrdiff_t>(data.first_event[series + 1]));
    request.series = {series};
    request.absorb_until = absorb_until;
    Trajectory found;
    predict(model, data, request, pool, [&](const Trajectory& t) { found = t; });
    return found;
  }

  Dataset data;
  Model model;
  ThreadPool pool{2};
};

// A query branches off and an absorbed event is a stop of the series itself: the same state to
// rounding in single precision.
TEST_F(ExpectationsOf, EveryObservationAreWhatPredictTellsAtItsTime) {
  const std::vector<std::size_t> some{3, 0};
  for (const double until : {kInfinity, 6.0}) {
    const auto found = expectations(model, data, some, {{}, until}, pool);
    ASSERT_EQ(found.size(), 2u);
    for (std::size_t i = 0; i < some.size(); ++i) {
      const Trajectory trajectory = predicted(some[i], until);
      std::size_t k = 0, event = 0;
      for (std::size_t e = data.first_event[some[i]]; e < data.first_event[some[i] + 1];
           ++e, ++event)
        for (const Observation& o : data.observed(e)) {
          const Marginal& m = trajectory.at(event, static_cast<std::size_t>(o.feature));
          const Marginal& got = found[i].observations.at(k++).expected;
          EXPECT_NEAR(got.mean, m.mean, 1e-5 * (1 + std::abs(m.mean)));
          EXPECT_NEAR(got.aleatoric / m.aleatoric, 1.0, 1e-4);
          EXPECT_NEAR(got.epistemic / m.epistemic, 1.0, 1e-4);
        }
      EXPECT_EQ(k, found[i].observations.size());
    }
  }
}

TEST_F(ExpectationsOf, AClassifyingModelAreItsProbabilitiesTooIfAskedFor) {
  const std::size_t one = 4;
  const auto found = expectations(model, data, std::span(&one, 1), {{}, kInfinity, true}, pool);
  const ClassProbabilities end = class_probabilities(model, data, std::span(&one, 1), pool);
  EXPECT_EQ(found[0].probability, end.values);
  EXPECT_TRUE(expectations(model, data, std::span(&one, 1), {}, pool)[0].probability.empty());
}

TEST_F(ExpectationsOf, ClipsNameTheirObservation) {
  const std::size_t one = 2;
  const auto found =
      expectations(model, data, std::span(&one, 1), {{Guard::Kind::population, 0.2}}, pool);
  ASSERT_FALSE(found[0].clips.empty());
  for (const Clip& clip : found[0].clips) {
    EXPECT_GE(clip.observation, data.first_observation[data.first_event[one]]);
    EXPECT_LT(clip.observation, data.first_observation[data.first_event[one + 1]]);
    EXPECT_NE(clip.used, data.value[clip.observation]);
    // Clipped towards the population's mean, on the side where it was.
    EXPECT_EQ(clip.sigmas > 0, data.value[clip.observation] > clip.used);
  }
}

}  // namespace
}  // namespace edict

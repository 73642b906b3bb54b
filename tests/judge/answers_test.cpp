// Answers to the usual questions: from the last observation on, against what was observed, and in
// place of what was not.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "ask/anomalies.h"
#include "ask/classification.h"
#include "ask/impute.h"
#include "ask/trajectory.h"
#include "data/subset.h"
#include "engine/small_model.h"
#include "judge/counting_network.h"
#include "judge/small_classifier.h"

namespace edict {
namespace {

const std::vector<std::size_t> kSome{3, 17, 40};

double last_time(const Dataset& data, std::size_t series) {
  return data.times[data.first_event[series + 1] - 1];
}

void expect_same(const Marginal& a, const Marginal& b) {
  EXPECT_EQ(a.mean, b.mean);
  EXPECT_EQ(a.scale, b.scale);
  EXPECT_EQ(a.dof, b.dof);
  EXPECT_EQ(a.aleatoric, b.aleatoric);
}

// After the last observation it does not matter from where times are counted.
TEST(Ahead, EqualsTheSameMomentsOnTheClock) {
  const Dataset& data = small_synthetic();
  const Model& model = small_trained_model();
  ThreadPool pool(2);
  PredictRequest ahead{{0.5, 2, 7}};
  ahead.from = PredictRequest::From::last_observation;
  const auto found = trajectories(model, data, ahead, kSome, pool);
  for (std::size_t s = 0; s < kSome.size(); ++s) {
    const PredictRequest clock{found[s].times};
    const Trajectory expected = trajectories(model, data, clock, {&kSome[s], 1}, pool)[0];
    EXPECT_NEAR(found[s].times[1], last_time(data, kSome[s]) + 2, 1e-12);
    for (std::size_t t = 0; t < 3; ++t)
      for (std::size_t j = 0; j < 3; ++j) expect_same(found[s].at(t, j), expected.at(t, j));
  }
}

// Zero is after the observation, where a time on the clock is before it.
TEST(Ahead, ZeroKnowsTheLastObservation) {
  const Dataset& data = small_synthetic();
  const Model& model = small_trained_model();
  ThreadPool pool(1);
  PredictRequest ahead{{0}}, soon{{1e-6}};
  ahead.from = soon.from = PredictRequest::From::last_observation;
  const Trajectory now = trajectories(model, data, ahead, kSome, pool)[0];
  const Trajectory next = trajectories(model, data, soon, kSome, pool)[0];
  const Trajectory before = trajectories(model, data, {now.times}, kSome, pool)[0];
  EXPECT_EQ(now.times[0], last_time(data, kSome[0]));
  double moved = 0;
  for (std::size_t j = 0; j < 3; ++j) {
    EXPECT_NEAR(now.at(0, j).mean, next.at(0, j).mean, 1e-4);
    moved += std::abs(now.at(0, j).mean - before.at(0, j).mean);
  }
  EXPECT_GT(moved, 1e-3) << "the observation changed nothing";
}

TEST(Ahead, TimesAreWhatOneWouldWrite) {
  Dataset data;
  data.features = {"a"};
  data.add_series("x");
  data.add_event(2.3);
  data.add_observation(0, 1);
  data.add_series("empty");
  PredictRequest request{{0, 0.1, 0.7}};
  request.from = PredictRequest::From::last_observation;
  EXPECT_EQ(asked_times(request, data, 0), (std::vector<double>{2.3, 2.4, 3.0}));
  EXPECT_EQ(asked_times(request, data, 1), (std::vector<double>{0, 0.1, 0.7}));
  request.times = {-1};
  EXPECT_NE(refusal_of([&] { asked_times(request, data, 0); }).find("before the last observation"),
            std::string::npos);
}

// Every expectation is that of a query at its time; the observed value is the data's own.
TEST(Expectations, AreWhatAQueryExpectsOfEveryObservation) {
  const Dataset& data = small_synthetic();
  const Model& model = small_trained_model();
  ThreadPool pool(2);
  const auto found = expectations(model, data, kSome, {}, pool);
  ASSERT_EQ(found.size(), kSome.size());
  for (const Expectations& own : found) {
    const std::size_t first = data.first_event[own.series], end = data.first_event[own.series + 1];
    PredictRequest request{{data.times.begin() + static_cast<std::ptrdiff_t>(first),
                            data.times.begin() + static_cast<std::ptrdiff_t>(end)}};
    const Trajectory expected = trajectories(model, data, request, {&own.series, 1}, pool)[0];
    std::size_t next = 0;
    for (std::size_t e = first; e < end; ++e)
      for (const Observation& o : data.observed(e)) {
        const ExpectedObservation& s = own.observations.at(next++);
        EXPECT_EQ(s.event, e);
        EXPECT_EQ(s.feature, static_cast<std::size_t>(o.feature));
        EXPECT_EQ(s.observed, o.value);
        expect_same(s.expected, expected.at(e - first, s.feature));
      }
    EXPECT_EQ(next, own.observations.size());
  }
}

// Three events: of two features that agree, of one alone, and of two that contradict each other.
TEST(JudgeTogether, TellsWhoContradictsItsCompanions) {
  Matrix<double> r(2, 2);
  r << 1, 0.95, 0.95, 1;
  const Correlations correlations(r);
  const Marginal own{0, 1, 0, 1, 6};
  Expectations series;
  series.observations = {
      {0, 0, 1.5, own}, {0, 1, 1.4, own}, {1, 1, 1.5, own}, {2, 0, 1.5, own}, {2, 1, -1.0, own}};
  const auto before = judged_alone(series), judged = judged_together(correlations, series);
  const auto tail = [&](std::size_t k) { return judged[k].tail_probability(); };
  for (std::size_t k = 0; k < 5; ++k) {
    EXPECT_GT(before[k].tail_probability(), 0.15) << "each alone is plausible";
    const JudgedEvent& o = judged[k];
    EXPECT_NEAR(1 - o.central_level(), tail(k), 1e-12);
    EXPECT_NEAR(2 * std::min(o.probability_integral(), 1 - o.probability_integral()), tail(k),
                1e-12);
    EXPECT_EQ(o.surprise().log_score, -o.given->log_density(o.observed));
  }
  EXPECT_GT(tail(0), 0.5);
  EXPECT_GT(tail(1), 0.5);
  EXPECT_NEAR(tail(2), before[2].tail_probability(), 1e-12) << "it came alone";
  EXPECT_LT(tail(3), 1e-6);
  EXPECT_LT(tail(4), 1e-6);
}

TEST(LeastExpected, AreTheSmallestTailsInOrder) {
  Generator rng(4, "tails");
  std::vector<double> tails;
  LeastExpected all(5), first(5), second(5);
  for (std::size_t i = 0; i < 6000; ++i) {
    const JudgedEvent s{{i, 0, rng.normal(), {0, 1, 0, 1, 3.0 + static_cast<double>(i % 2)}}, {}};
    tails.push_back(s.tail_probability());
    all.add(0, s);
    (i % 3 == 0 ? first : second).add(0, s);
  }
  std::sort(tails.begin(), tails.end());
  first.add(second);
  const auto once = all.sorted(), merged = first.sorted();
  ASSERT_EQ(once.size(), 5u);
  ASSERT_EQ(merged.size(), 5u);
  for (std::size_t k = 0; k < 5; ++k) {
    EXPECT_EQ(once[k].tail_probability, tails[k]);
    EXPECT_EQ(merged[k].judged.event, once[k].judged.event);
  }
}

TEST(Impute, ObservedCellsStayAndTheOthersAreFilled) {
  const Dataset& data = small_synthetic();
  const Model& model = small_trained_model();
  ThreadPool pool(2);
  for (const ImputedSeries& own : impute(model, data, {}, kSome, pool)) {
    ASSERT_EQ(own.times.size(), data.events(own.series));
    for (std::size_t t = 0; t < own.times.size(); ++t) {
      std::vector<bool> seen(3);
      for (const Observation& o : data.observed(data.first_event[own.series] + t)) {
        const std::size_t cell = own.cell(t, static_cast<std::size_t>(o.feature));
        seen[static_cast<std::size_t>(o.feature)] = true;
        EXPECT_EQ(own.value[cell], o.value);
        EXPECT_EQ(own.deviation[cell], 0);
      }
      for (std::size_t j = 0; j < 3; ++j) {
        EXPECT_EQ(own.observed[own.cell(t, j)] == 1, bool(seen[j]));
        if (!seen[j]) {
          EXPECT_GT(own.deviation[own.cell(t, j)], 0);
        }
      }
    }
  }
}

// The last row is filled from all of the series, which is what is expected zero ahead; an earlier
// one from the series cut off behind it, whatever came later.
TEST(Impute, ACellIsFilledFromWhatWasSeenUpToThen) {
  const Dataset& data = small_synthetic();
  const Model& model = small_trained_model();
  ThreadPool pool(1);
  const ImputedSeries whole = impute(model, data, {}, kSome, pool)[0];
  for (const std::size_t t : {std::size_t{4}, whole.times.size() - 1}) {
    const Dataset so_far = subset(data, {&kSome[0], 1}, std::nextafter(whole.times[t], 1e9));
    PredictRequest now{{0}};
    now.from = PredictRequest::From::last_observation;
    const std::size_t first = 0;
    const Trajectory expected = trajectories(model, so_far, now, {&first, 1}, pool)[0];
    for (std::size_t j = 0; j < 3; ++j)
      if (!whole.observed[whole.cell(t, j)]) {
        EXPECT_EQ(whole.value[whole.cell(t, j)], expected.at(0, j).mean);
        EXPECT_EQ(whole.deviation[whole.cell(t, j)], predictive_deviation(expected.at(0, j)));
      }
  }
}

// How much each side counts is fitted to hidden values in evaluation timelines (train/fuse.h): a
// hole is filled by the same answer, to the bit.
TEST(Impute, FromBothSidesFillsAHoleAsTheFitSawIt) {
  const Dataset& data = small_synthetic();
  Model model = small_trained_model().member(0);
  model.protocol.t_cut = 1e9;
  model.first().backward = model.network->layout().initial<float>(7);
  FeatureFusion fusion;
  fusion.dof = 5;
  model.fusion = {{3, fusion}, 10};
  ThreadPool pool(1);
  // Of every third event with several observations, the first is hidden.
  Dataset holes;
  holes.features = data.features;
  holes.add_series(data.ids[kSome[0]], Dataset::kNone);
  std::vector<std::uint8_t> hidden;
  for (std::size_t e = data.first_event[kSome[0]]; e < data.first_event[kSome[0] + 1]; ++e) {
    const auto observed = data.observed(e);
    const bool hides = e % 3 == 0 && observed.size() > 1;
    holes.add_event(data.times[e]);
    for (std::size_t k = 0; k < observed.size(); ++k) {
      hidden.push_back(hides && k == 0);
      if (!hidden.back()) holes.add_observation(observed[k].feature, observed[k].value);
    }
  }
  const Timeline<float> timeline = evaluation_timeline(model.protocol, data, kSome[0], hidden);
  InferenceOptions options;
  options.marginals = InferenceOptions::Marginals::observed;
  const Answer expected = infer_smoothed(model, std::span(&timeline, 1), pool, options)[0];
  ImputeRequest request;
  request.sides = Sides::both;
  const std::size_t first = 0;
  const ImputedSeries filled = impute(model, holes, request, {&first, 1}, pool)[0];
  std::size_t next = 0;
  for (const auto& stop : timeline.stops) {
    if (!(stop.what & Timeline<float>::kQuery)) continue;
    const auto j = static_cast<std::size_t>(timeline.feature[stop.first]);
    const auto t =
        static_cast<std::size_t>(std::lower_bound(filled.times.begin(), filled.times.end(),
                                                  model.protocol.to_raw_time(stop.time) - 1e-9) -
                                 filled.times.begin());
    const Marginal m = to_raw(model.protocol.standardisation, j, expected.marginals[next++]);
    ASSERT_FALSE(filled.observed[filled.cell(t, j)]);
    EXPECT_EQ(filled.value[filled.cell(t, j)], m.mean);
    EXPECT_EQ(filled.deviation[filled.cell(t, j)], predictive_deviation(m));
  }
  EXPECT_GT(next, 2u);
}

TEST(Impute, AGridHoldsWhatWasObservedAtItsTimes) {
  const Dataset& data = small_synthetic();
  ThreadPool pool(1);
  const double at = data.times[data.first_event[kSome[0]] + 2];
  ImputeRequest request;
  request.grid = {0.0, at, at + 1e-3, 20.0};
  const ImputedSeries own = impute(small_trained_model(), data, request, kSome, pool)[0];
  ASSERT_EQ(own.times, request.grid);
  for (const Observation& o : data.observed(data.first_event[kSome[0]] + 2)) {
    const auto j = static_cast<std::size_t>(o.feature);
    EXPECT_EQ(own.value[own.cell(1, j)], o.value);
    EXPECT_FALSE(own.observed[own.cell(2, j)]);
  }
  EXPECT_FALSE(own.observed[own.cell(0, 0)]);
}

// At the last observation, where the model has seen everything and walked no further.
TEST(ClassTrajectories, FromTheLastObservationKnowEverything) {
  const Dataset& data = small_synthetic();
  ThreadPool pool(2);
  PredictRequest ahead{{0, 3}};
  ahead.from = PredictRequest::From::last_observation;
  const auto found = class_trajectories(small_classifier(), data, ahead, kSome, pool);
  for (std::size_t s = 0; s < kSome.size(); ++s) {
    Model model = small_classifier().with_classifier(small_classifier().config, data.classes);
    model.first().params = small_classifier().first().params;
    for (std::size_t t = 0; t < 2; ++t) {
      model.protocol.horizon = found[s].times[t];
      const auto expected = class_probabilities(model, data, {&kSome[s], 1}, pool);
      EXPECT_NEAR(found[s].probabilities.row(t)[1], expected.row(0)[1], 1e-6);
    }
  }
  // A model without a distribution is asked with everything, too: its score is the sum of it.
  Dataset few;
  few.features = {"a"};
  few.classes = {"0", "1"};
  few.add_series("x", 0);
  few.add_event(1);
  few.add_observation(0, 1.25);
  few.add_event(2);
  few.add_observation(0, 0.5);
  const std::size_t first = 0;
  const auto counted = class_trajectories(counting_model(few), few, ahead, {&first, 1}, pool);
  EXPECT_EQ(counted[0].times, (std::vector<double>{2, 5}));
  for (std::size_t t = 0; t < 2; ++t)
    EXPECT_NEAR(counted[0].probabilities.row(t)[1], 1 / (1 + std::exp(-1.75)), 1e-6);
}

}  // namespace
}  // namespace edict

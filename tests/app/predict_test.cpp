// Prediction, imputation, the noise sweep and exploration as functions of the library.
#include "app/predict/predict.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "app/explore.h"
#include "app/find_name.h"
#include "app/predict/impute.h"
#include "app/stress.h"
#include "app/train/calibrate.h"
#include "ask/distribution.h"
#include "ask/trajectory.h"
#include "engine/small_model.h"

namespace edict::app {
namespace {

using When = PredictRequest::When;

// Keeps what it receives; the spans of a row last no longer.
struct Kept : PredictedRows {
  struct Feature {
    PredictedFeature row;
    std::vector<double> quantiles, limits;
    double mean;
  };
  std::vector<Feature> features;
  std::vector<std::pair<std::size_t, std::vector<double>>> classes;
  std::size_t clips = 0;

  void add(const PredictedFeature& row) override {
    features.push_back({row,
                        {row.quantiles.begin(), row.quantiles.end()},
                        {row.limits.begin(), row.limits.end()},
                        row.marginal ? row.marginal->mean : kNaN});
  }
  void add(const PredictedClasses& row) override {
    classes.emplace_back(row.series,
                         std::vector<double>(row.probabilities.begin(), row.probabilities.end()));
  }
  void add(std::size_t, std::span<const Clip> changed) override { clips += changed.size(); }
};

struct Predicted : Kept {
  PredictResult result;
  std::vector<double> shares;
};

Predicted predicted(const PredictRequest& request, const Model& model = small_trained_model()) {
  Predicted all;
  ThreadPool pool(3);
  all.result = predict(
      model, small_synthetic(), request, pool,
      {.begin = [] { return std::make_unique<Kept>(); },
       .take =
           [&](PredictedRows& rows, double share) {
             const auto& part = static_cast<Kept&>(rows);
             all.features.insert(all.features.end(), part.features.begin(), part.features.end());
             all.classes.insert(all.classes.end(), part.classes.begin(), part.classes.end());
             all.clips += part.clips;
             all.shares.push_back(share);
           }});
  return all;
}

template <class Action>
Error refusal(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return error;
  }
  return Error("accepted");
}

TEST(Predict, RowsAreTheDistributionsOfTheModelInTheOrderOfTheSeries) {
  const Predicted found = predicted({.times = {2, 7},
                                     .features = {2, 0},
                                     .level = 0.8,
                                     .quantiles = {0.1},
                                     .limits = {{.feature = 0, .value = 0.3}}});
  const std::size_t n = small_synthetic().size();
  ASSERT_EQ(found.features.size(), n * 2 * 2);
  EXPECT_EQ(found.result.series, n);
  EXPECT_EQ(found.result.observations, small_synthetic().observations());
  EXPECT_EQ(found.shares.back(), 1.0);
  ThreadPool pool(1);
  const std::vector<std::size_t> fifth = {5};
  const Trajectory expected =
      trajectories(small_trained_model(), small_synthetic(), {.times = {2, 7}}, fifth, pool).at(0);
  const Kept::Feature& first = found.features[5 * 4];
  const Kept::Feature& last = found.features[5 * 4 + 3];
  EXPECT_EQ(first.row.series, 5u);
  EXPECT_EQ(first.row.feature, 2u);
  EXPECT_EQ(first.row.time, 2);
  EXPECT_EQ(last.row.feature, 0u);
  EXPECT_EQ(last.row.time, 7);
  const Marginal& m = expected.at(1, 0);
  EXPECT_EQ(last.mean, m.mean);
  EXPECT_EQ(last.row.upper, m.mean + half_width({0, 0, 0, 1, m.dof}, 0.8) * m.scale);
  EXPECT_NEAR(last.quantiles.at(0), last.row.lower, 1e-9);
  EXPECT_EQ(last.limits.at(0), probability_above(m, 0.3));
  EXPECT_TRUE(std::isnan(first.limits.at(0)));
  EXPECT_TRUE(std::isnan(last.row.observed));
}

TEST(Predict, AtEventsEveryObservationHasItsSurpriseAndTheTopAreTheLeastExpected) {
  const Predicted all = predicted({.when = When::events});
  ASSERT_EQ(all.features.size(), small_synthetic().observations());
  std::vector<double> tails;
  for (const Kept::Feature& one : all.features) tails.push_back(one.row.tail_probability);
  std::sort(tails.begin(), tails.end());
  const Predicted top = predicted({.when = When::events, .top = 7});
  ASSERT_EQ(top.features.size(), 7u);
  for (std::size_t k = 0; k < 7; ++k) EXPECT_EQ(top.features[k].row.tail_probability, tails[k]);
}

TEST(Predict, ListedSeriesOnlyAndWhatTheGuardChanged) {
  const Predicted found =
      predicted({.when = When::ahead,
                 .times = {1},
                 .series = std::vector<std::size_t>{3, 8},
                 .clips = true,
                 .guard = {Guard::Kind::edgr, 0.01, Guard::Deviation::epistemic}});
  ASSERT_EQ(found.features.size(), 2u * 3);
  EXPECT_EQ(found.features[3].row.series, 8u);
  EXPECT_EQ(found.features[0].row.ahead, 1);
  EXPECT_GT(found.result.clipped, 0u);
  EXPECT_EQ(found.clips, found.result.clipped);
  EXPECT_TRUE(predicted({.times = {1}, .series = std::vector<std::size_t>{}}).features.empty());
}

TEST(Predict, NotesForecastsBeyondWhatWasEvaluated) {
  Dataset fresh = generate_synthetic(200, 6);
  for (std::string& id : fresh.ids) id = "new-" + id;
  ThreadPool pool(2);
  const Model model = calibrate(small_trained_model().member(0), fresh, {"unseen"}, pool).model;
  double farthest = 0;
  for (const FeatureCalibration& own : model.calibration.features)
    farthest = std::max(farthest, own.farthest * model.protocol.time_unit);
  const auto notes = [&](double ahead) {
    return predicted({.when = When::ahead, .times = {ahead}}, model).result.notes;
  };
  EXPECT_EQ(notes(farthest), std::vector<std::string>{});
  EXPECT_EQ(notes(2 * farthest).size(), 1u);
}

TEST(Predict, RequestsThatCannotBeServedAreRefusedWithACode) {
  const Model& model = small_trained_model();
  const auto refused = [&](const PredictRequest& request) {
    return refusal([&] { check(request, model); });
  };
  const Error conformal = refused({.times = {1}, .conformal = true, .model_name = "ward.model"});
  EXPECT_EQ(conformal.code(), ErrorCode::unsupported);
  EXPECT_EQ(conformal.fields().subject, option("conformal"));
  EXPECT_EQ(conformal.message(command_line_option),
            "--conformal: ward.model is not calibrated; calibrate it with `edict calibrate "
            "ward.model DATA --out FILE`");
  EXPECT_EQ(refused({.when = When::ahead, .times = {-1, 2}}).message(command_line_option),
            "--ahead: -1 lies before the last observation; give times from 0 on, or use --at");
  EXPECT_EQ(refused({.when = When::horizon}).message(command_line_option),
            "--at horizon is for --classes; give times, as START:STEP:END");
  EXPECT_EQ(refused({.times = {1}, .top = 3}).message(command_line_option),
            "--top lists the least expected observations; give --at events with it");
  EXPECT_EQ(refused({.when = When::events, .classes = true}).message(command_line_option),
            "--at events is for features; for classes give times, or --ahead");
}

TEST(Impute, ObservedValuesStayAndNamesOfFeaturesAreFound) {
  const Model& model = small_trained_model();
  struct Values : ImputedRows {
    std::size_t cells = 0, observed = 0;
    void add(const ImputedSeries& series) override {
      cells += series.value.size();
      for (const auto one : series.observed) observed += one;
    }
  } all;
  ThreadPool pool(2);
  const ImputeResult result = impute(model, small_synthetic(), {}, pool,
                                     {.begin = [] { return std::make_unique<Values>(); },
                                      .take =
                                          [&](ImputedRows& rows, double) {
                                            all.cells += static_cast<Values&>(rows).cells;
                                            all.observed += static_cast<Values&>(rows).observed;
                                          }});
  EXPECT_EQ(all.cells, small_synthetic().events() * 3);
  EXPECT_EQ(all.observed, small_synthetic().observations());
  EXPECT_EQ(result.sides, Sides::past);
  EXPECT_FALSE(result.two_sided);

  EXPECT_EQ(features_to_fill({}, model).places, (std::vector<std::size_t>{0, 1, 2}));
  const FeaturesToFill found = features_to_fill({"X3", "x1"}, model);
  EXPECT_EQ(found.places, (std::vector<std::size_t>{0, 2}));
  ASSERT_EQ(found.notes.size(), 1u);
  EXPECT_EQ(with_options(found.notes[0], command_line_option),
            "--features: 'X3' is taken as feature 'x3'");
}

TEST(FindName, SuggestsTheNearestName) {
  const Error error = refusal([] { find_name("show", "feature", "lactat", {"pulse", "lactate"}); });
  EXPECT_EQ(error.code(), ErrorCode::not_found);
  EXPECT_EQ(error.message(command_line_option),
            "--show: no feature 'lactat'; did you mean 'lactate'?");
  EXPECT_EQ(refusal([] { find_name("show", "feature", "a", {}); }).fields().remedy,
            "there is none");
}

TEST(Explore, ShowsTheListedSeriesAndNotesOtherNames) {
  ThreadPool pool(2);
  const std::string id = small_synthetic().ids[4];
  const ExploreResult result =
      explore(small_trained_model(), small_synthetic(), {.ids = {id}, .shown = {"X2"}}, pool);
  EXPECT_EQ(result.series, 1u);
  EXPECT_EQ(result.page.whole, 1u);
  EXPECT_EQ(result.notes.size(), 1u);
  EXPECT_GT(result.page.html.size(), 10000u);
}

TEST(Stress, WithoutGuardsSweepsAllThatTheModelCanServe) {
  ThreadPool pool(2);
  const Model& model = small_trained_model();
  const Error none = refusal([&] { stress(model, small_synthetic(), {}, pool); });
  EXPECT_NE(std::string(none.what()), "accepted");  // it has no classifier
}

}  // namespace
}  // namespace edict::app

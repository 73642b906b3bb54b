// Scores taken apart add up, and the baselines are what their names say.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "ask/distribution.h"
#include "base/json/json.h"
#include "engine/small_model.h"
#include "judge/detailed_evaluation.h"
#include "protocol/holdout.h"
#include "render/json/breakdown_json.h"
#include "render/json/scores_json.h"
#include "result_json.h"

namespace edict {
namespace {

const DetailedEvaluation& detailed() {
  static const DetailedEvaluation result = [] {
    ThreadPool pool(2);
    const Model& model = small_trained_model();
    return evaluate_in_detail(model, small_synthetic(), model.split(small_synthetic()).test, pool);
  }();
  return result;
}

TEST(Breakdown, TheEvaluationInItIsTheSame) {
  ThreadPool pool(1);
  const Model& model = small_trained_model();
  const Evaluation alone =
      evaluate(model, small_synthetic(), model.split(small_synthetic()).test, pool);
  EXPECT_EQ(to_json(alone), to_json(detailed().evaluation));
}

TEST(Breakdown, GroupsAddUpToTheWhole) {
  for (const auto* task :
       {&detailed().breakdown.interpolation, &detailed().breakdown.extrapolation}) {
    ASSERT_TRUE(*task);
    for (const auto* groups : {&(*task)->features, &(*task)->horizons}) {
      ASSERT_GT(groups->size(), 1u);
      double n = 0, mse = 0, nll = 0, inside = 0, last = 0;
      for (const ScoredGroup& group : *groups) {
        const auto own = static_cast<double>(group.observations);
        n += own;
        mse += own * group.model.mse;
        nll += own * group.model.nll;
        inside += own * group.model.coverage[1];
        last += own * group.last_value.mse;
      }
      const ScoredGroup& all = (*task)->all;
      EXPECT_EQ(n, static_cast<double>(all.observations));
      // Sums in another order.
      EXPECT_NEAR(mse / n, all.model.mse, 1e-10);
      EXPECT_NEAR(nll / n, all.model.nll, 1e-10);
      EXPECT_NEAR(inside / n, all.model.coverage[1], 1e-10);
      EXPECT_NEAR(last / n, all.last_value.mse, 1e-10);
    }
    double pit = 0;
    for (const double share : (*task)->pit) pit += share;
    EXPECT_NEAR(pit, 1, 1e-12);
  }
}

// One feature, three series, everything judged by hand: t_cut 2.5, nothing held out before it.
TEST(Breakdown, BaselinesAndHorizonsByHand) {
  Dataset data;
  data.features = {"a", "b"};
  for (int i = 0; i < 30; ++i) {
    data.add_series("s" + std::to_string(i));
    data.add_event(1);
    data.add_observation(0, i % 5);
    data.add_event(2);
    data.add_observation(0, 1 + i % 3);
    data.add_event(3);  // judged, one after the last absorbed
    data.add_observation(0, 4);
    data.add_observation(1, 7);
    data.add_event(12);  // judged, ten after it
    data.add_observation(0, 2);
  }
  Config config = small_synthetic_config();
  config.data.t_cut = 2.5;
  config.data.holdout = 0;
  config.data.standardise = false;
  const Model model = untrained_model(data, config);
  ThreadPool pool(1);
  const std::vector<std::size_t> series{0, 4, 11};
  const Breakdown found = evaluate_in_detail(model, data, series, pool, {}, {1, 5}).breakdown;
  EXPECT_FALSE(found.interpolation) << "nothing was held out";
  ASSERT_TRUE(found.extrapolation);
  const TaskBreakdown& task = *found.extrapolation;
  EXPECT_EQ(task.all.observations, 9u);
  ASSERT_EQ(task.horizons.size(), 2u) << "empty ranges are left out";
  EXPECT_EQ(task.horizons[0].name, "up to 1");
  EXPECT_EQ(task.horizons[0].observations, 6u);
  EXPECT_EQ(task.horizons[1].name, "over 5");
  // Feature a at 3 and 12: the last values of series 0, 4, 11 are 1, 2 and 3.
  const ScoredGroup& a = task.features[0];
  EXPECT_EQ(a.observations, 6u);
  EXPECT_NEAR(a.last_value.mse, (9 + 4 + 1 + 1 + 0 + 1) / 6.0, 1e-6);
  EXPECT_NEAR(a.last_value.mae, (3 + 2 + 1 + 1 + 0 + 1) / 6.0, 1e-6);
  EXPECT_EQ(a.last_value.crps, a.last_value.mae) << "of a single number";
  EXPECT_TRUE(std::isnan(a.last_value.nll));
  const double mean = model.protocol.population.mean[0], sd = model.protocol.population.scale[0];
  EXPECT_NEAR(a.training_mean.mse, ((4 - mean) * (4 - mean) + (2 - mean) * (2 - mean)) / 2, 1e-6);
  const Marginal gaussian{mean, 0, 0, sd, std::numeric_limits<double>::infinity()};
  EXPECT_NEAR(a.training_mean.nll, -(log_density(gaussian, 4) + log_density(gaussian, 2)) / 2,
              1e-6);
  // Feature b was never observed before: what is carried forward is the training mean.
  EXPECT_EQ(task.features[1].last_value.mse, task.features[1].training_mean.mse);
}

// The definition, with every horizon kept and sorted.
TEST(Breakdown, EdgesAreTheRoundNumbersNearestToEvenQuantiles) {
  const Model& model = small_trained_model();
  const Dataset& data = small_synthetic();
  std::vector<double> horizons;
  for (const std::size_t i : every_series(data)) {
    const auto timeline = evaluation_timeline(model.protocol, model.config.data, data, i);
    double last = std::nan("");
    for (const auto& stop : timeline.stops) {
      const double horizon = (stop.time - last) * model.protocol.time_unit;
      if ((stop.what & Timeline<float>::kQuery) && !std::isnan(horizon))
        horizons.insert(horizons.end(), stop.count, horizon);
      if (stop.what & Timeline<float>::kAbsorb) last = stop.time;
    }
  }
  std::sort(horizons.begin(), horizons.end());
  std::vector<double> expected;
  for (std::size_t k = 1; k < 6; ++k) {
    const double at = horizons[k * (horizons.size() - 1) / 6];
    double nearest = 1;
    for (const double number :
         {0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1., 2., 5., 10.})
      if (std::abs(std::log(number / at)) < std::abs(std::log(nearest / at))) nearest = number;
    if (expected.empty() || nearest > expected.back()) expected.push_back(nearest);
  }
  ASSERT_GT(expected.size(), 2u);
  ThreadPool pool(3);
  const auto edges = even_horizon_edges(model, data, every_series(data), pool);
  ASSERT_EQ(edges.size(), expected.size());
  for (std::size_t k = 0; k < edges.size(); ++k) EXPECT_NEAR(edges[k], expected[k], 1e-12);
}

TEST(Breakdown, HorizonsAreRefusedWhereTheyDoNotAscend) {
  ThreadPool pool(1);
  const std::vector<std::size_t> one{0};
  for (const std::vector<double>& edges : std::vector<std::vector<double>>{{2, 1}, {0, 1}, {3, 3}})
    EXPECT_NE(refusal_of([&] {
                evaluate_in_detail(small_trained_model(), small_synthetic(), one, pool, {}, edges);
              }),
              "accepted");
}

TEST(Breakdown, ComesBackFromItsJson) {
  const Breakdown back = through_text(detailed().breakdown);
  EXPECT_EQ(to_json(back).dump(), to_json(detailed().breakdown).dump());
  for (const auto& [what, damaged] : every_damage(to_json(detailed().breakdown)))
    EXPECT_TRUE(refused<Breakdown>(damaged)) << what;
}

}  // namespace
}  // namespace edict

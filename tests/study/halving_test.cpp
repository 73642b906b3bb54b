#include "edict/study/halving.h"

#include <gtest/gtest.h>

#include <map>

namespace edict::study {
namespace {

Outcome at(std::size_t trial, std::size_t rung, double nll, double mse) {
  Outcome o;
  o.trial = trial;
  o.rung = rung;
  o.nll = nll;
  o.mse = mse;
  return o;
}
Outcome failed(std::size_t trial) {
  Outcome o = at(trial, 0, 0, 0);
  o.failure = "the gradient is not finite";
  return o;
}

TEST(Halving, RungsAreThirdsFromTheLongestDown) {
  EXPECT_EQ(rung_epochs(60, 3, 2), (std::vector<std::int64_t>{6, 20, 60}));
  EXPECT_EQ(rung_epochs(10, 3, 2), (std::vector<std::int64_t>{3, 10}));
  EXPECT_EQ(rung_epochs(1, 3, 2), (std::vector<std::int64_t>{1}));
  EXPECT_EQ(rung_epochs(60, 1, 2), (std::vector<std::int64_t>{60}));
}

TEST(Halving, RankingWeighsBothScoresAndLeavesFailuresOut) {
  // Places in (NLL, MSE): trial 0 (0, 2), trial 1 (1, 0), trial 2 (2, 1).
  const std::vector<Outcome> outcomes{at(0, 0, 0.1, 0.9), at(1, 0, 0.2, 0.3), at(2, 0, 0.3, 0.4),
                                      failed(3), at(1, 1, -5, -5)};
  const auto order = ranking(outcomes, 0);
  ASSERT_EQ(order.size(), 3u);
  EXPECT_EQ(order[0]->trial, 1u);
  EXPECT_EQ(order[1]->trial, 0u);
  EXPECT_EQ(order[2]->trial, 2u);
}

TEST(Halving, EqualSumsGoByNll) {
  const std::vector<Outcome> outcomes{at(0, 0, 0.2, 0.1), at(1, 0, 0.1, 0.2)};
  EXPECT_EQ(ranking(outcomes, 0)[0]->trial, 1u);
}

TEST(Halving, AThirdClimbsAsSoonAsThereIsOne) {
  std::vector<Outcome> outcomes;
  EXPECT_EQ(next_step(outcomes, 100, 3)->trial, 0u);
  outcomes = {at(0, 0, 3, 3), at(1, 0, 1, 1)};
  EXPECT_EQ(next_step(outcomes, 100, 3)->trial, 2u);
  outcomes.push_back(at(2, 0, 2, 2));
  const auto step = next_step(outcomes, 100, 3);
  EXPECT_EQ(step->trial, 1u);
  EXPECT_EQ(step->rung, 1u);
}

// Nine trials whose score is their number: three climb once, one twice, and then it is over.
TEST(Halving, NineTrialsOnThreeRungsTakeThirteenRuns) {
  std::vector<Outcome> outcomes;
  std::map<std::size_t, int> runs;
  while (const auto step = next_step(outcomes, 9, 3)) {
    ++runs[step->rung];
    const double score = static_cast<double>(step->trial);
    outcomes.push_back(at(step->trial, step->rung, score, score));
    ASSERT_LT(outcomes.size(), 50u);
  }
  EXPECT_EQ(runs[0], 9);
  EXPECT_EQ(runs[1], 3);
  EXPECT_EQ(runs[2], 1);
  EXPECT_EQ(best_outcome(outcomes)->trial, 0u);
  EXPECT_EQ(best_outcome(outcomes)->rung, 2u);
}

TEST(Halving, FewTrialsStillReachTheTop) {
  std::vector<Outcome> outcomes{at(0, 0, 2, 2), at(1, 0, 1, 1)};
  auto step = next_step(outcomes, 2, 2);
  ASSERT_TRUE(step);
  EXPECT_EQ(step->trial, 1u);
  EXPECT_EQ(step->rung, 1u);
  outcomes.push_back(at(1, 1, 1, 1));
  EXPECT_FALSE(next_step(outcomes, 2, 2));
}

TEST(Halving, FailuresDoNotClimb) {
  const std::vector<Outcome> all{failed(0), failed(1), failed(2)};
  EXPECT_EQ(next_step(all, 100, 3)->trial, 3u);
  EXPECT_FALSE(next_step(all, 3, 3));
  EXPECT_EQ(best_outcome(all), nullptr);
}

}  // namespace
}  // namespace edict::study

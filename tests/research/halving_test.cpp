#include "research/search/halving.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/generator.h"

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

// ------------------------------------------------------------------------------ several workers

// The score of a run, made up: it depends on the run alone.
Outcome scored(const Step& step) {
  const auto mixed = [&](double a, double b) {
    const double x =
        std::sin(a * static_cast<double>(step.trial + 1) + b * static_cast<double>(step.rung + 1));
    return x;
  };
  return at(step.trial, step.rung, mixed(12.9898, 78.233), mixed(39.346, 11.135));
}

// Workers that take turns in an order drawn at random, with runs that take a random time: they do
// the runs that one worker does, and no other.
TEST(Halving, ManyWorkersDoTheRunsOfOne) {
  constexpr std::size_t kTrials = 25, kRungs = 3;
  std::vector<Outcome> alone;
  while (const auto step = next_step(alone, kTrials, kRungs)) alone.push_back(scored(*step));
  std::set<std::pair<std::size_t, std::size_t>> expected;
  for (const Outcome& o : alone) expected.emplace(o.trial, o.rung);
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Generator rng(seed, "workers");
    std::vector<Outcome> finished;
    std::vector<Step> running;
    std::size_t most = 0;
    for (bool over = false; !over;) {
      // A worker that begins something, or one that ends what it is at.
      bool waiting = false;
      std::optional<Step> begun;
      if (running.size() < 4 && rng.uniform() < 0.6)
        begun = free_step(
            finished, kTrials, kRungs,
            [&](const Step& step) {
              return std::find(running.begin(), running.end(), step) == running.end();
            },
            waiting);
      if (begun) {
        running.push_back(*begun);
      } else if (!running.empty()) {
        const auto k =
            static_cast<std::size_t>(rng.uniform() * static_cast<double>(running.size()));
        finished.push_back(scored(running[k]));
        running.erase(running.begin() + static_cast<std::ptrdiff_t>(k));
      } else {
        over = !next_step(alone, kTrials, kRungs) && finished.size() >= alone.size();
        if (!over && finished.size() < alone.size()) continue;
      }
      most = std::max(most, running.size());
    }
    std::set<std::pair<std::size_t, std::size_t>> done;
    for (const Outcome& o : finished) EXPECT_TRUE(done.emplace(o.trial, o.rung).second);
    EXPECT_EQ(done, expected) << seed;
    bool waiting = false;
    EXPECT_FALSE(free_step(
        finished, kTrials, kRungs, [](const Step&) { return true; }, waiting))
        << "there is nothing left to do";
    EXPECT_EQ(most, 4u) << "they do work at the same time";
  }
}

TEST(Halving, WhoeverHasNothingToDoWaitsForTheOthers) {
  bool waiting = false;
  const auto nothing = [](const Step&) { return false; };
  EXPECT_FALSE(free_step({}, 3, 2, nothing, waiting));
  EXPECT_TRUE(waiting);
  const std::vector<Outcome> all{at(0, 0, 1, 1), at(1, 0, 2, 2), at(2, 0, 3, 3), at(0, 1, 1, 1)};
  EXPECT_FALSE(free_step(all, 3, 2, nothing, waiting));
  EXPECT_FALSE(waiting);
}

}  // namespace
}  // namespace edict::study

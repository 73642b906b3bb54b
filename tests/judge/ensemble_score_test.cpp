#include "judge/ensemble_score.h"

#include <gtest/gtest.h>

#include <cmath>

#include "engine/small_model.h"
#include "judge/detailed_evaluation.h"

namespace edict {
namespace {

Model untrained_ensemble(std::vector<std::int64_t> seeds) {
  std::vector<Model> members;
  for (const std::int64_t seed : seeds) {
    Config config = small_synthetic_config();
    config.train.seed = seed;
    members.push_back(untrained_model(small_synthetic(), config));
  }
  return ensemble(std::move(members));
}

TEST(EnsembleScore, OfMembersThatAgreeIsTheScoreOfEach) {
  const Model whole = untrained_ensemble({3, 3});
  ThreadPool pool(2);
  const std::vector<std::size_t> some = {0, 1, 2, 3, 4, 5};
  const EnsembleScores scores = *evaluate_in_detail(whole, small_synthetic(), some, pool).members;
  const Evaluation alone = evaluate(whole.member(0), small_synthetic(), some, pool);
  ASSERT_TRUE(scores.interpolation && scores.extrapolation);
  EXPECT_NEAR(scores.interpolation->mixture_nll, alone.interpolation->nll.mean, 1e-9);
  EXPECT_NEAR(scores.extrapolation->members_nll, alone.extrapolation->nll.mean, 1e-9);
  EXPECT_NEAR(scores.extrapolation->disagreement, 0.0, 1e-12);
}

// −log is convex: the mixture's score is at least as good as the mean of its members', and strictly
// so where they differ.
TEST(EnsembleScore, OfTheMixtureIsBetterThanTheMeanOfItsMembers) {
  const Model whole = untrained_ensemble({0, 1, 2});
  ThreadPool pool(2);
  const std::vector<std::size_t> some = {0, 1, 2, 3, 4, 5};
  const EnsembleScores scores = *evaluate_in_detail(whole, small_synthetic(), some, pool).members;
  double members = 0;
  for (std::size_t m = 0; m < 3; ++m)
    members +=
        evaluate(whole.member(m), small_synthetic(), some, pool).extrapolation->nll.mean / 3.0;
  EXPECT_NEAR(scores.extrapolation->members_nll, members, 1e-9);
  EXPECT_LT(scores.extrapolation->mixture_nll, members);
  EXPECT_GT(scores.extrapolation->disagreement, 0.0);
  EXPECT_LT(scores.extrapolation->disagreement, 1.0);
}

TEST(EnsembleScore, IsNotToldOfASingleModel) {
  ThreadPool pool(1);
  const Model one = untrained_model(small_synthetic());
  const std::vector<std::size_t> some = {0};
  EXPECT_FALSE(evaluate_in_detail(one, small_synthetic(), some, pool).members);
}

}  // namespace
}  // namespace edict

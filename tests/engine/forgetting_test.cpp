// Evidence that forgets: whatever the weights, bands widen while nothing is observed and narrow at
// an observation; and its gradients.
#include "engine/jump/forgetting.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "engine/finite_difference.h"
#include "engine/inference.h"
#include "engine/random_timeline.h"
#include "engine/training_pass.h"
#include "engine/training_pass_gradients.h"
#include "math/student_t.h"

namespace edict {
namespace {

Config forgetting_config(bool recall = false) {
  Config config;
  config.model.hidden = 8;
  config.model.head_hidden = 5;
  config.model.encoder_width = 3;
  config.model.propagator = "closed-form";
  config.model.evidence = "forgetting";
  config.model.shortest_timescale = 0.3;
  config.model.longest_timescale = 10.0;
  config.model.memory_age = config.model.recall = recall;
  config.loss.kl = 0.3;
  return config;
}

// Weights far from any that training would find.
Vector<double> wild_parameters(const ParameterLayout& layout, std::uint64_t seed) {
  Vector<double> params = layout.initial<double>(seed);
  Generator rng(seed, "wild");
  for (Index i = 0; i < params.size(); ++i) params[i] += 0.7 * rng.normal();
  return params;
}

class Bands : public testing::TestWithParam<bool> {};

// A query just before an event, one just after it, and many until the next.
TEST_P(Bands, WidenBetweenObservationsAndNarrowAtThemWhateverTheWeights) {
  constexpr Index kFeatures = 4;
  const JumpOde<NiwHead> model(network_settings(forgetting_config(GetParam())), kFeatures, 2);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Vector<double> params = wild_parameters(model.layout, seed);
    Vector<double> transposed;
    model.transpose(params.data(), transposed);
    Generator rng(seed, "bands");
    Timeline<double> timeline;
    timeline.id = "s";
    timeline.covariates = {rng.normal(), rng.normal()};
    double time = 0;
    constexpr int kEvents = 6, kBetween = 12;
    std::vector<std::vector<Index>> observed;
    for (int e = 0; e < kEvents; ++e) {
      for (int k = 0; k < kBetween; ++k)
        timeline.stop(time += rng.uniform(0.01, 0.4), Timeline<double>::kQuery);
      timeline.stop(time, Timeline<double>::kAbsorb);
      observed.emplace_back();
      for (Index j = 0; j < kFeatures; ++j)
        if (j == e % kFeatures || rng.uniform() < 0.3) {
          timeline.observe(static_cast<std::int32_t>(j), 3 * rng.normal());
          observed.back().push_back(j);
        }
      timeline.stop(time, Timeline<double>::kQuery);
    }
    const BasicExample<double> example{&timeline};
    Answer answer;
    Inference<double, NiwHead>(model).run({transposed.data()}, {&example, 1}, {}, {&answer, 1});
    const auto at = [&](int query, Index j) {
      return answer.marginals[static_cast<std::size_t>(query * kFeatures + j)];
    };
    const auto variance = [](const Marginal& m) { return m.aleatoric + m.epistemic; };
    const auto reach = [](const Marginal& m) {  // of the central 90 %
      return m.scale * student_t_quantile(0.95, m.dof);
    };
    int query = 0;
    for (int e = 0; e < kEvents; ++e) {
      for (int k = 1; k < kBetween; ++k, ++query)
        for (Index j = 0; j < kFeatures; ++j) {
          // Rounding alone: where nothing is left to forget it stands still.
          EXPECT_GE(variance(at(query + 1, j)), variance(at(query, j)) * (1 - 1e-12));
          EXPECT_GE(reach(at(query + 1, j)), reach(at(query, j)) * (1 - 1e-9));
        }
      for (const Index j : observed[static_cast<std::size_t>(e)]) {
        EXPECT_LT(variance(at(query + 1, j)), variance(at(query, j)));
        EXPECT_LT(reach(at(query + 1, j)), reach(at(query, j)));
      }
      query += 2;
      // From just after this event to the first query of the next gap.
      if (e + 1 < kEvents)
        for (Index j = 0; j < kFeatures; ++j) {
          EXPECT_GE(variance(at(query, j)), variance(at(query - 1, j)) * (1 - 1e-12));
        }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(WithAndWithoutRecall, Bands, testing::Bool());

TEST(ForgettingGradient, EqualsDifferences) {
  for (const bool recall : {false, true})
    for (const double kl : {0.3, 0.0}) {
      const JumpOde<NiwHead> model(network_settings(forgetting_config(recall)), 3, 2);
      expect_training_pass_gradients(model, kl, 9);
    }
}

TEST(Forgetting, IsRefusedWhereItMeansNothing) {
  Config config = forgetting_config();
  config.model.propagator = "gru-ode";
  EXPECT_THROW(make_network(config, {"a"}, 0, 0), Error);
  config = forgetting_config();
  config.model.kind = "gru-ode-bayes";
  EXPECT_THROW(make_network(config, {"a"}, 0, 0), Error);
}

}  // namespace
}  // namespace edict

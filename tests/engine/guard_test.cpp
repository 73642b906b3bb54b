// EDGR and the population clip: bounds, equality with no guard, and what is reported.
#include "engine/jump/guard.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <ostream>

#include "engine/small_model.h"
#include "model/encode.h"
#include "model/infer.h"

namespace edict {

// Where GoogleTest looks for it: beside Guard.
void PrintTo(const Guard& guard, std::ostream* out) {
  if (guard.kind == Guard::Kind::population)
    *out << "population";
  else
    *out << (guard.deviation == Guard::Deviation::epistemic ? "epistemic" : "predictive");
}

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
using Kind = Guard::Kind;
using Deviation = Guard::Deviation;

class GuardInAPass : public testing::TestWithParam<Guard> {};

TEST_P(GuardInAPass, WithInfiniteEtaEqualsNoGuardBitForBit) {
  const Dataset& data = small_synthetic();
  const Model& model = small_trained_model();
  ThreadPool pool(2);
  Guard guard = GetParam();
  guard.eta = kInf;
  const auto all = every_series(data);
  const Encoding free = encode(model, data, all, pool),
                 guarded = encode(model, data, all, pool, guard);
  EXPECT_EQ(free.states, guarded.states);
  EXPECT_EQ(guarded.clipped, 0u);
  guard.eta = 0.5;  // the guard does reach the states
  const Encoding tight = encode(model, data, all, pool, guard);
  EXPECT_NE(free.states, tight.states);
  EXPECT_GT(tight.clipped, 0u);
  EXPECT_EQ(tight.observations, data.observations());
}

// Every clipped value lies exactly on the bound around what was expected just before it, and every
// value beyond the bound is clipped.
TEST_P(GuardInAPass, ClipsExactlyToTheBound) {
  const Dataset& data = small_synthetic();
  const Model& model = small_trained_model();
  const Guard guard = GetParam();
  const std::size_t series = 3;
  Timeline<float> timeline;
  for (const auto& stop : encoding_timeline(model.protocol, data, series).stops) {
    timeline.stop(stop.time, Timeline<float>::kQuery);
    if (stop.count == 0) continue;
    timeline.stop(stop.time, Timeline<float>::kAbsorb);
    const auto whole = encoding_timeline(model.protocol, data, series);
    for (std::uint32_t k = stop.first; k < stop.first + stop.count; ++k)
      timeline.observe(whole.feature[k], whole.value[k]);
  }
  const Example example{&timeline};
  Answer answer;
  model.network->worker()->infer(model.network->weights(model.first().params.data()), {&example, 1},
                                 model.inference_options(guard), {&answer, 1});
  std::map<std::size_t, std::span<const Marginal>> expected;  // by the stop after the query
  std::size_t query = 0;
  for (std::size_t s = 0; s < timeline.stops.size(); ++s)
    if (timeline.stops[s].what & Timeline<float>::kQuery)
      expected[s + 1] = std::span(answer.marginals).subspan(3 * query++, 3);
  std::map<std::pair<std::size_t, std::int32_t>, Clipped> clips;
  for (const Clipped& clip : answer.clips) clips[{clip.stop, clip.feature}] = clip;
  ASSERT_EQ(clips.size(), answer.clips.size());

  std::size_t clipped = 0;
  for (std::size_t s = 0; s < timeline.stops.size(); ++s)
    for (std::uint32_t k = timeline.stops[s].first;
         k < timeline.stops[s].first + timeline.stops[s].count; ++k) {
      const std::int32_t j = timeline.feature[k];
      const Marginal& m = expected.at(s)[static_cast<std::size_t>(j)];
      double centre = m.mean, sigma = std::sqrt(m.epistemic);
      if (guard.deviation == Deviation::predictive) sigma = std::sqrt(m.aleatoric + m.epistemic);
      if (guard.kind == Kind::population) {
        centre = model.protocol.population.mean[static_cast<std::size_t>(j)];
        sigma = model.protocol.population.scale[static_cast<std::size_t>(j)];
      }
      const double low = centre - guard.eta * sigma, high = centre + guard.eta * sigma;
      const double raw = static_cast<double>(timeline.value[k]);
      const auto clip = clips.find({s, j});
      ASSERT_EQ(clip != clips.end(), raw < low || raw > high);
      if (clip == clips.end()) continue;
      ++clipped;
      EXPECT_EQ(clip->second.raw, raw);
      // The bound is rounded once or twice, by whether the compiler multiplies and adds in one.
      EXPECT_NEAR(clip->second.used, raw < low ? low : high,
                  4e-16 * (std::abs(centre) + guard.eta * sigma));
      EXPECT_DOUBLE_EQ(clip->second.sigmas, (raw - centre) / sigma);
      EXPECT_GT(std::abs(clip->second.sigmas), guard.eta);
    }
  EXPECT_EQ(clipped, clips.size());
  EXPECT_GT(clipped, 0u);
  EXPECT_LT(clipped, timeline.value.size());
}

INSTANTIATE_TEST_SUITE_P(All, GuardInAPass,
                         testing::Values(Guard{Kind::edgr, 0.7, Deviation::epistemic},
                                         Guard{Kind::edgr, 0.7, Deviation::predictive},
                                         Guard{Kind::population, 0.7, Deviation::epistemic}),
                         testing::PrintToStringParamName());

Dataset clipped_by_hand(const Dataset& data, const Model& model, double eta) {
  Dataset result = data;
  for (std::size_t o = 0; o < result.observations(); ++o) {
    const auto feature = static_cast<std::size_t>(result.feature[o]);
    const double mean = model.protocol.population.mean[feature];
    const double deviation = model.protocol.population.scale[feature];
    result.value[o] = std::clamp(result.value[o], mean - eta * deviation, mean + eta * deviation);
  }
  return result;
}

TEST(PopulationGuard, EqualsDataClippedBeforehand) {
  const Dataset& data = small_synthetic();
  ThreadPool pool(1);
  for (const bool standardise : {false, true}) {
    Config config = small_synthetic_config();
    config.data.standardise = standardise;
    const Model model = untrained_model(data, config);
    const Split parts = model.split(data);
    // The moments are those of the training data, whatever units the model works in.
    const Standardisation fit = fit_standardisation(data, parts.train, model.protocol.t_cut);
    EXPECT_EQ(model.protocol.population.mean, fit.mean);
    EXPECT_EQ(model.protocol.population.scale, fit.scale);
    EXPECT_NEAR(model.protocol.standardisation.scale[0], standardise ? fit.scale[0] : 1.0, 1e-15);

    const auto all = every_series(data);
    const Encoding guarded = encode(model, data, all, pool, {Kind::population, 1.2});
    const Encoding by_hand = encode(model, clipped_by_hand(data, model, 1.2), all, pool);
    EXPECT_GT(guarded.clipped, 100u);
    // Standardising a bound rounds once more than standing on it.
    EXPECT_LT((guarded.states - by_hand.states).cwiseAbs().maxCoeff(), 1e-5f);
  }
}

TEST(Guarded, CountsInTheDeviationItIsTold) {
  const auto used = [](const Guard& guard, const Marginal& expected, double x) {
    return guarded(
        guard, {}, 0, x, [&] { return expected; }, 0, nullptr);
  };
  const Marginal gaussian{1.0, 4.0, 0.0, 2.0, kInf};  // all of its variance is called aleatoric
  const Guard epistemic{Kind::edgr, 1.96, Deviation::epistemic};
  EXPECT_EQ(used(epistemic, gaussian, 70.0), 1.0 + 1.96 * 2.0);
  const Marginal evidential{1.0, 4.0, 0.25, 2.0, 5.0};
  EXPECT_EQ(used(epistemic, evidential, 7.0), 1.0 + 1.96 * 0.5);
  EXPECT_EQ(used(epistemic, evidential, -7.0), 1.0 - 1.96 * 0.5);
  EXPECT_EQ(used(epistemic, evidential, 1.9), 1.9);
  EXPECT_EQ(used({Kind::edgr, 1.0, Deviation::predictive}, evidential, 7.0), 1.0 + std::sqrt(4.25));
  EXPECT_EQ(used({Kind::population, 2.0, Deviation::epistemic}, evidential, 7.0), 2.0);
  EXPECT_EQ(used({}, evidential, 7e30), 7e30);
}

TEST(GuardNames, GoBothWaysAndRefuseOthers) {
  for (const Kind kind : {Kind::none, Kind::edgr, Kind::population})
    EXPECT_EQ(guard_from_name(name_of(kind)), kind);
  EXPECT_EQ(deviation_from_name("predictive"), Deviation::predictive);
  EXPECT_EQ(deviation_from_name("epistemic"), Deviation::epistemic);
  EXPECT_EQ(refusal_of([] { guard_from_name("median"); }),
            "guard 'median' is unknown; give one of none, edgr, pop-mean");
  EXPECT_EQ(refusal_of([] { deviation_from_name("total"); }),
            "deviation 'total' is unknown; give one of epistemic, predictive");
  const Model& model = small_trained_model();
  for (const double eta : {-1.0, std::nan("")})
    EXPECT_NE(refusal_of([&] {
                model.inference_options({Kind::edgr, eta});
              }).find("at least 0"),
              std::string::npos);
}

}  // namespace
}  // namespace edict

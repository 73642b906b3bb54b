// What clocks must not change: a series that begins at a time of its own, another unit of time,
// another origin. Over everything that is judged: forecasts, conformal levels, classes with and
// without a readout, and the noise study. Times are such that all arithmetic on them is exact.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "ask/classification.h"
#include "base/json/json.h"
#include "judge/evaluate.h"
#include "judge/stress.h"
#include "learn/classifier/classifier_training.h"
#include "learn/random_table.h"
#include "render/json/classes_json.h"
#include "render/json/scores_json.h"
#include "render/json/stress_json.h"

namespace edict {
namespace {

constexpr std::size_t kSeries = 240;

// What is learnt from data and judged on their test split; noise grows by a rate per `unit` of
// time.
nlohmann::json judged(const Dataset& data, double unit = 1) {
  const Model frozen = tiny_model(data);
  const Split parts = split(data, frozen.config.data);
  ThreadPool pool(2);
  ClassifierOptions options;
  options.settings = frozen.config.classify;
  options.settings.epochs = 5;
  options.settings.readout.members = 2;
  options.settings.readout.epochs = 5;
  options.settings.readout.trees = 20;
  options.seeds = {0};
  const Model model = train_classifier(frozen, data, parts, pool, options).model;
  StressOptions noise;
  noise.guards = {{Guard::Kind::none}, {Guard::Kind::edgr}, {Guard::Kind::population}};
  noise.levels = {0, 9};
  noise.seeds = {0};
  noise.noise = noise_from_name("compounding");
  noise.noise.unit = unit;
  return {{"evaluation", to_json(evaluate(model, data, parts.test, pool))},
          {"calibration", to_json(model.calibration)},
          {"classes", class_probabilities(model, data, parts.test, pool).values},
          {"stress", to_json(stress(model, data, parts.test, pool, noise))}};
}

void expect_alike(const nlohmann::json& a, const nlohmann::json& b, const std::string& place) {
  if (a.is_number_float()) {
    EXPECT_NEAR(a.get<double>(), b.get<double>(), 1e-5 * std::abs(a.get<double>())) << place;
    return;
  }
  ASSERT_EQ(a.size(), b.size()) << place;
  if (!a.is_structured()) {
    EXPECT_EQ(a, b) << place;
    return;
  }
  for (auto one = a.items().begin(); one != a.items().end(); ++one) {
    if (one.key() == "unit") continue;  // of the noise, as it was given
    const std::string next = place + "." + one.key();
    if (a.is_object())
      expect_alike(one.value(), b.at(one.key()), next);
    else
      expect_alike(one.value(), b.at(std::stoul(one.key())), next);
  }
}

Dataset each_shifted(Dataset data) {
  for (std::size_t i = 0; i < data.size(); ++i)
    for (std::size_t e = data.first_event[i]; e < data.first_event[i + 1]; ++e)
      data.times.edit()[e] += 512.0 * static_cast<double>((7 * i) % 64);
  return data;
}

TEST(Clocks, OfEachSeriesMayBeginAnywhere) {
  const Dataset data = random_table(3, kSeries);
  ASSERT_EQ(tiny_settings(data).config.data.start, ClockStart::first);
  const nlohmann::json here = judged(data);
  ASSERT_FALSE(here["evaluation"]["extrapolation"].is_null());
  ASSERT_FALSE(here["calibration"]["features"][0]["ranges"].empty());
  expect_alike(here, judged(each_shifted(data)), "shifted");
}

TEST(Clocks, OfEachSeriesMayCountInAnotherUnit) {
  const Dataset data = random_table(3, kSeries);
  expect_alike(judged(data), judged(at_other_times(data, 0x1.0p10, 0), 0x1.0p10), "scaled");
}

TEST(Clocks, OfAllSeriesMayHaveAnotherOriginAndUnit) {
  const Dataset data = random_table(2, kSeries);
  ASSERT_EQ(tiny_settings(data).config.data.start, ClockStart::origin);
  const nlohmann::json here = judged(data);
  expect_alike(here, judged(at_other_times(data, 1, 0x1.0p20)), "shifted");
  expect_alike(here, judged(at_other_times(data, 0x1.0p10, 0), 0x1.0p10), "scaled");
}

}  // namespace
}  // namespace edict

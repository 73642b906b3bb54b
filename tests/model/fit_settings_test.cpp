// The choice of settings: a function of the training part, of no unit, and never in the way of what
// was said.
#include "learn/fit_settings.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/generator.h"
#include "base/json/json.h"
#include "engine/small_model.h"
#include "temporary_folder.h"

namespace edict {
namespace {

const SettingChoice* find(const FittedSettings& fitted, std::string_view key) {
  const auto found = std::ranges::find(fitted.choices, key, &SettingChoice::key);
  return found == fitted.choices.end() ? nullptr : &*found;
}

// Random walks, one observation an event.
Dataset walks(std::size_t series, std::size_t features, std::size_t events, double gap,
              double stagger = 0) {
  Dataset data;
  for (std::size_t j = 0; j < features; ++j) data.features.push_back(fmt::format("x{}", j));
  Generator rng(3, "walks");
  for (std::size_t i = 0; i < series; ++i) {
    data.add_series(fmt::format("walk {}", i));
    double time = static_cast<double>(i) * stagger, value = 0;
    for (std::size_t e = 0; e < events; ++e) {
      data.add_event(time += gap * rng.uniform(0.5, 1.5));
      data.add_observation(static_cast<std::int32_t>(rng.below(features)), value += rng.normal());
    }
  }
  return data;
}

TEST(FitSettings, SummariesAreReadWhereEnoughSeriesHaveLabels) {
  const FittedSettings many = fit_settings(generate_synthetic(200, 3));
  ASSERT_NE(find(many, "readout.trees"), nullptr);
  EXPECT_EQ(many.config.classify.readout.without_state, 5);
  EXPECT_EQ(find(fit_settings(generate_synthetic(60, 3)), "readout.trees"), nullptr);
  EXPECT_EQ(find(fit_settings(walks(200, 3, 5, 1.0)), "readout.trees"), nullptr) << "no labels";
  const std::string given[] = {"readout.members=3"};
  const Config fewer = fit_settings(generate_synthetic(200, 3), given).config;
  EXPECT_EQ(fewer.classify.readout.members, 3);
  EXPECT_EQ(fewer.classify.readout.without_state, 1);
}

TEST(FitSettings, AnotherUnitAndAnotherYearGiveTheSameModelTime) {
  const Dataset hours = generate_synthetic(200, 3);
  Dataset unix = hours;
  for (double& time : unix.times.edit()) time = 1.7e9 + 3600 * time;
  const FittedSettings a = fit_settings(hours), b = fit_settings(unix);
  EXPECT_NEAR(b.config.data.time_unit / a.config.data.time_unit, 3600, 1e-3);
  ASSERT_TRUE(a.config.data.t_cut && b.config.data.t_cut);
  // A double of 1.7e9 is known to 2.4e-7 seconds.
  EXPECT_NEAR((*b.config.data.t_cut - 1.7e9) / 3600, *a.config.data.t_cut, 1e-9);
  EXPECT_NEAR((*b.config.data.origin - 1.7e9) / 3600, *a.config.data.origin, 1e-9);
  ASSERT_EQ(a.choices.size(), b.choices.size());
  for (std::size_t i = 0; i < a.choices.size(); ++i) {
    const std::string& key = a.choices[i].key;
    EXPECT_EQ(key, b.choices[i].key);
    if (key != "data.origin" && key != "data.t_cut" && key != "data.time_unit") {
      EXPECT_EQ(a.choices[i].value, b.choices[i].value) << key;
    }
  }
}

TEST(FitSettings, TheStepFollowsTheGapsWithinBounds) {
  // 60 gaps of about 1: a step is about a gap, in whatever unit it is written.
  for (const double gap : {1e-3, 1.0, 86400.0}) {
    const Config config = fit_settings(walks(100, 3, 60, gap)).config;
    EXPECT_NEAR(config.model.step * config.data.time_unit, gap, 0.2 * gap) << gap;
  }
  // A thousand events or three do not make it a thousandth or a third of the series.
  const auto steps = [](const Config& c) { return 12 / c.model.step; };
  EXPECT_NEAR(steps(fit_settings(walks(40, 3, 1000, 1.0)).config), 128, 1);
  EXPECT_NEAR(steps(fit_settings(walks(40, 3, 4, 1.0)).config), 32, 1);
}

TEST(FitSettings, OnlyTheTrainingPartIsLookedAt) {
  const Dataset data = generate_synthetic(200, 3);
  const Split parts = split(data, DataSettings{});
  Dataset other = data;
  for (const auto* part : {&parts.validation, &parts.test})
    for (const std::size_t i : *part)
      for (std::size_t e = other.first_event[i]; e < other.first_event[i + 1]; ++e)
        other.times[e] *= 50;
  EXPECT_EQ(to_json(fit_settings(data).config), to_json(fit_settings(other).config));
}

TEST(FitSettings, WhatIsGivenHoldsAndIsSaid) {
  const Dataset data = generate_synthetic(100, 3);
  const std::vector<std::string> given = {"model.hidden=7", "data.time_unit=2", "train.seed=5"};
  const FittedSettings fitted = fit_settings(data, given);
  EXPECT_EQ(fitted.config.model.hidden, 7);
  EXPECT_EQ(fitted.config.data.time_unit, 2.0);
  EXPECT_EQ(fitted.config.train.seed, 5);
  for (const char* key : {"model.hidden", "data.time_unit", "train.seed"}) {
    ASSERT_NE(find(fitted, key), nullptr) << key;
    EXPECT_TRUE(find(fitted, key)->given) << key;
  }
  // The step is in the unit that was given.
  const Config free = fit_settings(data).config;
  EXPECT_NEAR(fitted.config.model.step * 2.0, free.model.step * free.data.time_unit, 1e-4);
  const std::vector<std::string> wrong = {"model.hiden=7"};
  EXPECT_NE(refusal_of([&] { fit_settings(data, wrong); }).find("'model.hidden'"),
            std::string::npos);
}

TEST(FitSettings, EveryChoiceStandsInTheConfigurationWithAReason) {
  FittedSettings fitted = fit_settings(generate_synthetic(100, 3));
  const settings::Keys all = keys(fitted.config);
  EXPECT_GT(fitted.choices.size(), 15u);
  for (const SettingChoice& choice : fitted.choices) {
    EXPECT_EQ(choice.value, settings::value_text(settings::find(all, choice.key, "test")));
    EXPECT_FALSE(choice.why.empty()) << choice.key;
  }
}

TEST(FitSettings, TheFileReadsBackAsTheSameSettings) {
  const FittedSettings fitted = fit_settings(generate_synthetic(100, 3));
  Config again;
  read_toml_text(commented_toml(fitted), "settings", again);
  EXPECT_EQ(to_json(again), to_json(fitted.config));
}

TEST(FitSettings, ASingleSeriesIsRefusedWithAdvice) {
  const std::string refusal = refusal_of([] { fit_settings(walks(1, 2, 50, 1.0)); });
  EXPECT_NE(refusal.find("single series ('walk 0')"), std::string::npos) << refusal;
  EXPECT_NE(refusal.find("cut a long series into several"), std::string::npos) << refusal;
}

TEST(FitSettings, FewSeriesLeaveNoPartEmpty) {
  for (std::size_t series = 2; series < 40; ++series) {
    const Dataset data = walks(series, 2, 10, 1.0);
    const Config config = fit_settings(data).config;
    const Split parts = split(data, config.data);
    EXPECT_FALSE(parts.train.empty()) << series;
    EXPECT_FALSE(parts.validation.empty()) << series;
    EXPECT_EQ(parts.test.empty(), series == 2) << series;
    // Few series still get enough steps to learn anything.
    const auto batches = (static_cast<std::int64_t>(parts.train.size()) + config.train.batch - 1) /
                         config.train.batch;
    EXPECT_GE(config.train.epochs * batches, 400) << series;
  }
}

TEST(FitSettings, SeriesThatBeginAtDifferentTimesHaveClocksOfTheirOwn) {
  const Dataset data = walks(60, 2, 20, 1.0, 1000.0);
  const FittedSettings fitted = fit_settings(data);
  EXPECT_FALSE(fitted.facts.one_clock);
  EXPECT_EQ(fitted.config.data.start, ClockStart::first);
  // The series' own length sets the unit, not the years between them; every event teaches.
  EXPECT_LE(fitted.config.data.time_unit, 20.0 / 12 + 0.5);
  EXPECT_EQ(fitted.config.data.cut_share, 0.75);
  EXPECT_TRUE(fit_settings(walks(60, 2, 20, 1.0)).facts.one_clock);
}

// Of series that begin together and end at different times most would not reach a common cut-off.
TEST(FitSettings, SeriesThatEndAtDifferentTimesAreCutEachInItsLastQuarter) {
  Dataset data;
  data.features = {"x"};
  for (int i = 0; i < 60; ++i) {
    data.add_series(std::to_string(i));
    for (int e = 0; e < (i % 6 == 0 ? 40 : 20); ++e) {
      data.add_event(e);
      data.add_observation(0, e % 7);
    }
  }
  const Config config = fit_settings(data, {}).config;
  EXPECT_EQ(config.data.start, ClockStart::origin);
  EXPECT_EQ(config.data.cut_share, 0.75);
  EXPECT_FALSE(config.data.t_cut);
}

TEST(FitSettings, AConstantFeatureIsTold) {
  Dataset data = walks(40, 2, 20, 1.0);
  for (std::size_t o = 0; o < data.observations(); ++o)
    if (data.feature[o] == 1) data.value[o] = 4.5;
  const FittedSettings fitted = fit_settings(data);
  ASSERT_EQ(fitted.notes.size(), 1u);
  EXPECT_NE(fitted.notes[0].find("'x1' never changes"), std::string::npos) << fitted.notes[0];
}

TEST(FitSettings, ManySeriesAndManyFeaturesStayAffordable) {
  const Config many = fit_settings(walks(100'000, 3, 40, 1.0)).config;
  EXPECT_LE(many.train.epochs, 12);
  const Config wide = fit_settings(walks(300, 200, 40, 1.0)).config;
  // The encoder's outputs together are what the GRU reads at an event.
  EXPECT_LE(wide.model.encoder_width * 200, 2000);
  EXPECT_LE(wide.model.hidden, 128);
}

TEST(FitSettings, AModelWithoutADistributionIsNotCalibrated) {
  const std::vector<std::string> given = {"model.kind=gru-d"};
  const FittedSettings fitted = fit_settings(generate_synthetic(100, 3), given);
  EXPECT_FALSE(fitted.config.train.calibrate);
  EXPECT_TRUE(fit_settings(generate_synthetic(100, 3)).config.train.calibrate);
}

}  // namespace
}  // namespace edict

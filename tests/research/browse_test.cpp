// What is shown of single series: chosen features, rounded numbers, and a forecast that knows
// nothing of what came later.
#include "render/browse.h"

#include <gtest/gtest.h>

#include <cmath>

#include "engine/small_model.h"

namespace edict::study {
namespace {

// Ten features, of which the later ones are observed more often; a series without any event.
Dataset uneven() {
  Dataset data;
  for (int j = 0; j < 10; ++j) data.features.push_back("f" + std::to_string(j));
  for (int i = 0; i < 30; ++i) {
    data.add_series("s" + std::to_string(i));
    if (i == 1) continue;
    for (int e = 0; e < 10; ++e) {
      data.add_event(e + 0.1);
      for (int j = 9 - e; j < 10; ++j) data.add_observation(j, std::sin(i + e + j) * 123.4567891);
    }
  }
  return data;
}

Model model_of(const Dataset& data) {
  Config config = small_synthetic_config();
  config.data.t_cut = 6;
  config.data.standardise = true;
  config.model.step = 0.5;
  return untrained_model(data, config);
}

Browse browsed(const Model& model, const Dataset& data, const std::vector<std::size_t>& series,
               const BrowseOptions& options = {}) {
  ThreadPool pool(1);
  return browse(model, data, series, pool, options);
}

TEST(BrowseSeries, TheMostObservedFeaturesInTheirOwnOrder) {
  const Dataset data = uneven();
  BrowseOptions options;
  options.features = 3;
  const Browse result = browsed(model_of(data), data, {0}, options);
  ASSERT_EQ(result.series.size(), 1u);
  std::vector<std::string> names;
  for (const BrowsedFeature& feature : result.series[0].features) names.push_back(feature.name);
  EXPECT_EQ(names, (std::vector<std::string>{"f7", "f8", "f9"}));
  EXPECT_EQ(result.series[0].forecast.features.size(), 3u);
  EXPECT_EQ(result.series[0].features[2].seen.size(), 6u);
  EXPECT_EQ(result.series[0].features[2].later.size(), 4u);
}

TEST(BrowseSeries, ASeriesWithoutEventsIsLeftOut) {
  const Dataset data = uneven();
  const Browse result = browsed(model_of(data), data, {1, 2});
  ASSERT_EQ(result.series.size(), 1u);
  EXPECT_EQ(result.series[0].id, "s2");
}

TEST(BrowseSeries, TimesReachFromTheStartToTheLastObservation) {
  const Dataset data = uneven();
  BrowseOptions options;
  options.points = 10;
  const Browse result = browsed(model_of(data), data, {0}, options);
  ASSERT_EQ(result.series[0].times.size(), 11u);
  EXPECT_EQ(result.series[0].times.front(), 0.0);
  EXPECT_EQ(result.series[0].times.back(), 9.1);
}

// Five digits: 123.4567891·sin(9) is 50.879….
TEST(BrowseSeries, NumbersHaveFiveDigits) {
  const Dataset data = uneven();
  const Browse result = browsed(model_of(data), data, {0});
  const auto& [time, value] = result.series[0].features.back().seen.at(0);
  EXPECT_EQ(time, 0.1);
  const double exact = std::sin(9) * 123.4567891;
  EXPECT_NE(value, exact);
  EXPECT_NEAR(value, exact, 0.0005);
  EXPECT_NEAR(value * 1000, std::round(value * 1000), 1e-9);
}

bool same_bands(const BrowsedView& a, const BrowsedView& b) {
  for (std::size_t j = 0; j < a.features.size(); ++j)
    if (a.features[j].mean != b.features[j].mean || a.features[j].half != b.features[j].half)
      return false;
  return true;
}

// Later observations are drawn beside the forecast; were they absorbed, it would be none.
TEST(BrowseSeries, TheForecastKnowsNothingAfterTheCut) {
  const Dataset data = uneven();
  const Model model = model_of(data);
  Dataset later = data, earlier = data;
  for (std::size_t e = 0; e < 10; ++e) {
    Dataset& moved = data.times[e] < 6 ? earlier : later;
    for (std::size_t o = data.first_observation[e]; o < data.first_observation[e + 1]; ++o)
      moved.value[o] += 50;
  }
  const Browse before = browsed(model, data, {0});
  EXPECT_TRUE(same_bands(before.series[0].forecast, browsed(model, later, {0}).series[0].forecast));
  EXPECT_FALSE(
      same_bands(before.series[0].forecast, browsed(model, earlier, {0}).series[0].forecast));
  // The view under noise absorbs everything.
  EXPECT_FALSE(same_bands(before.series[0].noisy, browsed(model, later, {0}).series[0].noisy));
}

TEST(BrowseSeries, AHigherLevelIsAWiderBandAroundTheSameMean) {
  const Dataset data = uneven();
  const Model model = model_of(data);
  BrowseOptions wide;
  wide.level = 0.99;
  const Browse a = browsed(model, data, {0}), b = browsed(model, data, {0}, wide);
  EXPECT_EQ(a.level, 0.9);
  EXPECT_EQ(b.level, 0.99);
  const BrowsedBand &narrow = a.series[0].forecast.features[0],
                    &wider = b.series[0].forecast.features[0];
  EXPECT_EQ(narrow.mean, wider.mean);
  for (std::size_t t = 0; t < narrow.half.size(); ++t) EXPECT_LT(narrow.half[t], wider.half[t]);
}

TEST(BrowseSeries, WithoutAClassifierThereAreNoProbabilities) {
  const Dataset data = uneven();
  const Browse result = browsed(model_of(data), data, {0});
  EXPECT_TRUE(result.series[0].forecast.probability.empty());
  EXPECT_FALSE(result.series[0].label);
}

}  // namespace
}  // namespace edict::study

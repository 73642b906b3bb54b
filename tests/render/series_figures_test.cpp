// Charts of single series, on one whose numbers are few: three times, one feature.
#include "render/series_figures.h"

#include <gtest/gtest.h>

#include "render/markup.h"
#include "render/small_study.h"

namespace edict::report {
namespace {

BrowsedSeries one() { return browsed("").series[0]; }

std::string forecast() {
  const BrowsedSeries series = one();
  return forecast_chart("s1 · x1", series.times, series.features[0], series.forecast.features[0],
                        9.42, "h");
}

std::string noisy() {
  const BrowsedSeries series = one();
  return noisy_chart("x1", series.times, series.features[0], series.noisy.features[0], "");
}

// Means 0, 0.5, 1 with halves 1, 2, 1.5: from −1.5 to 2.5, with a margin of 0.2. The plot is 174
// high, so that a unit is 174 / 4.4 pixels.
TEST(ForecastChart, TheMeanAndItsIntervalStandWhereTheyShould) {
  const std::string text = forecast();
  EXPECT_NE(text.find("data-x=\"0 12\" data-y=\"-1.7 2.7\""), std::string::npos) << text;
  const auto y = [](double value) { return 200 - (value + 1.7) * 174 / 4.4; };
  // The three means lie on a line, of which the ends are enough.
  const auto mean = coordinates(attributes(text, "polyline", "points").at(0));
  ASSERT_EQ(mean.size(), 2u);
  EXPECT_NEAR(mean[0].second, y(0), 0.051);
  EXPECT_NEAR(mean[1].second, y(1), 0.051);
  EXPECT_NEAR(mean[1].first, 428, 0.051);
  const auto bands = attributes(text, "polygon", "points");
  ASSERT_EQ(bands.size(), 2u);
  const auto whole = coordinates(bands[0]), inner = coordinates(bands[1]);
  ASSERT_EQ(whole.size(), 6u);
  const double expected[] = {1, 2.5, 2.5, -0.5, -1.5, -1};
  for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(whole[i].second, y(expected[i]), 0.051) << i;
  // Where all the doubt is the model's own nothing is left of the band.
  EXPECT_NEAR(inner.front().second, y(0), 0.051);
  EXPECT_NEAR(inner.back().second, y(0), 0.051);
}

TEST(ForecastChart, ObservationsAreFilledBeforeTheCutAndHollowAfterIt) {
  const std::string text = forecast();
  EXPECT_EQ(count(text, "<circle class=\"seen\""), 2u);
  EXPECT_EQ(count(text, "<circle class=\"hidden\""), 1u);
  EXPECT_NE(text.find("<title>observed 0.4 at 1</title>"), std::string::npos);
  EXPECT_NE(text.find("<title>came true: 1.1 at 11</title>"), std::string::npos);
  EXPECT_EQ(count(text, "class=\"cut\""), 1u);
  EXPECT_NE(text.find(">time (h)</text>"), std::string::npos);
}

TEST(ForecastChart, ACutBehindTheEndIsNotDrawn) {
  const BrowsedSeries series = one();
  const std::string text =
      forecast_chart("t", series.times, series.features[0], series.forecast.features[0], 12, "");
  EXPECT_EQ(text.find("class=\"cut\""), std::string::npos);
  EXPECT_NE(text.find(">time</text>"), std::string::npos);
}

TEST(NoisyChart, AClippedObservationIsShownWithWhatWasTakenInstead) {
  const std::string text = noisy();
  EXPECT_EQ(count(text, "class=\"seen\""), 1u);  // the other one was clipped
  EXPECT_NE(text.find("<title>observed 0.5 at 1</title>"), std::string::npos);
  // 9 lies far above the clean values: a triangle at the edge.
  EXPECT_EQ(count(text, "<polygon class=\"raw\""), 1u);
  EXPECT_EQ(count(text, "<circle class=\"used\""), 1u);
  EXPECT_EQ(count(text, "<polyline class=\"clip\""), 1u);
  EXPECT_EQ(count(text, "observed 9 at 0.5, 5 deviations off; taken as 1"), 2u);
}

TEST(SeriesView, HasEveryChartInBothViews) {
  const Browse browse = browsed("");
  for (const View view : {View::forecast, View::noisy}) {
    const std::string text = series_view(browse, browse.series[0], view, "");
    EXPECT_EQ(count(text, "<svg class=\"chart\""), 3u);  // bands, deviations, probability
    EXPECT_NE(text.find("<h3>Series s1, class 0</h3>"), std::string::npos);
    EXPECT_EQ(count(text, "class=\"swatch\""), 2u);
    EXPECT_EQ(count(text, "EDGR clipped 1 observations"), view == View::noisy ? 1u : 0u);
    EXPECT_EQ(count(text, "class=\"spread-aleatoric\""), 1u);
    EXPECT_EQ(count(text, "class=\"spread-epistemic\""), 1u);
  }
}

// From 0.5 to 0.1 and 0.9: 134 pixels between probability 0 and 1.
TEST(SeriesView, ClassProbabilitiesAreLinesFromTheirFirstToTheirLastValue) {
  const Browse browse = browsed("");
  const std::string text = series_view(browse, browse.series[0], View::forecast, "");
  const auto lines = all(text, "<polyline class=\"line m[01]\" points=\"([^\"]*)\"");
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_NEAR(coordinates(lines[0]).front().second, 160 - 0.5 * 134, 0.051);
  EXPECT_NEAR(coordinates(lines[0]).back().second, 160 - 0.1 * 134, 0.051);
  EXPECT_NEAR(coordinates(lines[1]).back().second, 160 - 0.9 * 134, 0.051);
}

TEST(SeriesView, WithoutLabelAndClassifierThereIsNoClass) {
  Browse browse = browsed("");
  browse.classes.clear();
  browse.series[0].label.reset();
  browse.series[0].forecast.probability.clear();
  const std::string text = series_view(browse, browse.series[0], View::forecast, "");
  EXPECT_NE(text.find("<h3>Series s1</h3>"), std::string::npos);
  EXPECT_EQ(text.find("class probability"), std::string::npos);
  EXPECT_EQ(count(text, "<svg class=\"chart\""), 2u);
}

TEST(SeriesView, NamesCannotBecomeMarkup) {
  const Browse browse = browsed(kHostile);
  for (const View view : {View::forecast, View::noisy}) {
    const std::string text = series_view(browse, browse.series[0], view, kHostile);
    EXPECT_EQ(text.find("<script"), std::string::npos);
    EXPECT_EQ(text.find("</script"), std::string::npos);
    EXPECT_EQ(text.find("<b>"), std::string::npos);
  }
}

}  // namespace
}  // namespace edict::report

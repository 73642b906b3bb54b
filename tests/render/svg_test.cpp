// Where things stand in a chart: its plot lies between (54, 26) and (width − 12, height − 40).
#include "render/svg.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "render/markup.h"

namespace edict::report {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// 100 units of x on 100 pixels, 10 units of y on 100 pixels.
Chart chart() { return Chart(166, 166, {0, 100}, {0, 10}, "x", "y", "title"); }

TEST(Chart, ALineGoesThroughTheCornersOfThePlot) {
  Chart c = chart();
  c.line({{0, 0}, {50, 10}, {100, 5}}, "l");
  EXPECT_EQ(attributes(c.render(), "polyline", "points"),
            (std::vector<std::string>{"54.0,126.0 104.0,26.0 154.0,76.0"}));
}

TEST(Chart, ABandGoesAlongItsUpperEdgeAndBackAlongTheLower) {
  Chart c = chart();
  c.band({{0, 0}, {100, 1}}, {{0, 10}, {100, 9}}, "b");
  EXPECT_EQ(attributes(c.render(), "polygon", "points"),
            (std::vector<std::string>{"54.0,26.0 154.0,36.0 154.0,116.0 54.0,126.0"}));
}

TEST(Chart, PointsOnAStraightLineAreLeftOutAndCornersStay) {
  Chart c = chart();
  Chart::Points points;
  for (int x = 0; x <= 100; ++x) points.emplace_back(x, x <= 60 ? 0.1 * x : 6.0);
  c.line(points, "l");
  EXPECT_EQ(attributes(c.render(), "polyline", "points"),
            (std::vector<std::string>{"54.0,126.0 114.0,66.0 154.0,66.0"}));
}

// A curve is drawn within a tenth of a pixel, and the rounding of a coordinate.
TEST(Chart, ACurveKeepsItsShape) {
  Chart c = chart();
  const auto y = [](double x) { return 5 + 4 * std::sin(x / 10); };
  Chart::Points points;
  for (int x = 0; x <= 100; ++x) points.emplace_back(x, y(x));
  c.line(points, "l");
  const auto drawn = coordinates(attributes(c.render(), "polyline", "points").at(0));
  EXPECT_LT(drawn.size(), points.size());
  for (std::size_t i = 1; i < drawn.size(); ++i)
    for (const auto& [x, value] : points) {
      const double at = 54 + x, from = drawn[i - 1].first, to = drawn[i].first;
      if (at < from || at > to) continue;
      const double line =
          drawn[i - 1].second + (at - from) / (to - from) * (drawn[i].second - drawn[i - 1].second);
      EXPECT_NEAR(line, 126 - 10 * value, 0.1 + 0.05 + 1e-9) << x;
    }
}

TEST(Chart, WhatIsNotFiniteIsNotDrawn) {
  Chart c = chart();
  c.line({{0, 0}, {10, kNan}, {100, 10}}, "l");
  c.dots({{kNan, 1}, {50, INFINITY}}, 2, "d");
  c.marker(1, kNan, 2, "m", "tip");
  const std::string text = c.render();
  EXPECT_EQ(attributes(text, "polyline", "points").at(0), "54.0,126.0 154.0,26.0");
  EXPECT_EQ(text.find("nan"), std::string::npos);
  EXPECT_EQ(text.find("<circle"), std::string::npos);
}

TEST(Chart, AMarkerOutsideBecomesATriangleAtTheEdgeThatPointsThere) {
  Chart c = chart();
  c.marker(50, 5, 3, "in", "inside");
  c.marker(50, 20, 3, "above", "too high");
  c.marker(50, -20, 3, "below", "too low");
  const std::string text = c.render();
  EXPECT_NE(
      text.find("<circle class=\"in\" cx=\"104.0\" cy=\"76.0\" r=\"3\"><title>inside</title>"),
      std::string::npos)
      << text;
  const auto triangles = attributes(text, "polygon", "points");
  ASSERT_EQ(triangles.size(), 2u);
  EXPECT_EQ(triangles[0], "100.0,34.0 108.0,34.0 104.0,27.0");     // upwards, at the top
  EXPECT_EQ(triangles[1], "100.0,118.0 108.0,118.0 104.0,125.0");  // downwards, at the bottom
  EXPECT_NE(text.find("<title>too high</title></polygon>"), std::string::npos);
}

TEST(Chart, WhiskersAndVerticalsSpanWhatTheySay) {
  Chart c = chart();
  c.whisker(10, 2, 4, "w");
  c.vertical(20, "v");
  const std::string text = c.render();
  EXPECT_NE(text.find("<line class=\"w\" x1=\"64.0\" y1=\"106.0\" x2=\"64.0\" y2=\"86.0\"/>"),
            std::string::npos);
  EXPECT_NE(text.find("<line class=\"v\" x1=\"74.0\" y1=\"26.0\" x2=\"74.0\" y2=\"126.0\"/>"),
            std::string::npos);
}

TEST(Chart, NotesStayInsideThePlot) {
  Chart c = chart();
  c.note(0, 50, "far above", "n");
  EXPECT_NE(c.render().find("<text class=\"n\" x=\"54.0\" y=\"36.0\">far above</text>"),
            std::string::npos);
}

TEST(Chart, TellsItsAxesAndClipsToItsPlot) {
  const std::string text = Chart(440, 240, {-1.5, 12}, {0, 1e-3}, "x", "y", "t").render();
  EXPECT_NE(text.find("data-x=\"-1.5 12\" data-y=\"0 0.001\""), std::string::npos) << text;
  EXPECT_NE(
      text.find("<svg x=\"54\" y=\"26\" width=\"374\" height=\"174\" viewBox=\"54 26 374 174\">"),
      std::string::npos);
}

TEST(Chart, NamesAreEscapedWhereverTheyStand) {
  const std::string hostile = "</svg><script>\"&";
  Chart c(166, 166, {0, 1}, {0, 1}, hostile, hostile, hostile);
  c.marker(0, 0, 1, "m", hostile);
  c.note(0, 0, hostile, "n");
  const std::string text = c.render();
  EXPECT_EQ(text.find("<script>"), std::string::npos);
  // Two labels, title, aria-label, tip, note.
  EXPECT_EQ(count(text, "&lt;/svg&gt;&lt;script&gt;&quot;&amp;"), 6u);
}

TEST(Chart, ARangeWithoutExtentIsWidened) {
  for (const Range& y : {Range{3, 3}, Range{5, 4}}) {
    Chart c(166, 166, {2, 2}, y, "x", "y");
    c.line({{2, 3}, {3, 3}}, "l");
    const std::string text = c.render();
    EXPECT_EQ(text.find("nan"), std::string::npos);
    EXPECT_EQ(text.find("inf"), std::string::npos);
  }
}

TEST(Ticks, RoundNumbersInsideTheRange) {
  EXPECT_EQ(ticks({0, 1}, 5), (std::vector<double>{0, 0.2, 0.4, 0.2 * 3, 0.8, 1.0}));
  EXPECT_EQ(ticks({-3, 3}, 3), (std::vector<double>{-2, 0, 2}));
  EXPECT_EQ(ticks({0.4, 9.2}, 5), (std::vector<double>{2, 4, 6, 8}));
}

TEST(RangeOf, IgnoresWhatIsNotFiniteAndLeavesAMargin) {
  RangeOf range;
  EXPECT_EQ(range.with_margin().low, 0);
  EXPECT_EQ(range.with_margin().high, 1);
  constexpr double kInf = std::numeric_limits<double>::infinity();
  for (const double v : {kNan, 2.0, kInf, 4.0, -kInf}) range.add(v);
  EXPECT_DOUBLE_EQ(range.with_margin().low, 1.9);
  EXPECT_DOUBLE_EQ(range.with_margin().high, 4.1);
  EXPECT_DOUBLE_EQ(range.with_margin(0.5).high, 5.0);
}

}  // namespace
}  // namespace edict::report

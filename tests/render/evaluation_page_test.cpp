// The pages of `edict evaluate --html` and `edict stress --plot`.
#include "render/evaluation_page.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "render/evaluation_figures.h"
#include "render/markup.h"
#include "render/small_study.h"

namespace edict::report {
namespace {

TEST(HtmlPage, TitlesAreEscapedAndNothingIsAskedFor) {
  const std::string text =
      html_page("a <script>", "lead", {{"Series </h2><script>", "text", {"<svg/>"}}});
  EXPECT_EQ(text.find("<script>"), std::string::npos);
  EXPECT_EQ(count(text, "a &lt;script&gt;"), 2u);  // title and heading
  EXPECT_NE(text.find("<h2>Series &lt;/h2&gt;&lt;script&gt;</h2>"), std::string::npos);
  EXPECT_NE(text.find("<svg/>"), std::string::npos);
  EXPECT_EQ(text.find("http"), std::string::npos);
  EXPECT_NE(text.find("svg.chart"), std::string::npos) << "the style is missing";
}

TEST(CoverageFigure, ALineForEachTaskThatWasEvaluated) {
  const Evaluation both{calibration(0.1, 0.1), std::nullopt, calibration(0.1, 0.1)};
  EXPECT_EQ(attributes(coverage_figure(both), "polyline", "class"),
            (std::vector<std::string>{"ideal", "first", "other"}));
  EXPECT_EQ(count(coverage_figure(both), "class=\"first-dot\""), kLevels);
  const Evaluation one{std::nullopt, std::nullopt, calibration(0.1, 0.1)};
  EXPECT_EQ(attributes(coverage_figure(one), "polyline", "class"),
            (std::vector<std::string>{"ideal", "other"}));
}

TEST(WidthFigure, ReachesFromTheNarrowestToTheWidestInterval) {
  const Evaluation one{calibration(0.1, 0.1), std::nullopt, std::nullopt};
  const std::string text = width_figure(one);
  // The widest is 18/19 with a twentieth above it.
  EXPECT_NE(text.find(fmt::format("data-y=\"0 {:.6g}\"", 1.05 * 18 / 19)), std::string::npos)
      << text;
  EXPECT_EQ(count(text, "<polyline"), 1u);
}

// Accuracy from 0 to 102 on 254 pixels, levels from 0 to 9 on 574.
TEST(StressFigure, ALineAGuardWithItsNameAndDeviation) {
  const Study study = small_study();
  const std::string text = stress_figure(*study.runs[0].results.stress);
  EXPECT_NE(text.find(">none</text>"), std::string::npos);
  EXPECT_NE(text.find(">edgr</text>"), std::string::npos);
  const auto lines = attributes(text, "polyline", "points");
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_NEAR(coordinates(lines[0]).back().first, 628, 0.051);
  EXPECT_NEAR(coordinates(lines[0]).back().second, 280 - 61.0 / 102 * 254, 0.051);
  EXPECT_NEAR(coordinates(lines[1]).back().second, 280 - 70.0 / 102 * 254, 0.051);
  // ± 1 around 61 at level 9.
  const auto band = coordinates(attributes(text, "polygon", "points").at(0));
  EXPECT_NEAR(band[1].second, 280 - 62.0 / 102 * 254, 0.051);
  EXPECT_NEAR(band[2].second, 280 - 60.0 / 102 * 254, 0.051);
}

}  // namespace
}  // namespace edict::report

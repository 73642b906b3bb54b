// The page as a reader's program sees it: whole, well-formed where it matters, and safe against
// names that look like markup. scripts/browser-check looks at it in a real browser.
#include "research/report/study_page.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <set>

#include "base/json/json.h"
#include "render/markup.h"
#include "render/small_study.h"
#include "research/report/study_figures.h"
#include "temporary_folder.h"

namespace edict::report {
namespace {

std::string page(const std::string& hostile = {}) {
  const Study study = small_study(hostile);
  return study_page(study, results_of(study));
}

// Without the scripts, styles and the views that are only shown later.
std::string visible(std::string text) {
  for (const char* element : {"script", "style"})
    for (std::size_t at = text.find(std::string("<") + element); at != std::string::npos;
         at = text.find(std::string("<") + element)) {
      const std::string close = std::string("</") + element + ">";
      text.erase(at, text.find(close, at) + close.size() - at);
    }
  return text;
}

TEST(StudyPage, EverySectionIsThereAndEveryLinkInsideLeadsSomewhere) {
  const std::string text = page();
  for (const char* id : {"datasets", "calibration", "noise", "bands", "browse", "runs"})
    EXPECT_NE(text.find(std::string("<section id=\"") + id + "\""), std::string::npos) << id;
  const auto ids = all(text, " id=\"([^\"]*)\"");
  const std::set<std::string> distinct(ids.begin(), ids.end());
  EXPECT_EQ(ids.size(), distinct.size()) << "an id is used twice";
  for (const std::string& target : all(text, "href=\"#([^\"]*)\""))
    EXPECT_TRUE(distinct.contains(target)) << target;
}

TEST(StudyPage, ItNeedsNothingFromOutside) {
  const std::string text = page();
  EXPECT_TRUE(all(text, "(?:src|href)=\"(https?:[^\"]*)\"").empty());
  EXPECT_EQ(text.find("@import"), std::string::npos);
  for (const char* left : {"{0}", "{1}", "nan", "inf,", "undefined\""})
    EXPECT_EQ(text.substr(0, text.find("<script>\n")).find(left), std::string::npos) << left;
}

TEST(StudyPage, HoldsEveryNumberOfTheResults) {
  const Study study = small_study();
  const Results results = results_of(study);
  const std::string text = visible(study_page(study, results));
  const auto holds = [&](const std::string& number) {
    EXPECT_NE(text.find(number), std::string::npos) << number;
  };
  for (const CalibrationRow& row : results.calibration)
    for (const auto& value : {row.value.ours, row.value.published})
      if (value) holds(value_text(value, 3));
  for (const auto* rows : {&results.accuracy, &results.auroc})
    for (const ScoreRow& row : *rows)
      for (const auto& value : {row.value.ours, row.value.published})
        if (value) holds(value_text(value, 1));
  for (const DatasetRow& data : results.datasets) {
    holds(fmt::format("<td>{}<span class=\"published-value\">{}</span></td>", data.series,
                      data.published->series));
    holds(fmt::format("<td>{:.1f}<", data.events_per_series));
  }
  holds("4 of 5");     // the best epoch
  holds("none of 2");  // where there was none
}

TEST(StudyPage, TheCalibrationErrorStandsAboveThePublished) {
  EXPECT_NE(page().find("<td class=\"better\"><a href=\"runs/synthetic-edict-0123abcd/index.html\">"
                        "0.050</a> ▲<span class=\"published-value\">0.129 ± 0.077</span></td>"),
            std::string::npos);
}

TEST(StudyPage, NumbersAreColouredAndLeadToTheirRuns) {
  const std::string text = page();
  EXPECT_NE(
      text.find("<td class=\"better\"><a href=\"runs/synthetic-edict-0123abcd/index.html\">61.0 ± "
                "1.0</a> ▲<span class=\"published-value\">52.1 ± 1.4</span></td>"),
      std::string::npos);
  // Of several runs, to their place in the list.
  EXPECT_NE(text.find("<a href=\"#runs-of-synthetic-gru-d\">52.0 ± 2.0</a>"), std::string::npos);
  EXPECT_NE(text.find("href=\"runs/synthetic-gru-d-00000002/index.html\""), std::string::npos);
  EXPECT_NE(text.find("IPN on synthetic failed: preset &lt;ipn&gt; does not exist"),
            std::string::npos);
}

TEST(StudyPage, EveryChartIsDrawnAndNamed) {
  const std::string text = visible(page());
  const auto charts = all(text, "<svg class=\"chart\"[^>]* aria-label=\"([^\"]*)\"");
  // Two examples, four interval curves, two noise figures, a band for the first series of a class.
  EXPECT_EQ(charts.size(), 2u + 4u + 2u + 2u);
  for (const std::string& name : charts) EXPECT_FALSE(name.empty());
  EXPECT_GE(all(text, "<polyline class=\"(line published m[0-9])\" points=\"[0-9]").size(), 6u);
}

// A button hides the parts of its own figure that carry its class.
TEST(StudyPage, EveryButtonOfALegendHasSomethingToHide) {
  const std::string text = visible(page());
  std::size_t buttons = 0;
  for (std::size_t at = text.find("<figure>"); at != std::string::npos;
       at = text.find("<figure>", at + 1)) {
    const std::string figure = text.substr(at, text.find("</figure>", at) - at);
    for (const std::string& css : all(figure, "data-method=\"([^\"]*)\"")) {
      ++buttons;
      EXPECT_GE(all(figure, "<(?:polyline|circle|line) class=\"([a-z ]*" + css + ")\"").size(), 1u)
          << css;
    }
  }
  EXPECT_EQ(buttons, 1u + 4u);  // evaluated; under noise: EDICT, with EDGR, GRU-D, IPN
}

TEST(StudyPage, TheBrowserHasAListAModelAndEveryViewOfEverySeries) {
  Study study = small_study();
  study.runs[1].results.browse = browsed("");
  study.runs[1].results.browse->series.pop_back();
  const std::string text = study_page(study, results_of(study));
  EXPECT_EQ(count(text, "<option value="), 2u);
  EXPECT_NE(text.find("<option value=\"1\">Synthetic: GRU-D</option>"), std::string::npos);
  EXPECT_EQ(count(text, "role=\"listbox\""), 2u);
  EXPECT_EQ(count(text, "role=\"option\""), 3u);
  EXPECT_EQ(count(text, "data-level=\"90\" data-noise-level=\"3\""), 2u);
  EXPECT_EQ(count(text, "data-noise-level=\"3\" hidden>"), 1u);  // one is shown at first
  EXPECT_EQ(all(text, "<script type=\"text/html\" data-view=\"([^\"]*)\">"),
            (std::vector<std::string>{"0-0-forecast", "0-0-noisy", "0-1-forecast", "0-1-noisy",
                                      "1-0-forecast", "1-0-noisy"}));
}

TEST(StudyPage, WithoutSeriesToBrowseThereIsNoBrowser) {
  Study study = small_study();
  study.runs[0].results.browse.reset();
  const std::string text = visible(study_page(study, results_of(study)));
  EXPECT_EQ(text.find("id=\"browser\""), std::string::npos);
  EXPECT_EQ(text.find("#browse\""), std::string::npos);
}

TEST(StudyPage, AStudyOfWhichNothingIsDoneStillIsAPage) {
  Study study = small_study();
  for (StudiedRun& run : study.runs) run.results = {};
  const std::string text = study_page(study, results_of(study));
  EXPECT_NE(text.find("<section id=\"calibration\">"), std::string::npos);
  EXPECT_NE(text.find("52.1 ± 1.4"), std::string::npos);  // the published
}

TEST(StudyPage, NamesCannotBecomeMarkup) {
  const std::string text = page(kHostile);
  EXPECT_EQ(text.find("alert(1)</script>"), std::string::npos);
  EXPECT_EQ(text.find("<b>"), std::string::npos);
  // As many elements as with harmless names.
  EXPECT_EQ(count(text, "<script"), count(page(), "<script"));
  EXPECT_EQ(count(text, "</script"), count(page(), "</script"));
}

TEST(StudyFigures, AMethodKeepsItsColour) {
  EXPECT_EQ(colour_of("EDICT"), 0u);
  EXPECT_EQ(colour_of("SeFT"), 6u);
  EXPECT_GE(colour_of("something else"), 7u);
  EXPECT_LE(colour_of("something else"), 8u);
}

// Levels 0 and 9 with 0.2 beside them on 374 pixels; 61 between 50 and 101 on 254.
TEST(StudyFigures, ANumberUnderNoiseStandsAtItsLevel) {
  const std::string text = noise_figure(results_of(small_study()), Score::accuracy, "Synthetic");
  const double x = 54 + 9.2 / 9.4 * 374, y = 280 - (61.0 - 50) / 51 * 254;
  EXPECT_NE(text.find(fmt::format("<circle class=\"spot m0\" cx=\"{:.1f}\" cy=\"{:.1f}\"", x, y)),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("<title>EDICT, level 9: 61.0 ± 1.0 (published 52.1 ± 1.4)</title>"),
            std::string::npos);
}

TEST(StudyFigures, PerfectCoverageLiesOnTheDiagonal) {
  const Study study = small_study();
  const std::string text =
      interval_figure({&study.runs[0]}, Task::interpolation, IntervalCurve::coverage);
  // The ideal from corner to corner, and ours on it, thinned to its two ends.
  const auto lines = attributes(text, "polyline", "points");
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0], "54.0,260.0 428.0,26.0");
  EXPECT_EQ(lines[1], lines[0]);
  EXPECT_EQ(count(text, "<circle class=\"spot m0\""), kLevels);
}

TEST(StudyFigures, AnEvaluationWithoutExtrapolationLeavesAnEmptyFrame) {
  Study study = small_study();
  study.runs[0].results.evaluation->extrapolation.reset();
  const std::string text =
      interval_figure({&study.runs[0]}, Task::extrapolation, IntervalCurve::width);
  EXPECT_TRUE(attributes(text, "polyline", "points").empty());
  EXPECT_EQ(text.find("nan"), std::string::npos);
}

TEST(StudyFigures, BandsShowTheFirstSeriesOfEachClass) {
  Browse browse = browsed("");
  browse.series.push_back(browse.series[0]);  // a second of class 0
  EXPECT_EQ(band_figures(browse, "", 5).size(), 2u);
  EXPECT_EQ(band_figures(browse, "", 1).size(), 1u);
}

TEST(StudyFigures, AnExampleOfEachClassWithItsObservations) {
  const Study study = small_study();
  const Dataset& data = study.datasets[0].data;
  const auto figures = example_figures(study.datasets[0], 4);
  ASSERT_EQ(figures.size(), 2u);  // there are two classes
  const std::string& first = figures[0];
  EXPECT_NE(first.find("aria-label=\"Synthetic · " + data.ids[0] + ", class "), std::string::npos);
  // A dot for every observation of the first series, a line and a name for each feature.
  EXPECT_EQ(count(first, "<circle class=\"spot m"), data.first_observation[data.first_event[1]]);
  EXPECT_EQ(count(first, "<polyline class=\"line m"), 3u);
  EXPECT_NE(first.find("class=\"name m0\""), std::string::npos);
  EXPECT_EQ(example_figures(study.datasets[0], 1).size(), 1u);
}

TEST(StudyFigures, OfManyFeaturesTheThreeMostObservedAreDrawn) {
  Study study = small_study();
  Dataset& data = study.datasets[0].data;
  data.features.push_back("never observed");
  const auto figures = example_figures(study.datasets[0], 1);
  EXPECT_EQ(figures[0].find("never observed"), std::string::npos);
  EXPECT_EQ(count(figures[0], "<polyline"), 3u);
}

TEST(StudyFigures, WidthsAreDrawnToTheWidest) {
  const Study study = small_study();
  const std::string text =
      interval_figure({&study.runs[0]}, Task::extrapolation, IntervalCurve::width);
  EXPECT_NE(text.find(fmt::format("data-y=\"0 {:.6g}\"", 1.05 * 18 / 19)), std::string::npos)
      << text;
  EXPECT_NE(text.find("aria-label=\"Efficiency, extrapolation\""), std::string::npos);
  EXPECT_EQ(attributes(text, "polyline", "class"), (std::vector<std::string>{"line m0"}));
}

// Below 50 where a number or its deviation reaches there; published ones count too.
TEST(StudyFigures, TheAxisOfAScoreReachesBelowTheLowest) {
  Study study = small_study();
  const auto low = [&] {
    const std::string text = noise_figure(results_of(study), Score::accuracy, "Synthetic");
    return attributes(text, "svg", "data-y").at(0);
  };
  EXPECT_EQ(low(), "50 101");
  for (ClassificationResult& seed : study.runs[0].results.stress->curves[0].levels[1].seeds)
    seed.accuracy = 0.33;
  EXPECT_EQ(low(), "30 101");
}

TEST(RunPage, NamesAndFilesAreEscaped) {
  const TemporaryFolder folder;
  folder.write("command.txt", "edict train '<b>' && true\n");
  folder.write("config.toml", "# <script>\n");
  StudiedRun run;
  run.method = kHostile;
  run.dataset = "d<i>";
  const std::string text = run_page(run, folder.path());
  EXPECT_EQ(text.find("<script>alert"), std::string::npos);
  EXPECT_EQ(text.find("<i>"), std::string::npos);
  EXPECT_EQ(text.find("<b>"), std::string::npos);
  EXPECT_NE(text.find("&lt;b&gt;' &amp;&amp; true"), std::string::npos);
  EXPECT_NE(text.find("# &lt;script&gt;"), std::string::npos);
}

TEST(StudyPage, AReportIsWrittenWithAPageForEachRun) {
  const TemporaryFolder out;
  const Study study = small_study();
  const std::string run = "runs/" + study.runs[0].folder;
  out.write(run + "/command.txt", "edict train a&b\n");
  out.write(run + "/config.toml", "[train]\nepochs = 5\n");
  const Results results = write_report(study, out.path());
  EXPECT_EQ(out.read("results.json"), to_json(results).dump(1) + "\n");
  const std::string text = out.read(run + "/index.html");
  EXPECT_NE(text.find("edict train a&amp;b"), std::string::npos);
  EXPECT_NE(text.find("epochs = 5"), std::string::npos);
  EXPECT_NE(text.find("<a href=\"config.toml\">"), std::string::npos);
  EXPECT_EQ(text.find("<a href=\"stress.json\">"), std::string::npos);  // not there
  EXPECT_EQ(out.read("results.md"), results_markdown(results));
  EXPECT_EQ(out.read("index.html"), study_page(study, results));
}

}  // namespace
}  // namespace edict::report

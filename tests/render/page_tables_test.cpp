// The tables of the report as a reader sees them: each number in the cell of its method, level and
// task, names as they were given, and a page even where there is nothing to show.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/json/json.h"
#include "render/evaluation_figures.h"
#include "render/markup.h"
#include "render/small_study.h"
#include "research/report/study_page.h"

namespace edict::report {
namespace {

using Table = std::vector<std::vector<std::string>>;  // rows of cells

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
    text.replace(at, what.size(), by);
  return text;
}

// What a browser would show of a piece of markup: an element's border is a blank, several are one.
std::string shown(const std::string& markup) {
  std::string text;
  for (std::size_t at = 0; at < markup.size(); ++at) {
    const bool blank = markup[at] == '<' || markup[at] == ' ';
    if (markup[at] == '<') at = markup.find('>', at);
    if (!blank)
      text += markup[at];
    else if (!text.empty() && text.back() != ' ')
      text += ' ';
  }
  if (text.ends_with(' ')) text.pop_back();
  for (const auto& [entity, character] : {std::pair("&lt;", "<"), std::pair("&gt;", ">"),
                                          std::pair("&quot;", "\""), std::pair("&amp;", "&")})
    text = replaced(text, entity, character);
  return text;
}

// The first table after `mark`.
Table table_after(const std::string& page, const std::string& mark) {
  const std::size_t begin = page.find("<tr>", page.find(mark));
  const std::string text = page.substr(begin, page.find("</table>", begin) - begin);
  Table table;
  for (std::size_t at = text.find("<tr"); at != std::string::npos; at = text.find("<tr", at + 1)) {
    const std::string row = text.substr(at, text.find("</tr>", at) - at);
    auto& cells = table.emplace_back();
    for (const std::string& cell : all(row, "<t[hd](?:[^>]*)>((?:.|\n)*?)</t[hd]>"))
      cells.push_back(shown(cell));
  }
  return table;
}

std::string page_of(const Study& study) { return study_page(study, results_of(study)); }

TEST(PageTables, AScoreStandsUnderItsMethodAndBesideItsLevel) {
  const Study study = small_study();
  const Results results = results_of(study);
  const std::string page = study_page(study, results);
  for (const Score score : {Score::accuracy, Score::auroc}) {
    const Table table =
        table_after(page, "<caption>Synthetic: " + std::string(name_of(score)) + " (%)</caption>");
    ASSERT_EQ(table.size(), 4u);  // a header, no noise, levels 0 and 9
    EXPECT_EQ(table[0],
              (std::vector<std::string>{"noise", "EDICT", "EDICT w/ EDGR", "GRU-D", "IPN"}));
    std::size_t found = 0;
    for (const ScoreRow& row : results.scores(score)) {
      const auto column = static_cast<std::size_t>(
          std::find(table[0].begin(), table[0].end(), row.method) - table[0].begin());
      const std::string level = row.level ? std::to_string(*row.level) : "none";
      for (const auto& cells : table)
        if (cells[0] == level) {
          EXPECT_EQ(cells.at(column), value_text(row.value.ours, 1) + mark(row.value.verdict) +
                                          " " + value_text(row.value.published, 1))
              << row.method << " at " << level;
          ++found;
        }
    }
    EXPECT_EQ(found, results.scores(score).size());
  }
  // By hand: 60 and 62 of two seeds.
  EXPECT_EQ(table_after(page, "accuracy (%)</caption>")[3][1], "61.0 ± 1.0 ▲ 52.1 ± 1.4");
}

TEST(PageTables, CalibrationStandsUnderItsTask) {
  const Table table = table_after(page_of(small_study()), "<section id=\"calibration\"");
  for (const auto& cells : table) {
    if (cells.size() < 6 || cells[1] != "EDICT") continue;
    EXPECT_EQ(cells[0], "Synthetic");
    EXPECT_TRUE(cells[2].starts_with("0.020 ± 0.002")) << cells[2];
    EXPECT_TRUE(cells[3].starts_with("0.150 ▼")) << cells[3];
    EXPECT_TRUE(cells[4].starts_with("0.004 ± 0.002")) << cells[4];
    EXPECT_TRUE(cells[5].starts_with("0.050 ▲")) << cells[5];
    return;
  }
  FAIL() << "no row of EDICT";
}

TEST(PageTables, NamesAreShownAsTheyWereGiven) {
  const std::string name = " <b>&\"quoted\" & 'single' a<b";
  const std::string page = page_of(small_study(name));
  const Table noise = table_after(page, ": accuracy (%)</caption>");
  EXPECT_EQ(noise[0][1], "EDICT" + name);
  EXPECT_EQ(noise[0][2], "EDICT" + name + " w/ EDGR");
  EXPECT_EQ(table_after(page, "<section id=\"datasets\"")[1][0], "Synthetic" + name);
  EXPECT_EQ(table_after(page, "<section id=\"runs\"")[1][1], "EDICT" + name);
  // Attributes end at the first quote: a name in one must not bring its own.
  bool any = false;
  for (const std::string& label : attributes(page, "svg", "aria-label"))
    any |= shown(label).find("quoted") != std::string::npos &&
           shown(label).find("'single' a<b") != std::string::npos;
  EXPECT_TRUE(any) << "no chart is named after its series";
}

// One class alone has no ranking: a dash, not "nan", and no verdict against the published.
TEST(PageTables, ASplitOfOneClassHasNoAuroc) {
  Study study = small_study();
  for (StressCurve& curve : study.runs[0].results.stress->curves)
    for (StressPoint& point : curve.levels)
      for (ClassificationResult& seed : point.seeds) seed.auroc.value = std::nan("");
  const Results results = results_of(study);
  for (const ScoreRow& row : results.auroc)
    if (row.method == "EDICT" && row.level) {
      EXPECT_FALSE(row.value.ours);
      EXPECT_FALSE(row.value.verdict);
    }
  for (const std::string& text :
       {study_page(study, results), results_markdown(results), results_text(results)})
    EXPECT_EQ(text.substr(0, text.find("<script")).find("nan"), std::string::npos);
  EXPECT_EQ(
      table_after(page_of(study), "AUROC (%)</caption>")[3][1].substr(0, std::string("–").size()),
      "–");
  EXPECT_EQ(results.accuracy.size(), results_of(small_study()).accuracy.size());
}

// A stage failed after others had ended: their numbers lead to the runs they come from.
TEST(PageTables, ARunThatFailedLateIsListedWithWhatItHas) {
  Study study = small_study();
  for (const std::size_t run : {1u, 2u}) study.runs[run].failure = "no space left";
  const std::string page = page_of(study);
  const auto ids = all(page, " id=\"([^\"]*)\"");
  for (const std::string& target : all(page, "href=\"#([^\"]*)\""))
    EXPECT_NE(std::find(ids.begin(), ids.end(), target), ids.end()) << target;
  EXPECT_NE(page.find("href=\"runs/synthetic-gru-d-00000001/index.html\""), std::string::npos);
  EXPECT_EQ(count(page, "GRU-D on synthetic failed: no space left"), 2u);
  EXPECT_NE(page.find("3 of 4 runs failed"), std::string::npos);
}

TEST(PageTables, NothingAtAllIsStillAPage) {
  const Study nothing;
  const Results results = results_of(nothing);
  const std::string page = study_page(nothing, results);
  for (const char* id : {"datasets", "calibration", "noise", "bands", "runs"})
    EXPECT_NE(page.find(std::string("<section id=\"") + id + "\""), std::string::npos) << id;
  EXPECT_EQ(page.find("id=\"browse\""), std::string::npos);
  EXPECT_EQ(count(page, "<svg"), 0u);
  EXPECT_EQ(to_json(results).at("accuracy").size(), 0u);
  EXPECT_TRUE(to_json(results).at("runs").is_array());
  EXPECT_NE(results_markdown(results).find("# Results"), std::string::npos);
  EXPECT_NE(results_text(results).find("▲ better"), std::string::npos);
}

TEST(PageFigures, WithoutResultsAreEmptyFrames) {
  for (const std::string& figure : {coverage_figure({}), width_figure({}), stress_figure({})}) {
    EXPECT_EQ(count(figure, "<svg class=\"chart\""), 1u);
    EXPECT_EQ(count(figure, "<svg"), count(figure, "</svg>"));  // the plot is one of its own
    EXPECT_EQ(figure.find("nan"), std::string::npos) << figure;
    EXPECT_EQ(figure.find("inf"), std::string::npos) << figure;
  }
  StressResult clean;  // no level was asked for
  clean.curves = {{{}, point(-1, {1.0}), {}}};
  EXPECT_EQ(stress_figure(clean).find("nan"), std::string::npos);
}

}  // namespace
}  // namespace edict::report

// The page as a reader's program sees it: whole, well-formed where it matters, and safe against
// names that look like markup. scripts/browser-check looks at it in a real browser.
#include "edict/report/study_page.h"

#include <gtest/gtest.h>

#include <regex>
#include <set>

#include "edict/report/results.h"
#include "edict/report/study_figures.h"
#include "report/small_study.h"
#include "temporary_folder.h"

namespace edict {
namespace {

std::string page() {
  const Study study = small_study();
  return study_page(study, results_of(study));
}

std::vector<std::string> all(const std::string& text, const std::string& pattern) {
  std::vector<std::string> found;
  const std::regex expression(pattern);
  for (std::sregex_iterator at(text.begin(), text.end(), expression), end; at != end; ++at)
    found.push_back((*at)[1]);
  return found;
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
  for (const std::string& area : all(text, "url\\(#([^)]*)\\)"))
    if (area.find('$') == std::string::npos) {  // the script makes its own
      EXPECT_TRUE(distinct.contains(area)) << area;
    }
}

TEST(StudyPage, ItNeedsNothingFromOutside) {
  const std::string text = page();
  EXPECT_TRUE(all(text, "(?:src|href)=\"(https?:[^\"]*)\"").empty());
  EXPECT_EQ(text.find("@import"), std::string::npos);
  for (const char* left : {"{0}", "{1}", "nan", "inf,", "undefined\""})
    EXPECT_EQ(text.substr(0, text.find("<script>\n")).find(left), std::string::npos) << left;
}

TEST(StudyPage, TheDataOfTheBrowserAreJsonAndCannotEndTheirElement) {
  const std::string text = page();
  const std::string open = "<script type=\"application/json\" id=\"browse-data\">";
  const std::size_t begin = text.find(open);
  ASSERT_NE(begin, std::string::npos);
  const std::size_t end = text.find("</script>", begin);
  const json sets = json::parse(text.substr(begin + open.size(), end - begin - open.size()));
  ASSERT_EQ(sets.size(), 1u);
  EXPECT_EQ(sets[0]["series"].size(), 2u);
  EXPECT_EQ(sets[0]["dataset"], "Synthetic");
  EXPECT_EQ(sets[0]["series"][0]["features"][0]["name"], "x1</script><b>&\"");
  EXPECT_EQ(text.find("<b>"), std::string::npos);
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
  const std::string text = page();
  const auto charts = all(text, "<svg class=\"chart\"[^>]* aria-label=\"([^\"]*)\"");
  // Two examples, four interval curves, two noise figures, a band for the first series of a class.
  EXPECT_EQ(charts.size(), 2u + 4u + 2u + 2u);
  for (const std::string& name : charts) EXPECT_FALSE(name.empty());
  EXPECT_GE(all(text, "<polyline class=\"(line published m[0-9])\" points=\"[0-9]").size(), 6u);
}

TEST(StudyFigures, AMethodKeepsItsColour) {
  EXPECT_EQ(colour_of("EDICT"), 0u);
  EXPECT_EQ(colour_of("SeFT"), 6u);
  EXPECT_GE(colour_of("something else"), 7u);
  EXPECT_LE(colour_of("something else"), 8u);
}

TEST(StudyPage, AReportIsWrittenWithAPageForEachRun) {
  const TemporaryFolder out;
  const Study study = small_study();
  const std::string run = "runs/" + study.runs[0].folder;
  out.write(run + "/command.txt", "edict train a&b\n");
  out.write(run + "/config.toml", "[train]\nepochs = 5\n");
  const json results = write_report(study, out.path());
  EXPECT_EQ(json::parse(out.read("results.json")), results);
  const std::string text = out.read(run + "/index.html");
  EXPECT_NE(text.find("edict train a&amp;b"), std::string::npos);
  EXPECT_NE(text.find("epochs = 5"), std::string::npos);
  EXPECT_NE(text.find("<a href=\"config.toml\">"), std::string::npos);
  EXPECT_EQ(text.find("<a href=\"stress.json\">"), std::string::npos);  // not there
  EXPECT_TRUE(out.exists("index.html"));
  EXPECT_TRUE(out.exists("results.md"));
}

}  // namespace
}  // namespace edict

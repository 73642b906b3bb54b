// The page of `edict plot`, what `--version` says, and pages made from data with hostile names.
#include <algorithm>
#include <regex>

#include "cli/tool.h"
#include "data/read/csv/csv.h"
#include "model/model.h"
#include "render/markup.h"

namespace edict {
namespace {

using report::count;

class PlotTest : public ToolTest {
 protected:
  void SetUp() override {
    ASSERT_EQ(edict("generate synthetic --out d.csv --series 40").code, 0);
    ASSERT_EQ(edict("train d.csv --out m --set data.t_cut=9.4" + kTiny).code, 0);
  }
};

TEST_F(PlotTest, BandsCalibrationErrorsAndLearning) {
  const Outcome outcome = edict("plot m d.csv --out page.html");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("page.html"), std::string::npos);
  const std::string page = read("page.html");
  // Three features of three series; coverage, width and PIT; errors by horizon; learning.
  EXPECT_EQ(count(page, "<svg class=\"chart\""), 3u * 3u + 2u + 2u + 2u + 1u);
  EXPECT_EQ(count(page, "<h2>Errors</h2>"), 1u);
  EXPECT_EQ(count(page, "<th>x2</th>"), 2u) << "a row a feature and task";
  EXPECT_EQ(count(page, ">learning</text>"), 1u);
  EXPECT_EQ(page.find("<h2>Classes"), std::string::npos);
  EXPECT_EQ(count(page, "<polyline class=\"mean\""), 9u);
  EXPECT_EQ(count(page, "<h2>Series "), 3u);
  EXPECT_NE(page.find("interpolation: MSE "), std::string::npos);
  for (const char* left : {"nan", "inf", "{}", "http://example"})
    EXPECT_EQ(page.find(left), std::string::npos) << left;
}

TEST_F(PlotTest, AClassifierShowsItsCurves) {
  ASSERT_EQ(edict("classify m d.csv --out clf --fine-tune 1 --set classify.epochs=2").code, 0);
  const Outcome outcome = edict("plot clf d.csv --split all --out page.html --json page.json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const std::string page = read("page.html");
  for (const char* title : {"ROC", "precision and recall", "reliability", "learning"})
    EXPECT_EQ(count(page, std::string(">") + title + "</text>"), 1u) << title;
  EXPECT_NE(page.find("class shares alone"), std::string::npos);
  EXPECT_NE(read("page.json").find("\"reliability\""), std::string::npos);
  // A model of another kind, which has nothing else to show.
  ASSERT_EQ(edict("train d.csv --out gru --model gru-d --set model.hidden=6 --set train.epochs=2"
                  " --set train.batch=8")
                .code,
            0);
  const Outcome classes_only = edict("plot gru d.csv --split all --out page.html");
  ASSERT_EQ(classes_only.code, 0) << classes_only.err;
  EXPECT_EQ(count(read("page.html"), "<svg class=\"chart\""), 3u + 1u);
  EXPECT_EQ(edict("evaluate gru d.csv --split all").code, 0);
}

TEST_F(PlotTest, AMetricsFileThatIsNoneIsNamed) {
  write("m.metrics.csv", "epoch,loss\n1,2\n");
  const Outcome outcome = edict("plot m d.csv --out page.html");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.err.find("m.metrics.csv: is not the metrics file"), std::string::npos);
}

TEST_F(PlotTest, TheSeriesAskedForInThatOrder) {
  const Outcome outcome = edict("plot m d.csv --out page.html --series s00007,s00003");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const std::string page = read("page.html");
  EXPECT_EQ(count(page, "<h2>Series "), 2u);
  EXPECT_LT(page.find("<h2>Series s00007"), page.find("<h2>Series s00003"));
  EXPECT_EQ(edict("plot m d.csv --out page.html --series nobody").code, 2);
}

// Bands of a series that was trained on say little of others: the reader must be told.
TEST_F(PlotTest, ADrawnSeriesThatTheModelHasMetIsSaidToBe) {
  const Model model = load_model(*this / "m");
  const Dataset data = read_csv(*this / "d.csv");
  const Split parts = model.split(data);
  const std::string trained = data.ids[parts.train[0]], chose = data.ids[parts.validation[0]],
                    test = data.ids[parts.test[0]];
  const Outcome outcome =
      edict("plot m d.csv --out page.html --series " + test + "," + trained + "," + chose);
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("note: the model was trained on series " + trained + ", drawn here\n"),
            std::string::npos)
      << outcome.out;
  EXPECT_NE(outcome.out.find("note: the model was chosen by series " + chose + ", drawn here\n"),
            std::string::npos)
      << outcome.out;
  const std::string page = read("page.html");
  const auto section = [&](const std::string& id) {
    const std::size_t from = page.find("<h2>Series " + id);
    return page.substr(from, page.find("<h2>", from + 4) - from);
  };
  EXPECT_NE(section(trained).find("the model was trained on this series"), std::string::npos);
  EXPECT_NE(section(chose).find("the model was chosen by this series"), std::string::npos);
  EXPECT_EQ(section(test).find("the model was"), std::string::npos);
  EXPECT_EQ(edict("plot m d.csv --out page.html --series " + test).out.find("note"),
            std::string::npos);
}

TEST_F(PlotTest, AnIdThatLooksLikeMarkupStaysText) {
  std::string data = read("d.csv");
  const std::string hostile = "<script>alert(1)</script>";
  for (std::size_t at = data.find("s00007"); at != std::string::npos;
       at = data.find("s00007", at + hostile.size()))
    data.replace(at, 6, hostile);
  write("d.csv", data);
  ASSERT_EQ(edict("train d.csv --force --out m --set data.t_cut=9.4" + kTiny).code, 0);
  const Outcome outcome = edict("plot m d.csv --out page.html --series '" + hostile + "'");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const std::string page = read("page.html");
  EXPECT_EQ(page.find("<script"), std::string::npos);
  EXPECT_NE(page.find("Series &lt;script&gt;alert(1)&lt;/script&gt;"), std::string::npos);
}

TEST_F(ToolTest, TheVersionNamesTheSources) {
  const Outcome outcome = edict("--version");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_TRUE(std::regex_match(outcome.out,
                               std::regex("edict [0-9.]+ \\([^)]+\\), sources [0-9a-f]{12}\n")))
      << outcome.out;
}

}  // namespace
}  // namespace edict

// The page of `edict evaluate --html`, and what became of `edict plot`.
#include "cli/tool.h"
#include "render/markup.h"

namespace edict {
namespace {

using report::count;

class EvaluationPageTest : public ToolTest {
 protected:
  void SetUp() override {
    ASSERT_EQ(edict("generate synthetic --out d.csv --series 40").code, 0);
    ASSERT_EQ(edict("train d.csv --out m --set data.t_cut=9.4" + kTiny).code, 0);
  }
};

TEST_F(EvaluationPageTest, CalibrationErrorsAndLearning) {
  const Outcome outcome = edict("evaluate m d.csv --html page.html");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, edict("evaluate m d.csv").out);
  const std::string page = read("page.html");
  // Coverage, width and PIT; errors by horizon; learning.
  EXPECT_EQ(count(page, "<svg class=\"chart\""), 2u + 2u + 2u + 1u);
  EXPECT_EQ(count(page, "<h2>Errors</h2>"), 1u);
  EXPECT_EQ(count(page, "<th>x2</th>"), 2u) << "a row a feature and task";
  EXPECT_EQ(count(page, ">learning</text>"), 1u);
  EXPECT_EQ(page.find("<h2>Classes"), std::string::npos);
  EXPECT_NE(page.find("interpolation: MSE "), std::string::npos);
  for (const char* left : {"nan", "inf", "{}", "http://example"})
    EXPECT_EQ(page.find(left), std::string::npos) << left;
}

TEST_F(EvaluationPageTest, AClassifierShowsItsCurves) {
  ASSERT_EQ(edict("classify m d.csv --out clf --fine-tune 1 --set classify.epochs=2").code, 0);
  const Outcome outcome = edict("evaluate clf d.csv --split all --html page.html --json page.json");
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
  const Outcome classes_only = edict("evaluate gru d.csv --split all --html page.html");
  ASSERT_EQ(classes_only.code, 0) << classes_only.err;
  EXPECT_EQ(count(read("page.html"), "<svg class=\"chart\""), 3u + 1u);
}

TEST_F(EvaluationPageTest, AMetricsFileThatIsNoneIsNamed) {
  write("m.metrics.csv", "epoch,loss\n1,2\n");
  const Outcome outcome = edict("evaluate m d.csv --html page.html");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.err.find("m.metrics.csv: is not the metrics file"), std::string::npos);
}

TEST_F(EvaluationPageTest, AFeatureThatLooksLikeMarkupStaysText) {
  std::string data = read("d.csv");
  data.replace(data.find("x2"), 2, "<script>alert(1)</script>");
  write("d.csv", data);
  ASSERT_EQ(edict("train d.csv --force --out m --set data.t_cut=9.4" + kTiny).code, 0);
  const Outcome outcome = edict("evaluate m d.csv --html page.html");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const std::string page = read("page.html");
  EXPECT_EQ(page.find("<script"), std::string::npos);
  EXPECT_NE(page.find("&lt;script&gt;"), std::string::npos);
}

TEST_F(ToolTest, PlotNamesTheCommandsThatTookItsPlace) {
  for (const char* call : {"plot m d.csv --out page.html", "help plot"}) {
    const Outcome outcome = edict(call);
    EXPECT_EQ(outcome.code, 2);
    EXPECT_EQ(outcome.err,
              "edict: plot is no command any more; `edict explore` shows series, `edict evaluate "
              "--html` calibration, errors, classes and learning\n");
  }
}

}  // namespace
}  // namespace edict

// `edict explore` as one runs it.
#include "cli/tool.h"
#include "render/unpacked_page.h"

namespace edict {
namespace {

class ExploreTest : public ToolTest {
 protected:
  void SetUp() override {
    ASSERT_EQ(edict("generate synthetic --out d.csv --series 40").code, 0);
    ASSERT_EQ(edict("train d.csv --out m --set data.t_cut=9.4" + kTiny).code, 0);
  }
};

TEST_F(ExploreTest, OnePageWithEverySeries) {
  const Outcome outcome = edict("explore m d.csv --out page.html");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out.rfind("page.html: 40 series, 0.", 0), 0u) << outcome.out;
  const std::string html = read("page.html");
  EXPECT_EQ(html.find("<!--"), std::string::npos) << "a place was not filled";
  const report::UnpackedPage page(html);
  EXPECT_EQ(page.index["ids"].size(), 40u);
  EXPECT_EQ(page.meta["title"], "edict on d.csv");
  EXPECT_NE(html.find("default-src 'none'"), std::string::npos);  // asks nobody for anything
}

TEST_F(ExploreTest, TheSeriesAndFeaturesAskedFor) {
  const Outcome outcome =
      edict("explore m d.csv --out - --series s00007,s00003 --show x2 --guard edgr --level 0.5");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const report::UnpackedPage page(outcome.out);
  EXPECT_EQ(page.index["ids"], (std::vector<std::string>{"s00007", "s00003"}));
  EXPECT_EQ(page.series(0).features.size(), 1u);
  EXPECT_EQ(page.meta["level"], 0.5);
  EXPECT_EQ(page.meta["guard"]["kind"], "edgr");
  EXPECT_NE(outcome.err.find("2 series"), std::string::npos) << outcome.err;
}

TEST_F(ExploreTest, JsonTellsWhatThePageHolds) {
  const Outcome outcome = edict("explore m d.csv --out page.html --json -");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const nlohmann::json told = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(told.at("series"), 40);
  EXPECT_EQ(told.at("with_bands"), 40);
  EXPECT_EQ(told.at("bytes"), read("page.html").size());
}

TEST_F(ExploreTest, BadInputIsOneLineAndNoPage) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"explore m d.csv --out p.html --show x9", "--show: no feature 'x9'; did you mean 'x"},
      {"explore m d.csv --out p.html --series nobody",
       "--series: no series 'nobody'; did you mean '"},
      {"explore m d.csv --out d.csv", "would write over it"},
      {"explore m d.csv --out p.html --megabytes 0", "--megabytes"},
      {"explore m d.csv --out p.html --guard edgr --eta -1", "eta"},
      {"explore m nothing.csv --out p.html", "nothing.csv"}};
  for (const auto& [command, told] : cases) {
    const Outcome outcome = edict(command);
    EXPECT_EQ(outcome.code, 2) << command;
    EXPECT_NE(outcome.err.find(told), std::string::npos) << command << ": " << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    EXPECT_FALSE(exists("p.html")) << command;
  }
}

}  // namespace
}  // namespace edict

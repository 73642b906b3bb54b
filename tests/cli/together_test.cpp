// What a model that knows which features err together says, and what it changes for nobody else.
#include <fmt/core.h>

#include <cmath>
#include <sstream>

#include "base/generator.h"
#include "base/json/json.h"
#include "cli/tool.h"
#include "model/model.h"

namespace edict {
namespace {

// Two gauges of the same level, a tenth of its spread apart, and one of something else; the level
// is new at every moment, so that nothing but the moment's own companions can tell it.
std::string gauges(std::size_t series) {
  std::string text = "id,time,left,right,other\n";
  for (std::size_t i = 0; i < series; ++i) {
    Generator random(1, "gauges", i);
    for (int e = 0; e < 12; ++e) {
      const double level = random.normal();
      text += fmt::format("s{},{},{:.6f},{:.6f},{:.6f}\n", i, e, level,
                          level + 0.1 * random.normal(), random.normal());
    }
  }
  return text;
}

// One model for all of them.
class Together : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    tool = new Tool;
    tool->write("d.csv", gauges(150));
    // Nothing is to be recalled, and a few epochs do not learn that.
    ASSERT_EQ(tool->edict("train d.csv --out m --set model.recall=false --set data.validation=0.5 "
                          "--set data.train=0.3 --set "
                          "train.calibrate=false" +
                          kTiny)
                  .code,
              0);
    const auto made = tool->edict("calibrate m d.csv --out c --json c.json");
    ASSERT_EQ(made.code, 0) << made.err;
    told = made.out;
    // The same calibration as it would be without correlations.
    Model alone = load_model(tool->path() / "c");
    alone.calibration.correlations = {};
    save_model(alone, tool->path() / "alone");
    // Each of these levels is an everyday one.
    tool->write("odd.csv",
                "id,time,left,right,other\nodd,0,0.5,0.5,0\nodd,1,0.8,-0.8,0.1\nodd,2,,1,\n");
  }
  static void TearDownTestSuite() { delete tool; }

  // The rows of a file as JSON.
  static nlohmann::json rows(const std::string& call) {
    const auto outcome = tool->edict(call + " --json rows.json");
    EXPECT_EQ(outcome.code, 0) << call << outcome.err;
    return nlohmann::json::parse(tool->read("rows.json"));
  }

  static Tool* tool;
  static std::string told;
};
Tool* Together::tool = nullptr;
std::string Together::told;

TEST_F(Together, CalibrateTellsThePairsAndWhatTheyAreWorth) {
  EXPECT_NE(told.find("  left and right\n"), std::string::npos) << told;
  const auto json = nlohmann::json::parse(tool->read("c.json"));
  for (const char* task : {"interpolation", "extrapolation"}) {
    const auto& score = json["joint"][task];
    EXPECT_NEAR(score["alone_nll"].get<double>(), json["after"][task]["nll"]["mean"].get<double>(),
                1e-9);
  }
  // A correlation of 0.995, bounded a little: −½ ln(1 − r²) over three values is 0.5 and more.
  EXPECT_LT(json["joint"]["extrapolation"]["together_nll"].get<double>(),
            json["joint"]["extrapolation"]["alone_nll"].get<double>() - 0.4);
  EXPECT_NE(
      tool->edict("info c").out.find("of features have correlated errors, the most left and right"),
      std::string::npos);
}

TEST_F(Together, EvaluateTellsTheJointScore) {
  const auto outcome = tool->edict("evaluate c d.csv --split test --json e.json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("features of a moment"), std::string::npos) << outcome.out;
  const auto json = nlohmann::json::parse(tool->read("e.json"));
  EXPECT_LT(json["joint"]["extrapolation"]["together_nll"],
            json["joint"]["extrapolation"]["alone_nll"]);
  ASSERT_EQ(tool->edict("evaluate alone d.csv --json a.json").code, 0);
  EXPECT_TRUE(nlohmann::json::parse(tool->read("a.json"))["joint"].is_null());
}

TEST_F(Together, OtherAnswersAreTheSameBits) {
  for (const char* call :
       {"predict {} d.csv --at events --out out.csv", "predict {} d.csv --ahead 0,1 --out out.csv",
        "predict {} d.csv --at events --top 20 --out out.csv", "impute {} d.csv --out out.csv",
        "predict {} d.csv --ahead 1 --conformal --out out.csv"}) {
    ASSERT_EQ(tool->edict(fmt::format(fmt::runtime(call), "c")).code, 0) << call;
    const std::string with = tool->read("out.csv");
    ASSERT_EQ(tool->edict(fmt::format(fmt::runtime(call), "alone")).code, 0) << call;
    EXPECT_EQ(tool->read("out.csv"), with) << call;
  }
}

TEST_F(Together, WhatContradictsItsCompanionsStandsOut) {
  const auto alone = rows("predict c odd.csv --at events");
  const auto together = rows("predict c odd.csv --at events --together");
  ASSERT_EQ(alone.size(), 7u);
  ASSERT_EQ(together.size(), 7u);
  const auto tail = [](const nlohmann::json& row) { return row["tail_probability"].get<double>(); };
  for (std::size_t k = 0; k < 7; ++k) {
    EXPECT_GT(tail(alone[k]), 0.05) << alone[k];
    EXPECT_EQ(together[k]["observed"], alone[k]["observed"]);
  }
  EXPECT_GT(tail(together[0]), 0.1) << "left and right agree";
  EXPECT_LT(tail(together[3]), 1e-4) << together[3];
  EXPECT_LT(tail(together[4]), 1e-4) << together[4];
  EXPECT_GT(tail(together[5]), 0.05) << "the third has nothing to do with it";
  EXPECT_NEAR(tail(together[6]), tail(alone[6]), 1e-7) << "it came alone";
  // Beside 0.8, right was expected near it.
  EXPECT_NEAR(together[4]["median"].get<double>(), 0.8, 0.3);
  EXPECT_LT(together[4]["upper"].get<double>() - together[4]["lower"].get<double>(),
            0.5 * (alone[4]["upper"].get<double>() - alone[4]["lower"].get<double>()));
  const auto top = rows("predict c odd.csv --at events --together --top 2");
  ASSERT_EQ(top.size(), 2u);
  for (const auto& row : top) EXPECT_EQ(row["time"], 1);
}

TEST_F(Together, ColumnsAgreeWithEachOtherAndThreadsDoNotMatter) {
  const std::string call =
      "predict c d.csv --at events --together --level 0.8 --quantiles 0.1,0.5 --below right=0.2";
  for (const auto& row : rows(call)) {
    EXPECT_EQ(row["q0.1"], row["lower"]);
    EXPECT_EQ(row["q0.5"], row["median"]);
    const double z = row["z"], pit = row["pit"];
    EXPECT_NEAR(pit, 0.5 * std::erfc(-z / std::sqrt(2.0)), 1e-7);
    EXPECT_NEAR(row["tail_probability"].get<double>(), 2 * std::min(pit, 1 - pit), 1e-7);
    EXPECT_EQ(row["observed"].get<double>() < row["lower"].get<double>(), pit < 0.1);
    EXPECT_EQ(row["P(right<0.2)"].is_null(), row["feature"] != "right");
    EXPECT_FALSE(row.contains("dof"));
  }
  ASSERT_EQ(tool->edict(call + " --threads 1 --out one.csv").code, 0);
  ASSERT_EQ(tool->edict(call + " --threads 4 --out four.csv").code, 0);
  EXPECT_EQ(tool->read("one.csv"), tool->read("four.csv"));
  const auto adapted = rows("predict c d.csv --at events --together --adapt 0.1");
  EXPECT_EQ(adapted[0]["level"], 0.9);
}

TEST_F(Together, RefusesWhatItCannotDo) {
  const auto refused = [](const std::string& call) {
    const auto outcome = tool->edict(call + " --out no.csv");
    EXPECT_EQ(outcome.code, 2) << call;
    EXPECT_FALSE(tool->exists("no.csv"));
    return outcome.err;
  };
  for (const char* model : {"m", "alone"}) {
    const std::string err = refused(fmt::format("predict {} d.csv --at events --together", model));
    EXPECT_NE(err.find(fmt::format("edict calibrate {} DATA", model)), std::string::npos) << err;
  }
  EXPECT_NE(refused("predict c d.csv --ahead 1 --together").find("--at events"), std::string::npos);
  EXPECT_NE(refused("predict c d.csv --at events --together --conformal").find("leave one"),
            std::string::npos);
}

}  // namespace
}  // namespace edict

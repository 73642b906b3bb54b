// edict train --folds: a table, JSON, and models that can be gone on with.
#include <csignal>

#include "base/json/json.h"
#include "cli/tool.h"

namespace edict {
namespace {

class FoldsTest : public ToolTest {
 protected:
  void SetUp() override { ASSERT_EQ(edict("generate synthetic --out d.csv --series 200").code, 0); }
  const std::string settings_ = kTiny + " --set classify.epochs=2 ";
};

TEST_F(FoldsTest, TellsMeanAndDeviationOfWhatEachFoldJudges) {
  const Outcome outcome = edict("train d.csv --folds 3 --json f.json" + settings_);
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("fold 2 of 3"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.out.find("interpolation nll"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("auroc"), std::string::npos) << outcome.out;
  const auto json = nlohmann::json::parse(read("f.json"));
  ASSERT_EQ(json.at("folds").size(), 3u);
  const auto& nll = json.at("metrics").at("interpolation nll");
  double mean = 0;
  for (const auto& fold : json.at("folds"))
    mean += fold.at("evaluation").at("interpolation").at("nll").at("mean").get<double>() / 3;
  EXPECT_NEAR(nll.at("mean").get<double>(), mean, 1e-12);
  EXPECT_GT(nll.at("std").get<double>(), 0.0);
  EXPECT_EQ(files(), 2u) << "nothing but the data and the JSON";
}

TEST_F(FoldsTest, GoesOnWhereItStoppedAndKeepsModelsThatCanBeJudged) {
  ASSERT_EQ(edict("train d.csv --folds 2 --out whole --json whole.json" + settings_).code, 0);
  const pid_t child = start("train d.csv --folds 2 --out parts --json parts.json" + settings_);
  ASSERT_TRUE(comes("parts/fold-1.model", "edict"));
  end(child, SIGKILL);
  const Outcome again = edict("train d.csv --folds 2 --out parts --json parts.json" + settings_);
  EXPECT_EQ(again.code, 2);
  EXPECT_NE(again.err.find("--resume"), std::string::npos) << again.err;
  ASSERT_EQ(edict("train d.csv --folds 2 --resume --out parts --json parts.json" + settings_).code,
            0);
  EXPECT_EQ(read("whole.json"), read("parts.json"));
  EXPECT_EQ(read("whole/fold-2.clf"), read("parts/fold-2.clf"));
  // Judged by the series of its fold, as the table was.
  ASSERT_EQ(edict("evaluate whole/fold-1.model d.csv --json e.json").code, 0);
  const auto fold = nlohmann::json::parse(read("whole.json")).at("folds")[0];
  const auto own = nlohmann::json::parse(read("e.json"));
  EXPECT_EQ(own.at("interpolation").at("nll").at("mean"),
            fold.at("evaluation").at("interpolation").at("nll").at("mean"));
}

TEST_F(FoldsTest, OfAModelThatOnlyClassifies) {
  const Outcome outcome = edict(
      "train d.csv --folds 2 --model gru-d --json - --set model.hidden=6 --set train.epochs=2");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto json = nlohmann::json::parse(outcome.out);
  EXPECT_TRUE(json.at("metrics").contains("accuracy"));
  EXPECT_FALSE(json.at("metrics").contains("interpolation nll"));
}

}  // namespace
}  // namespace edict

// classify and stress as a user runs them: from CSV to a classifier, a table and JSON.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "base/json/json.h"
#include "cli/tool.h"

namespace edict {
namespace {

class ClassifyAndStress : public testing::Test {
 protected:
  // One model and classifier serve all tests here.
  static void SetUpTestSuite() {
    tool.emplace();
    ASSERT_EQ(tool->edict("generate synthetic --out d.csv --series 120").code, 0);
    ASSERT_EQ(tool->edict("train d.csv --out m --set model.hidden=8 --set model.head_hidden=4"
                          " --set model.encoder_width=3 --set model.step=0.3 --set train.epochs=4"
                          " --set train.batch=8 --set train.learning_rate=0.01")
                  .code,
              0);
    ASSERT_EQ(tool->edict("classify m d.csv --out clf --set classify.batch=8").code, 0);
  }
  static void TearDownTestSuite() { tool.reset(); }

  static inline std::optional<Tool> tool;
};

TEST_F(ClassifyAndStress, JudgesTheSplitAskedFor) {
  const Tool::Outcome test = tool->edict("stress clf d.csv --levels 0 --guard none");
  const Tool::Outcome validation =
      tool->edict("stress clf d.csv --levels 0 --guard none --split validation --json v.json");
  ASSERT_EQ(validation.code, 0) << validation.err;
  EXPECT_NE(test.err.find("18 test series"), std::string::npos) << test.err;
  EXPECT_EQ(test.out.find("note"), std::string::npos) << test.out;
  EXPECT_NE(validation.err.find("19 validation series"), std::string::npos) << validation.err;
  EXPECT_TRUE(validation.out.starts_with("note: 19 of these 19 series were used in validation"))
      << validation.out;
  const nlohmann::json json = nlohmann::json::parse(tool->read("v.json"));
  EXPECT_EQ(json.at("split"), "validation");
  EXPECT_EQ(json.at("note"), "note: 19 of these 19 series were used in validation");
  EXPECT_EQ(tool->edict("stress clf d.csv --split unseen").code, 2);
}

TEST_F(ClassifyAndStress, SweepsAllGuardsIntoTableAndJson) {
  const Tool::Outcome outcome = tool->edict("stress clf d.csv --levels 0,8-9 --json s.json");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  for (const char* guard : {"none", "edgr", "pop-mean"})
    EXPECT_NE(outcome.out.find(std::string(guard) + " "), std::string::npos);
  const nlohmann::json json = nlohmann::json::parse(tool->read("s.json"));
  ASSERT_EQ(json["levels"].size(), 3u);
  EXPECT_EQ(json["levels"][1]["level"], 8);
  EXPECT_EQ(json["guards"].size(), 3u);
  EXPECT_TRUE(json["clean"]["accuracy"].is_number());
  EXPECT_EQ(json["series"], 18);
}

// A kind without a distribution cannot be asked what it expects.
TEST_F(ClassifyAndStress, WithoutGuardAKindIsSweptWithThoseThatItCanServe) {
  ASSERT_EQ(tool->edict("train d.csv --out g --model gru-d --set model.hidden=4"
                        " --set train.epochs=1")
                .code,
            0);
  const Tool::Outcome outcome = tool->edict("stress g d.csv --levels 9 --seeds 0 --json g.json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const nlohmann::json json = nlohmann::json::parse(tool->read("g.json"));
  EXPECT_EQ(json["guards"].size(), 2u);
  EXPECT_TRUE(json["guards"].contains("none") && json["guards"].contains("pop-mean"));
  EXPECT_EQ(outcome.out.find("edgr"), std::string::npos) << outcome.out;
  // Asked for by name it is refused rather than left out.
  const Tool::Outcome asked = tool->edict("stress g d.csv --levels 9 --guard edgr");
  EXPECT_EQ(asked.code, 2);
  EXPECT_NE(asked.err.find("gru-d"), std::string::npos) << asked.err;
}

TEST_F(ClassifyAndStress, EvaluateTellsTheShareThatAGuardClipped) {
  const auto counts = [&](const std::string& guard) {
    const Tool::Outcome outcome = tool->edict("evaluate m d.csv --json e.json" + guard);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    const nlohmann::json json = nlohmann::json::parse(tool->read("e.json"));
    const auto clipped = json.at("clipped_observations").get<int>();
    const auto absorbed = json.at("absorbed_observations").get<int>();
    const std::string told = std::to_string(clipped) + " of " + std::to_string(absorbed) +
                             " observations were clipped (";
    EXPECT_EQ(outcome.out.find(told) != std::string::npos, !guard.empty()) << outcome.out;
    return std::pair(clipped, absorbed);
  };
  const auto [none, absorbed] = counts("");
  const auto [loose, absorbed_loose] = counts(" --guard edgr --eta 3");
  const auto [tight, absorbed_tight] = counts(" --guard edgr --eta 0.5");
  EXPECT_EQ(none, 0);
  EXPECT_LT(loose, tight);
  EXPECT_LT(tight, absorbed);
  EXPECT_EQ(absorbed_loose, absorbed);
  EXPECT_EQ(absorbed_tight, absorbed);
}

TEST_F(ClassifyAndStress, GivesTheSameFilesForAnyNumberOfThreads) {
  ASSERT_EQ(tool->edict("classify m d.csv --out one --set classify.batch=8 --threads 1").code, 0);
  EXPECT_EQ(tool->read("one"), tool->read("clf"));
  ASSERT_EQ(tool->edict("stress clf d.csv --levels 5 --json 1.json --threads 1").code, 0);
  ASSERT_EQ(tool->edict("stress clf d.csv --levels 5 --json 3.json --threads 3").code, 0);
  EXPECT_EQ(tool->read("1.json"), tool->read("3.json"));
}

TEST_F(ClassifyAndStress, FineTunesAndSaysSo) {
  const Tool::Outcome outcome = tool->edict("classify m d.csv --out tuned --fine-tune 1");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("fine-tuning: before it"), std::string::npos);
  EXPECT_NE(outcome.err.find("fine-tuning: epoch   1"), std::string::npos);
  EXPECT_EQ(tool->edict("stress tuned d.csv --levels 0").code, 0);
}

TEST_F(ClassifyAndStress, RefusesInOneLineAndLeavesNothingBehind) {
  const struct {
    const char *arguments, *message;
  } cases[] = {
      {"stress m d.csv --json x", "this model has no classifier; make one with `edict classify`"},
      {"stress clf d.csv --json x --guard median", "guard 'median' is unknown"},
      {"stress clf d.csv --json x --levels 0-12", "--levels 0-12: give levels from 0 to 9"},
      {"stress clf d.csv --json x --levels 3-", "--levels 3-: give levels"},
      {"stress clf d.csv --json x --noise hum", "noise 'hum' is unknown"},
      {"stress clf d.csv --json x --sigma big", "deviation 'big' is unknown"},
      {"stress clf d.csv --json x --eta -1", "eta = -1"},
      {"stress clf d.csv --json x --rate=-2", "rate"},
      {"stress clf d.csv --json x --noise spikes --rate 7", "fraction"},
      {"stress clf d.csv --json none/x", "its folder does not exist"},
      {"classify m d.csv --out x --set model.hidden=3", "only classify"},
      {"classify m d.csv --out x --seeds 1,1", "seeds of the classifiers repeat"},
      {"classify m d.csv --out x --seeds=-1", "--seeds"},
      {"classify d.csv d.csv --out x", "d.csv"},
  };
  for (const auto& c : cases) {
    const Tool::Outcome outcome = tool->edict(c.arguments);
    EXPECT_EQ(outcome.code, 2) << c.arguments;
    EXPECT_NE(outcome.err.find(c.message), std::string::npos) << c.arguments << "\n" << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    EXPECT_FALSE(tool->exists("x")) << c.arguments;
  }
}

}  // namespace
}  // namespace edict

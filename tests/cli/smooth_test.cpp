// A model that looks from both sides, from the command line.

#include "base/json/json.h"
#include "cli/tool.h"

namespace edict {
namespace {

class Smooth : public ToolTest {
 protected:
  void make(const std::string& settings) {
    ASSERT_EQ(edict("generate synthetic --series 120 --seed 2 --out waves.csv").code, 0);
    const Outcome trained =
        edict("train waves.csv --out m --set data.validation=0.4 --set data.train=0.4 " + settings +
              kTiny);
    ASSERT_EQ(trained.code, 0) << trained.err;
    told_ = trained.out;
  }
  std::string told_;
};

TEST_F(Smooth, FillsGapsFromBothSidesOrFromThePastAlone) {
  make("--set train.smooth=true");
  EXPECT_NE(told_.find("from the end: best epoch "), std::string::npos) << told_;
  EXPECT_TRUE(std::filesystem::exists(path() / "m.backward.checkpoint"));
  EXPECT_NE(edict("info m").out.find("fills gaps from both sides"), std::string::npos);
  EXPECT_NE(edict("impute m waves.csv --out both.csv").out.find("cells filled from both sides"),
            std::string::npos);
  EXPECT_NE(
      edict("impute m waves.csv --filter --out past.csv").out.find("filled from the past alone"),
      std::string::npos);
  EXPECT_NE(read("both.csv"), read("past.csv"));
  ASSERT_EQ(edict("impute m waves.csv --threads 3 --out again.csv").code, 0);
  EXPECT_EQ(read("both.csv"), read("again.csv"));
}

TEST_F(Smooth, IsJudgedFromBothSidesWhereThatIsAsked) {
  make("--set train.smooth=true");
  const Outcome both = edict("evaluate m waves.csv --smooth --json both.json");
  EXPECT_NE(both.out.find("interpolation from both sides"), std::string::npos) << both.err;
  ASSERT_EQ(edict("evaluate m waves.csv --json past.json").code, 0);
  const auto judged = nlohmann::json::parse(read("both.json"));
  const auto before = nlohmann::json::parse(read("past.json"));
  EXPECT_NE(judged["interpolation"], before["interpolation"]);
  EXPECT_EQ(judged["extrapolation"], before["extrapolation"]);
}

TEST_F(Smooth, IsRefusedOfAModelThatLooksFromOneSide) {
  make("");
  const Outcome refused = edict("evaluate m waves.csv --smooth");
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.err.find("--smooth: m was not trained to look at both sides"),
            std::string::npos);
  EXPECT_EQ(edict("impute m waves.csv --out a.csv").out.find("side"), std::string::npos);
  ASSERT_EQ(edict("impute m waves.csv --filter --out b.csv").code, 0);
  EXPECT_EQ(read("a.csv"), read("b.csv"));
}

}  // namespace
}  // namespace edict

// `edict search` from the command line.
#include <algorithm>

#include "cli/tool.h"

namespace edict {
namespace {

class SearchToolTest : public ToolTest {
 protected:
  void SetUp() override {
    ASSERT_EQ(edict("generate synthetic --out data.csv --series 30").code, 0);
  }
  const std::string search_ =
      "search data.csv --threads 1 --rungs 2 --range train.learning_rate=1e-4:1e-1:log"
      " --range model.hidden=4,6" +
      kTiny + "--set train.epochs=6 ";
};

TEST_F(SearchToolTest, BestSettingsTrainAModel) {
  const Outcome outcome = edict(search_ + "--out s --budget 3");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("s/trials.csv: 4 runs; best is trial "), std::string::npos)
      << outcome.out;
  const std::string table = read("s/trials.csv");
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 5);  // three short runs, a long one
  EXPECT_NE(table.find(",train.learning_rate,model.hidden,failure\n"), std::string::npos);
  EXPECT_EQ(edict("train data.csv --out m --config s/best.toml").code, 0);

  // Asked again, nothing is left to do; asked for more, it goes on.
  ASSERT_EQ(edict(search_ + "--out s --budget 3").code, 0);
  EXPECT_EQ(read("s/trials.csv"), table);
  ASSERT_EQ(edict(search_ + "--out s --budget 4").code, 0);
  EXPECT_NE(read("s/trials.csv").find("\n3,0,"), std::string::npos);
}

TEST_F(SearchToolTest, BadCallsEndInOneLine) {
  for (const auto& [arguments, message] : std::vector<std::pair<std::string, std::string>>{
           {"--out s --budget soon", "--budget soon"},
           {"--out s --budget 3 --range model.hiden=3:5", "did you mean 'model.hidden'"},
           {"--out s --budget 3 --range model.hidden=5:3", "not below"},
           {"--out data.csv --budget 3", "data.csv"},
           {"--out s", "--budget"}}) {
    const Outcome outcome = edict("search data.csv" + kTiny + arguments);
    EXPECT_EQ(outcome.code, 2) << arguments;
    EXPECT_NE(outcome.err.find(message), std::string::npos) << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    EXPECT_FALSE(exists("s"));
  }
}

TEST_F(SearchToolTest, AnotherSearchInTheSameFolderIsRefused) {
  ASSERT_EQ(edict(search_ + "--out s --budget 1").code, 0);
  const Outcome outcome = edict(search_ + "--out s --budget 1 --seed 5");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.err.find("another seed"), std::string::npos) << outcome.err;
}

}  // namespace
}  // namespace edict

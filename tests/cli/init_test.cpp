// Settings that fit the data, from the prompt: chosen and said by train, written down by init,
// explained by settings.
#include <fmt/core.h>

#include <algorithm>

#include "base/json/json.h"
#include "base/json/json_text.h"
#include "cli/tool.h"
#include "data/read/source.h"
#include "model/model.h"

namespace edict {
namespace {

// Overrides that keep a run short; everything else is chosen.
const std::string kShort =
    " --set model.hidden=8 --set model.head_hidden=4 --set model.encoder_width=3"
    " --set train.epochs=3 ";

class InitTest : public ToolTest {
 protected:
  void SetUp() override { ASSERT_EQ(edict("generate synthetic --out d.csv --series 60").code, 0); }
};

TEST_F(InitTest, TrainingWithTheFileIsTrainingWithoutOne) {
  const Outcome free = edict("train d.csv --out free" + kShort);
  ASSERT_EQ(free.code, 0) << free.err;
  ASSERT_EQ(edict("init d.csv --out d.toml" + kShort).code, 0);
  const Outcome filed = edict("train d.csv --out filed --config d.toml");
  ASSERT_EQ(filed.code, 0) << filed.err;
  EXPECT_EQ(read("free"), read("filed"));
  EXPECT_EQ(read("free.metrics.csv"), read("filed.metrics.csv"));
  // The choice is said where it was made, and only there.
  EXPECT_NE(free.err.find("settings chosen for these data"), std::string::npos) << free.err;
  EXPECT_NE(free.err.find("data.time_unit="), std::string::npos) << free.err;
  EXPECT_NE(free.err.find("given, not chosen"), std::string::npos) << free.err;
  EXPECT_EQ(filed.err.find("settings chosen"), std::string::npos) << filed.err;
}

TEST_F(InitTest, TheFileExplainsEveryKey) {
  const Outcome outcome = edict("init d.csv");
  ASSERT_EQ(outcome.code, 0);
  Config config;
  for (const settings::Key& key : keys(config)) {
    const std::string name = key.name.substr(key.name.find('.') + 1);
    // A long help goes on in the next line.
    EXPECT_NE(outcome.out.find("# " + key.help.substr(0, 60)), std::string::npos) << key.name;
    EXPECT_NE(outcome.out.find("\n" + name + " = "), std::string::npos) << key.name;
  }
  EXPECT_NE(outcome.out.find("#   here: "), std::string::npos);
}

TEST_F(InitTest, ASinglePatientIsToldWhatToDo) {
  write("one.csv", "id,time,x\np,0,1\np,1,2\np,2,3\n");
  for (const char* command : {"train one.csv --out m", "init one.csv"}) {
    const Outcome outcome = edict(command);
    EXPECT_EQ(outcome.code, 2);
    EXPECT_NE(outcome.err.find("cut a long series into several"), std::string::npos) << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  }
}

TEST_F(InitTest, FiveSeriesTrain) {
  std::string csv = "id,time,x,same\n";
  for (int i = 0; i < 5; ++i)
    for (int e = 0; e < 12; ++e) csv += fmt::format("p{},{},{},7\n", i, e, (e * 3 + i) % 5);
  write("few.csv", csv);
  const Outcome outcome = edict("train few.csv --out m" + kShort);
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("'same' never changes"), std::string::npos) << outcome.err;
}

// A run that a budget ends is the beginning of the one without.
TEST_F(InitTest, ABudgetIsKeptAndEndsTheSameRunEarlier) {
  const std::string settings =
      " --set model.hidden=8 --set model.head_hidden=4 --set model.encoder_width=3 ";
  const auto begin = std::chrono::steady_clock::now();
  const Outcome outcome =
      edict("train d.csv --out m --budget 2s --set train.epochs=100000 --set train.patience=0" +
            settings);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_LT(taken.count(), 10.0);  // the machine may be busy
  EXPECT_NE(outcome.err.find("stopped by --budget after "), std::string::npos) << outcome.err;
  ASSERT_EQ(
      edict("train d.csv --out short --set train.epochs=3 --set train.patience=0" + settings).code,
      0);
  const std::string whole = read("m.metrics.csv"), part = read("short.metrics.csv");
  EXPECT_TRUE(whole.starts_with(part)) << part;

  EXPECT_EQ(edict("train d.csv --out n --budget 20").code, 2);
  const Outcome none = edict("train d.csv --out n --budget 0.001s");
  EXPECT_EQ(none.code, 2);
  EXPECT_NE(none.err.find("give more time"), std::string::npos) << none.err;
  EXPECT_FALSE(exists("n"));
}

TEST_F(InitTest, WarmStartTakesSettingsScalesAndSplitOver) {
  ASSERT_EQ(edict("train d.csv --out first" + kShort).code, 0);
  ASSERT_EQ(edict("generate synthetic --out more.csv --series 120").code, 0);
  const Outcome outcome =
      edict("train more.csv --from first --out second --set train.learning_rate=1e-3");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("continued from first"), std::string::npos) << outcome.err;
  const Model first = load_model(path() / "first"), second = load_model(path() / "second");
  EXPECT_EQ(second.protocol.standardisation.mean, first.protocol.standardisation.mean);
  EXPECT_EQ(second.config.model.hidden, 8);
  EXPECT_EQ(second.config.train.learning_rate, 1e-3);
  EXPECT_NE(second.first().params, first.first().params);
  // What was tested stays tested, what is new is divided.
  const Dataset data = open_data(path() / "more.csv"), old = open_data(path() / "d.csv");
  EXPECT_EQ(second.series_of(old, "test"), first.series_of(old, "test"));
  EXPECT_TRUE(second.split(data).unseen.empty());

  for (const char* wrong : {"--set model.hidden=9", "--config d.toml", "--model gru-d"}) {
    write("d.toml", "");
    EXPECT_EQ(edict(std::string("train d.csv --from first --out n ") + wrong).code, 2) << wrong;
  }
  EXPECT_EQ(edict("train d.csv --from first --out first --force").code, 2);
  EXPECT_FALSE(exists("n"));
}

TEST_F(InitTest, SettingsExplainsEveryKey) {
  const Outcome all = edict("settings");
  ASSERT_EQ(all.code, 0);
  const Outcome listed = edict("settings --json");
  const nlohmann::json json = parse_json(listed.out);
  Config config;
  const settings::Keys every = keys(config);
  ASSERT_EQ(json.size(), every.size());
  for (std::size_t i = 0; i < every.size(); ++i) {
    EXPECT_NE(all.out.find("  " + every[i].name + " = "), std::string::npos) << every[i].name;
    EXPECT_EQ(json[i].at("key"), every[i].name);
    EXPECT_EQ(json[i].at("allowed"), every[i].allowed());
    EXPECT_FALSE(json[i].at("meaning").get<std::string>().empty());
    EXPECT_TRUE(json[i].contains("default"));
  }
  const Outcome one = edict("settings train.epochs");
  EXPECT_NE(one.out.find("train.epochs = 100"), std::string::npos) << one.out;
  EXPECT_EQ(one.out.find("train.batch"), std::string::npos) << one.out;
  EXPECT_NE(edict("settings loss").out.find("loss.kl_form"), std::string::npos);
  const Outcome wrong = edict("settings train.epoch");
  EXPECT_EQ(wrong.code, 2);
  EXPECT_NE(wrong.err.find("did you mean 'train.epochs'?"), std::string::npos) << wrong.err;
}

}  // namespace
}  // namespace edict

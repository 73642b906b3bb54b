// Data that is unusual but not wrong: it works, or says clearly why not.
#include <fmt/core.h>

#include "cli/tool.h"
#include "model/model.h"

namespace edict {
namespace {

// Of a dozen series each of the three parts gets some, whatever their ids.
const std::string kHardlyTrained = kTiny + " --set data.train=0.5 --set data.validation=0.3 ";

class OddDataTest : public ToolTest {
 protected:
  // Trains, evaluates and predicts; all must succeed with finite output.
  void expect_works(const std::string& settings = {}, const std::string& times = "0,1") {
    const Outcome trained = edict("train data.csv --force --out m" + kHardlyTrained + settings);
    ASSERT_EQ(trained.code, 0) << trained.err;
    EXPECT_EQ(trained.out.find("nan"), std::string::npos) << trained.out;
    const Outcome predicted = edict("predict m data.csv --at " + times + " --out p.csv");
    ASSERT_EQ(predicted.code, 0) << predicted.err;
    EXPECT_EQ(read("p.csv").find("nan"), std::string::npos);
    EXPECT_EQ(edict("evaluate m data.csv").code, 0);
  }

  static std::string series(const std::string& id, double start, double gap, int events,
                            int features = 1, double value = 1) {
    std::string rows;
    for (int e = 0; e < events; ++e) {
      rows += fmt::format("{},{}", id, start + e * gap);
      for (int j = 0; j < features; ++j)
        rows += fmt::format(",{}", value + 0.1 * ((e * 7 + j) % 5));
      rows += "\n";
    }
    return rows;
  }
};

TEST_F(OddDataTest, EmptySeriesOneEventAndAFeatureNeverObserved) {
  std::string csv = "id,time,x,never\n";
  for (int i = 0; i < 20; ++i)
    for (int e = 0; e < 1 + i % 3; ++e) csv += fmt::format("s{},{},{},\n", i, e * 0.7, i * 0.1 + e);
  csv += "lonely,,,\n";
  write("data.csv", csv);
  const Outcome outcome = edict("train data.csv --out m" + kHardlyTrained);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("empty and left out: 'never'"), std::string::npos) << outcome.err;
  expect_works();
}

TEST_F(OddDataTest, ConstantFeature) {
  std::string csv = "id,time,x,c\n";
  for (int i = 0; i < 20; ++i)
    for (int e = 0; e < 4; ++e) csv += fmt::format("s{},{},{},5\n", i, e, 0.3 * e);
  write("data.csv", csv);
  expect_works();
}

TEST_F(OddDataTest, TwoHundredFeatures) {
  std::string csv = "id,time";
  for (int j = 0; j < 200; ++j) csv += fmt::format(",f{}", j);
  csv += "\n";
  for (int i = 0; i < 12; ++i) csv += series(fmt::format("s{}", i), 0, 1, 3, 200);
  write("data.csv", csv);
  expect_works();
}

TEST_F(OddDataTest, UnixTimestampsStartAtTheFirstEvent) {
  std::string csv = "id,time,x\n";
  for (int i = 0; i < 12; ++i) csv += series(fmt::format("s{}", i), 1e9 + 40 * i, 1.5, 4);
  write("data.csv", csv);
  const Outcome outcome = edict("train data.csv --out m" + kHardlyTrained);
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("Unix time in seconds, in seconds from each series' first event"),
            std::string::npos)
      << outcome.err;
  // As plain numbers they are far from 0, so the clock starts with the series as well.
  ASSERT_EQ(edict("train data.csv --time-unit none --out n" + kHardlyTrained).code, 0);
  EXPECT_NE(edict("info n").out.find("data.start               first"), std::string::npos);
}

TEST_F(OddDataTest, NanosecondsWorkWithAHint) {
  std::string csv = "id,time,x\n";
  for (int i = 0; i < 12; ++i) csv += series(fmt::format("s{}", i), 0, 1e-9, 4);
  write("data.csv", csv);
  const Outcome outcome = edict("train data.csv --out m" + kHardlyTrained);
  EXPECT_EQ(outcome.code, 0);
  EXPECT_NE(outcome.err.find("data.time_unit"), std::string::npos) << outcome.err;
  expect_works(" --set data.time_unit=2e-10", "0,1e-9,5e-9");
}

TEST_F(OddDataTest, HugeGapsAreRefusedWithTheRemedy) {
  std::string csv = "id,time,x\n";
  for (int i = 0; i < 12; ++i) csv += series(fmt::format("s{}", i), 0, 1e9, 3);
  write("data.csv", csv);
  const Outcome outcome = edict("train data.csv --out m" + kHardlyTrained +
                                " --set data.time_unit=1 --set model.propagator=gru-ode");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.err.find("data.time_unit"), std::string::npos) << outcome.err;
  EXPECT_FALSE(exists("m"));
  // Settings that are chosen for the data need no remedy.
  expect_works({}, "0,1e9,2.5e9");
}

TEST_F(OddDataTest, NegativeTimes) {
  std::string csv = "id,time,x\n";
  for (int i = 0; i < 12; ++i) csv += series(fmt::format("s{}", i), -3, 1, 6);
  write("data.csv", csv);
  expect_works();
  const Outcome outcome =
      edict("train data.csv --out n" + kHardlyTrained + " --set data.start=zero");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.err.find("data.start=first"), std::string::npos) << outcome.err;
}

TEST_F(OddDataTest, AHundredThousandEventsWithinASmallTape) {
  std::string csv = "id,time,x\n";
  for (int i = 0; i < 9; ++i) csv += series(fmt::format("s{}", i), 0, 0.5, 5);
  csv += series("long", 0, 0.5, 100000);
  write("data.csv", csv);
  // With this seed the long series is among those that train.
  expect_works(
      " --set data.train=0.6 --set data.validation=0.2 --set train.epochs=1 --set data.time_unit=1"
      " --set train.tape_megabytes=4 --set data.seed=5");
  const Model model = load_model(path() / "m");
  EXPECT_EQ(model.seen.part_of("long"), Part::train);
}

TEST_F(OddDataTest, TooFewSeriesToSplit) {
  write("data.csv", "id,time,x\na,0,1\n");
  write("c.toml", "");
  const Outcome outcome = edict("train data.csv --out m --config c.toml" + kHardlyTrained);
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.err.find("split is empty"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("choose another data.seed"), std::string::npos) << outcome.err;
  EXPECT_FALSE(exists("m"));
}

}  // namespace
}  // namespace edict

// `edict reproduce`: a report from a tiny plan, finished work reused, a failing experiment that
// does not stop the others, and a run that was killed again and again ends in the same results.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <map>
#include <thread>
#include <vector>

#include "base/json/json.h"
#include "cli/tool.h"

namespace edict {
namespace {

constexpr const char* kPlan = R"(
levels = [0, 6]
seeds = [0, 1]

[[dataset]]
name = "synthetic"
title = "Synthetic"
series = 200

[[experiment]]
method = "EDICT"
preset = "synthetic/quick.toml"
set = ["model.hidden=8", "model.head_hidden=4", "model.encoder_width=3", "model.step=0.2", "train.epochs=3", "train.batch=16"]
guards = ["none", "edgr"]

[[experiment]]
method = "Other"
preset = "own.toml"
train_seeds = [3, 4]
)";
constexpr const char* kOwn =
    "[data]\nt_cut = 9.4\n[model]\nhidden = 6\nhead_hidden = 4\nencoder_width = 3\nstep = 0.5\n"
    "[train]\nepochs = 2\nbatch = 16\n";

class ReproduceTest : public ToolTest {
 protected:
  void SetUp() override {
    write("plan.toml", kPlan);
    write("own.toml", kOwn);
  }

  std::vector<std::string> runs(const std::string& out) const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path() / out / "runs"))
      names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }

  // Starts it and ends it by force after a while; false if it was over before.
  bool killed_after(const std::string& out, int milliseconds) {
    const pid_t child = start("reproduce --config plan.toml --out " + out);
    int status = 0;
    for (int waited = 0; waited < milliseconds; ++waited) {
      if (waitpid(child, &status, WNOHANG) == child) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    return WIFSIGNALED(status);
  }
};

TEST_F(ReproduceTest, KilledAgainAndAgainEqualsNeverStopped) {
  const auto begin = std::chrono::steady_clock::now();
  const Outcome whole = edict("reproduce --config plan.toml --out whole");
  ASSERT_EQ(whole.code, 0) << whole.err;
  const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(
                        std::chrono::steady_clock::now() - begin)
                        .count();
  // Ten moments spread over more than the whole: each attempt gets a little further.
  int kills = 0;
  for (int i = 1; i <= 10; ++i) kills += killed_after("parts", static_cast<int>(took * i / 14));
  EXPECT_GE(kills, 1) << "it was over before it could be killed";
  const Outcome rest = edict("reproduce --config plan.toml --out parts");
  ASSERT_EQ(rest.code, 0) << rest.err;
  for (const char* file : {"results.json", "results.md", "index.html"})
    EXPECT_EQ(read(std::string("whole/") + file), read(std::string("parts/") + file)) << file;
  ASSERT_EQ(runs("whole"), runs("parts"));
  for (const std::string& run : runs("whole"))
    for (const char* file : {"model", "stress.json", "evaluate.json", "index.html"})
      EXPECT_EQ(read("whole/runs/" + run + "/" + file), read("parts/runs/" + run + "/" + file));
}

TEST_F(ReproduceTest, EveryNumberLeadsToARunWithItsCommands) {
  const Outcome outcome = edict("reproduce --config plan.toml --out out");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("ours"), std::string::npos);
  EXPECT_NE(outcome.out.find("out/index.html"), std::string::npos);
  EXPECT_EQ(runs("out").size(), 3u);  // EDICT, and Other from two seeds
  const auto results = nlohmann::json::parse(read("out/results.json"));
  int numbers = 0;
  for (const char* table : {"calibration", "accuracy", "auroc"})
    for (const auto& row : results[table]) {
      if (row["ours"].is_null()) continue;
      ++numbers;
      ASSERT_FALSE(row["runs"].empty());
      for (const std::string run : row["runs"]) {
        EXPECT_TRUE(exists("out/runs/" + run + "/config.toml"));
        EXPECT_TRUE(exists("out/runs/" + run + "/index.html"));
      }
    }
  // Calibration: 2 methods × 4; each score: (no noise, 0, 6) × (EDICT, with EDGR, Other).
  EXPECT_EQ(numbers, 2 * 4 + 2 * 3 * 3);

  // The commands, done by hand in a copy of the folder, give the same model and the same sweep.
  const std::string run = results["accuracy"][0]["runs"][0];
  const std::string commands = read("out/runs/" + run + "/command.txt");
  const std::string stress = read("out/runs/" + run + "/stress.json"),
                    model = read("out/runs/" + run + "/model");
  const std::string line = "cd '" + (path() / "out" / "runs" / run).string() +
                           "' && edict() { '" EDICT_TOOL
                           "' \"$@\"; } && set -e && . ./command.txt "
                           ">/dev/null 2>&1";
  ASSERT_EQ(std::system(line.c_str()), 0) << commands;
  EXPECT_EQ(read("out/runs/" + run + "/model"), model);
  auto again = nlohmann::json::parse(read("out/runs/" + run + "/stress.json"));
  auto before = nlohmann::json::parse(stress);
  before.erase("inputs");
  // The command also says which series it took, which a study need not.
  EXPECT_EQ(again.at("split"), "test");
  EXPECT_EQ(again.at("note"), "");
  again.erase("split");
  again.erase("note");
  EXPECT_EQ(again, before);
}

TEST_F(ReproduceTest, OnlyWhatASettingTouchesIsDoneAgain) {
  ASSERT_EQ(edict("reproduce --config plan.toml --out out").code, 0);
  const auto before = runs("out");
  std::map<std::string, std::filesystem::file_time_type> models;
  for (const std::string& run : before)
    models[run] = last_write_time(path() / "out" / "runs" / run / "model");
  std::string plan = kPlan;
  plan.replace(plan.find("levels = [0, 6]"), 15, "levels = [0, 3]");  // only the sweeps
  write("plan.toml", plan);
  ASSERT_EQ(edict("reproduce --config plan.toml --out out").code, 0);
  EXPECT_EQ(runs("out"), before);
  for (const std::string& run : before)
    EXPECT_EQ(last_write_time(path() / "out" / "runs" / run / "model"), models[run]);
  const auto results = nlohmann::json::parse(read("out/results.json"));
  EXPECT_EQ(results["levels"], nlohmann::json({0, 3}));
  plan.replace(plan.find("train.epochs=3"), 14, "train.epochs=2");  // EDICT alone
  write("plan.toml", plan);
  ASSERT_EQ(edict("reproduce --config plan.toml --out out").code, 0);
  EXPECT_EQ(runs("out").size(), before.size() + 1);
}

// A field taken out of a file is no reason to fail, and the number comes back.
TEST_F(ReproduceTest, ADamagedStageIsDoneAgain) {
  ASSERT_EQ(edict("reproduce --config plan.toml --out out").code, 0);
  const std::string results = read("out/results.json"), page = read("out/index.html");
  for (const std::string& run : runs("out"))
    for (const auto& [stage, key] : {std::pair("stress", "guards"), std::pair("train", "epochs"),
                                     std::pair("evaluate", "extrapolation")}) {
      const std::string file = "out/runs/" + run + "/" + stage + ".json";
      auto json = nlohmann::json::parse(read(file));
      json.erase(key);
      write(file, json.dump());
    }
  const Outcome outcome = edict("reproduce --config plan.toml --out out");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(read("out/results.json"), results);
  EXPECT_EQ(read("out/index.html"), page);
}

TEST_F(ReproduceTest, AFailingExperimentIsListedAndTheOthersGoOn) {
  write("plan.toml", std::string(kPlan) +
                         "\n[[experiment]]\nmethod = \"Broken\"\n"
                         "preset = \"missing.toml\"\n");
  const Outcome outcome = edict("reproduce --config plan.toml --out out");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_NE(outcome.err.find("1 of 4 runs failed"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("Broken on synthetic: preset missing.toml does not exist"),
            std::string::npos)
      << outcome.err;
  const auto results = nlohmann::json::parse(read("out/results.json"));
  EXPECT_EQ(results["calibration"].size(), 8u);
  EXPECT_NE(read("out/index.html").find("Broken on synthetic failed"), std::string::npos);
}

TEST_F(ReproduceTest, BadPlansEndInOneLine) {
  const struct {
    std::string plan, message;
  } cases[] = {
      {"levels = [0", "plan.toml:"},
      {"levels = [0, 12]\nseeds = [0]\n", "level 12"},
      {"levels = [0]\nseeds = [0]\nlevel = 3\n", "unknown key 'level'; did you mean 'levels'"},
      {"levels = [0]\nseeds = [0]\n[[dataset]]\nname = \"other\"\n", "needs a file"},
      {"levels = [0]\nseeds = [0]\n", "at least one [[experiment]]"},
  };
  for (const auto& bad : cases) {
    write("plan.toml", bad.plan);
    const Outcome outcome = edict("reproduce --config plan.toml --out out");
    EXPECT_EQ(outcome.code, 2) << bad.plan;
    EXPECT_NE(outcome.err.find(bad.message), std::string::npos) << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    EXPECT_FALSE(exists("out"));
  }
  const Outcome unknown = edict("reproduce --quick --datasets sinthetic --out out");
  EXPECT_EQ(unknown.code, 2);
  EXPECT_NE(unknown.err.find("did you mean 'synthetic'"), std::string::npos) << unknown.err;
  const Outcome missing = edict("reproduce --datasets physionet --data nowhere --out out");
  EXPECT_EQ(missing.code, 2);
  EXPECT_NE(missing.err.find("nowhere/physionet.csv is not there"), std::string::npos)
      << missing.err;
  EXPECT_FALSE(exists("out"));
  write("taken", "a file");
  const Outcome taken = edict("reproduce --quick --out taken");
  EXPECT_EQ(taken.code, 2);
  EXPECT_NE(taken.err.find("taken: cannot be made a folder"), std::string::npos) << taken.err;
}

}  // namespace
}  // namespace edict

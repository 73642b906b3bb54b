// Packed data, shards and claims from the command line.
#include <algorithm>
#include <thread>

#include "cli/tool.h"

namespace edict {
namespace {

class ScaleTest : public ToolTest {
 protected:
  void SetUp() override {
    ASSERT_EQ(edict("generate synthetic --out data.csv --series 40").code, 0);
  }
  void train() { ASSERT_EQ(edict("train data.csv --out m --set train.epochs=1" + kTiny).code, 0); }
};

TEST_F(ScaleTest, PackedDataAreTakenWhereATableIs) {
  const Outcome packed = edict("pack data.csv --out data.edict");
  ASSERT_EQ(packed.code, 0) << packed.err;
  EXPECT_TRUE(packed.out.starts_with("data.edict: 40 series, ")) << packed.out;
  // Synthetic's ids are in order already, so that it is the same dataset in every respect.
  const auto same = [&](const std::string& before, const std::string& after,
                        const std::string& result) {
    ASSERT_EQ(edict(before + " data.csv " + after).code, 0);
    const std::string expected = read(result);
    std::filesystem::remove_all(path() / result);
    const Outcome outcome = edict(before + " data.edict " + after);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(read(result), expected) << before;
    EXPECT_EQ(outcome.err.find("note:"), std::string::npos) << outcome.err;
  };
  same("train", "--out m --force --set train.epochs=2" + kTiny, "m");
  same("predict m", "--ahead 1,2 --out p.csv", "p.csv");
  same("impute m", "--out i.csv", "i.csv");
  same("classify m", "--out c", "c");
  const std::string info = edict("info data.csv").out;
  const std::string packed_info = edict("info data.edict").out;
  EXPECT_EQ(packed_info.substr(packed_info.find('\n')), info.substr(info.find('\n')));
}

TEST_F(ScaleTest, PackingKeepsHowATableWasRead) {
  write("ward.csv",
        "patient;zeit;puls;farbe\n1;01.03.2024 08:30;80,5;rot\n1;01.03.2024 10:00;84;blau\n"
        "0;02.03.2024 10:00;70;rot\n");
  ASSERT_EQ(edict("pack ward.csv --out ward.edict").code, 0);
  const std::string info = edict("info ward.edict").out;
  EXPECT_NE(info.find("01.03.2024 08:30 to 02.03.2024 10:00"), std::string::npos) << info;
  EXPECT_NE(info.find("farbe=blau"), std::string::npos) << info;
  const Outcome again = edict("info ward.edict --id patient");
  EXPECT_EQ(again.code, 2);
  EXPECT_NE(again.err.find("--id is chosen when data are packed"), std::string::npos) << again.err;
  EXPECT_EQ(edict("pack ward.csv --out ward.csv").code, 2) << "an output is never an input";
  EXPECT_EQ(edict("pack missing.csv --out x.edict").code, 2);
  EXPECT_FALSE(exists("x.edict"));
}

TEST_F(ScaleTest, ShardsJoinedAreTheBytesOfOneRun) {
  train();
  write("odd.csv", read("data.csv") + "\"z,\"\"9\n\",1,1,0.5,,\n");
  for (const std::string& command :
       {std::string("predict m odd.csv --ahead 1,2 --guard edgr --clips clips-NAME.csv"),
        std::string("predict m odd.csv --at events"),
        std::string("impute m odd.csv --deviations")}) {
    const auto run = [&](const std::string& name, const std::string& more) {
      std::string line = command;
      if (const auto at = line.find("NAME"); at != std::string::npos) line.replace(at, 4, name);
      const Outcome outcome = edict(line + " --out " + name + ".csv" + more);
      ASSERT_EQ(outcome.code, 0) << outcome.err;
    };
    run("whole", "");
    for (const char* const k : {"1", "2", "3"}) run(k, std::string(" --shard ") + k + "/3");
    const Outcome joined = edict("join 3.csv 1.csv 2.csv --out joined.csv");
    ASSERT_EQ(joined.code, 0) << joined.err;
    EXPECT_EQ(read("joined.csv"), read("whole.csv")) << command;
    EXPECT_NE(read("1.csv"), read("2.csv"));
    if (command.find("clips") == std::string::npos) continue;
    ASSERT_EQ(edict("join clips-1.csv clips-2.csv clips-3.csv --out clips.csv").code, 0);
    EXPECT_EQ(read("clips.csv"), read("clips-whole.csv"));
  }
  const auto refused = [&](const std::string& arguments, const std::string& message) {
    const Outcome outcome = edict(arguments);
    EXPECT_EQ(outcome.code, 2) << arguments;
    EXPECT_NE(outcome.err.find(message), std::string::npos) << outcome.err;
  };
  refused("join 1.csv 3.csv --out x.csv", "share 2 of 3 is missing");
  refused("join 1.csv 1.csv 2.csv 3.csv --out x.csv", "as another file is too");
  refused("join whole.csv --out x.csv", "give what --shard wrote");
  refused("predict m odd.csv --ahead 1 --out x.csv --shard 4/3", "--shard 4/3");
  refused("predict m odd.csv --ahead 1 --json x.json --shard 1/3", "CSV");
  refused("predict m odd.csv --at events --top 3 --out x.csv --shard 1/3", "--top");
}

// The table of a search without the column of seconds.
std::string without_seconds(const std::string& table) {
  std::string result;
  std::size_t column = 0;
  for (const char c : table) {
    if (c == '\n') column = 0;
    if (c == ',') ++column;
    if (column != 3 || c == ',') result += c;
  }
  return result;
}

// Four workers, one of them killed in the middle of a run.
TEST_F(ScaleTest, WorkersThatClaimFindTheTableOfOne) {
  const std::string search =
      "search data.csv --threads 1 --rungs 2 --budget 7 --range model.hidden=4,6,8"
      " --range train.learning_rate=1e-4:1e-1:log" +
      kTiny + "--set train.epochs=6 ";
  ASSERT_EQ(edict(search + "--out alone").code, 0);
  const pid_t killed = start(search + "--claim --out team");
  for (int i = 0; i < 60000 && !exists("team/trial-0000"); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  end(killed, SIGKILL);  // in its first run
  // Its claim would count for a minute; as if that had passed:
  if (exists("team/claims"))
    for (const auto& entry : std::filesystem::directory_iterator(path() / "team/claims"))
      std::filesystem::last_write_time(
          entry.path(), std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
  std::vector<std::thread> workers;
  std::vector<int> codes(3, -1);
  for (std::size_t w = 0; w < codes.size(); ++w)
    workers.emplace_back([&, w] {
      const std::string line = "cd '" + path().string() + "' && '" EDICT_TOOL "' " + search +
                               "--claim --out team >w" + std::to_string(w) + " 2>&1";
      codes[w] = std::system(line.c_str());
    });
  for (std::thread& worker : workers) worker.join();
  for (std::size_t w = 0; w < codes.size(); ++w)
    EXPECT_EQ(codes[w], 0) << read("w" + std::to_string(w));
  EXPECT_EQ(without_seconds(read("team/trials.csv")), without_seconds(read("alone/trials.csv")));
  EXPECT_EQ(read("team/best.toml"), read("alone/best.toml"));
}

TEST_F(ScaleTest, MembersAndFoldsAreShared) {
  const auto team = [&](const std::string& arguments) {
    std::vector<std::thread> workers;
    for (int w = 0; w < 2; ++w)
      workers.emplace_back([&, w] {
        const std::string line = "cd '" + path().string() + "' && '" EDICT_TOOL "' " + arguments +
                                 " >w" + std::to_string(w) + " 2>&1";
        EXPECT_EQ(std::system(line.c_str()), 0) << read("w" + std::to_string(w));
      });
    for (std::thread& worker : workers) worker.join();
  };
  const std::string tiny = kTiny + "--set train.epochs=2 --threads 1 ";
  ASSERT_EQ(edict("train data.csv --members 3 --out alone" + tiny).code, 0);
  team("train data.csv --members 3 --claim --out team" + tiny);
  EXPECT_EQ(read("team"), read("alone"));

  const std::string folds = "train data.csv --folds 3" + tiny;
  ASSERT_EQ(edict(folds + "--out folds-alone --json alone.json").code, 0);
  team(folds + "--claim --out folds-team");
  ASSERT_EQ(edict(folds + "--claim --out folds-team --json team.json").code, 0);
  EXPECT_EQ(read("team.json"), read("alone.json"));
  const Outcome other = edict(folds + "--claim --out folds-team --set train.seed=5");
  EXPECT_EQ(other.code, 2);
  EXPECT_NE(other.err.find("other data or settings"), std::string::npos) << other.err;
  EXPECT_EQ(edict("train data.csv --claim --out x" + tiny).code, 2);
}

}  // namespace
}  // namespace edict

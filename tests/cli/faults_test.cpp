// The disk is full, a file cannot be renamed, memory is gone: at every place in turn. A command
// then ends in the old state or in the new one, with one line and without litter.
#ifdef EDICT_FAULTS  // not with a sanitizer, whose runtime must be loaded first

#include <map>

#include "cli/tool.h"

namespace edict {
namespace {

using Files = std::map<std::string, std::string>;

class Faults : public testing::Test {
 protected:
  // What lies in the folder; temporary files too, so that litter is seen.
  static Files files(const Tool& tool) {
    Files result;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(tool.path())) {
      const std::string name = std::filesystem::relative(entry.path(), tool.path()).string();
      if (entry.is_regular_file() && name != ".out" && name != ".err" && name != "fired")
        result[name] = tool.read(name);
    }
    return result;
  }

  static void put(const Tool& tool, const Files& files) {
    for (const auto& entry : std::filesystem::directory_iterator(tool.path()))
      std::filesystem::remove_all(entry.path());
    for (const auto& [name, bytes] : files) tool.write(name, bytes);
  }

  static Tool::Outcome with_fault(const Tool& tool, const std::string& command,
                                  const std::string& call, long number) {
    return tool.edict(
        command, "env LD_PRELOAD='" EDICT_FAULTS "' EDICT_FAULT_LOG=fired EDICT_FAULT=" + call +
                     ":" + std::to_string(number));
  }

  // Every file is as before or as after; none is beside them. Where it is resumed, it becomes what
  // it would have been.
  static void expect_old_or_new(const Tool& tool, const Files& before, const Files& after,
                                const Tool::Outcome& outcome, const std::string& where) {
    EXPECT_TRUE(outcome.code == 0 || outcome.code == 1 || outcome.code == 2)
        << where << ": " << outcome.code << outcome.err;
    const Files now = files(tool);
    if (outcome.code == 0) {
      EXPECT_EQ(now, after) << where << " said that it was done";
      return;
    }
    EXPECT_NE(outcome.err.find("edict: "), std::string::npos) << where << outcome.err;
    for (const auto& [name, bytes] : now) {
      const auto old = before.find(name), made = after.find(name);
      EXPECT_TRUE((old != before.end() && old->second == bytes) ||
                  (made != after.end() && made->second == bytes))
          << where << ": " << name;
    }
    for (const auto& [name, bytes] : before)
      EXPECT_TRUE(now.count(name)) << where << ": " << name << " is gone";
  }

  // `numbers(n)`: which call fails after the n-th.
  static long sweep(const std::string& command, const Files& before, const std::string& call,
                    long (*next)(long)) {
    Tool tool;
    put(tool, before);
    const Tool::Outcome undisturbed = tool.edict(command);
    EXPECT_EQ(undisturbed.code, 0) << undisturbed.err;
    const Files after = files(tool);
    long fired = 0;
    for (long number = 1; number < 2'000'000; number = next(number)) {
      put(tool, before);
      const Tool::Outcome outcome = with_fault(tool, command, call, number);
      if (!tool.exists("fired")) {
        EXPECT_EQ(files(tool), after) << command;
        return fired;
      }
      ++fired;
      expect_old_or_new(tool, before, after, outcome,
                        command + ", " + call + " " + std::to_string(number));
      if (testing::Test::HasFailure()) return fired;
    }
    return fired;
  }
  static long each(long number) { return number + 1; }
  // There are thousands of allocations, many of them alike.
  static long some(long number) { return number + 31 + number / 50; }

  static void SetUpTestSuite() {
    Tool tool;
    ASSERT_EQ(tool.edict("generate synthetic --out d.csv --series 40 --seed 3").code, 0);
    ASSERT_EQ(tool.edict("train d.csv --out m" + kTiny).code, 0);
    start = new Files(files(tool));
    (*start)["new.csv"] = "what was there before\n";
  }
  static void TearDownTestSuite() { delete start; }
  static Files* start;

  static void sweep_all(const std::string& command) {
    long fired = 0;
    for (const char* call : {"write", "fsync", "rename", "open"})
      fired += sweep(command, *start, call, each);
    EXPECT_GE(fired, 3) << command << ": nothing was disturbed";
    sweep(command, *start, "mmap", each);
  }
  // Not where matrices are resized: Eigen 3.4 has then freed the old one, and frees it again.
  static void sweep_memory(const std::string& command) {
    EXPECT_GE(sweep(command, *start, "malloc", some), 3) << command;
  }
};
Files* Faults::start = nullptr;

TEST_F(Faults, Generate) {
  sweep_all("generate synthetic --series 30 --out new.csv");
  sweep_memory("generate synthetic --series 30 --out new.csv");
}
TEST_F(Faults, Predict) { sweep_all("predict m d.csv --at 3 --threads 1 --out new.csv"); }
TEST_F(Faults, Classify) {
  sweep_all("classify m d.csv --threads 1 --set classify.epochs=1 --out clf");
}
TEST_F(Faults, Pack) {
  sweep_all("pack d.csv --out d.edict");
  sweep_memory("pack d.csv --out d.edict");
}
TEST_F(Faults, Impute) { sweep_all("impute m d.csv --threads 1 --out new.csv"); }
TEST_F(Faults, Calibrate) { sweep_all("calibrate m d.csv --threads 1 --out calibrated"); }
TEST_F(Faults, Evaluate) { sweep_all("evaluate m d.csv --threads 1 --json new.json"); }
TEST_F(Faults, Explore) { sweep_all("explore m d.csv --threads 1 --out page.html"); }
TEST_F(Faults, Init) {
  sweep_all("init d.csv --out d.toml");
  sweep_memory("init d.csv --out d.toml");
}
TEST_F(Faults, Plot) { sweep_all("plot m d.csv --threads 1 --out page.html"); }

// What a training that was broken off left behind is gone on from, to the same model.
TEST_F(Faults, TrainingIsResumed) {
  const std::string command = "train d.csv --threads 1 --out n" + kTiny;
  Tool tool;
  put(tool, *start);
  ASSERT_EQ(tool.edict(command).code, 0);
  const Files after = files(tool);
  for (const char* call : {"write", "fsync", "rename", "open"})
    for (long number = 1;; ++number) {
      put(tool, *start);
      const Tool::Outcome outcome = with_fault(tool, command, call, number);
      if (!tool.exists("fired")) {
        EXPECT_GT(number, 3) << call << " was hardly ever disturbed";
        break;
      }
      const std::string where = std::string(call) + " " + std::to_string(number);
      if (outcome.code == 0) {  // it could do without, as without the fsync of a folder
        ASSERT_EQ(files(tool), after) << where;
        continue;
      }
      ASSERT_NE(outcome.err.find("edict: "), std::string::npos) << where << outcome.err;
      const Tool::Outcome resumed = tool.edict(command + " --resume");
      ASSERT_EQ(resumed.code, 0) << where << resumed.err;
      ASSERT_EQ(files(tool), after) << where;
    }
}

}  // namespace
}  // namespace edict

#endif

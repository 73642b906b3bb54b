// A run that was killed and resumed ends in the same bits as one that never stopped.
#include <csignal>
#include <thread>

#include "cli/tool.h"

namespace edict {
namespace {

class ResumeTest : public ToolTest {
 protected:
  const std::string settings_ =
      " --set model.hidden=12 --set model.head_hidden=6 --set model.encoder_width=4"
      " --set train.epochs=8 --set train.batch=64 --set train.forecast=0.5"
      " --set train.learning_rate=0.003 --set train.schedule=cosine ";

  void SetUp() override {
    ASSERT_EQ(edict("generate synthetic --out data.csv --series 400").code, 0);
  }

  // Starts edict and signals it once `file` exists and `delay` has passed after that.
  int interrupted(const std::string& out, const std::string& file, int signal, int delay_ms) {
    const pid_t child = start("train data.csv --resume --out " + out + settings_);
    for (int waited = 0; !exists(file) && waited < 60000; ++waited)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::this_thread::sleep_for(std::chrono::milliseconds(delay_ms));
    kill(child, signal);
    int status = 0;
    waitpid(child, &status, 0);
    return status;
  }
};

TEST_F(ResumeTest, KilledTwiceEqualsNeverStopped) {
  ASSERT_EQ(edict("train data.csv --out whole" + settings_).code, 0);
  int kills = 0;
  for (int delay : {0, 37}) {
    const int status = interrupted("parts", "parts.checkpoint", SIGKILL, delay);
    kills += WIFSIGNALED(status);
  }
  EXPECT_GE(kills, 1) << "the run was over before it could be killed";
  ASSERT_EQ(edict("train data.csv --resume --out parts" + settings_).code, 0);
  EXPECT_EQ(read("whole"), read("parts"));
  EXPECT_EQ(read("whole.metrics.csv"), read("parts.metrics.csv"));
}

TEST_F(ResumeTest, CtrlCLeavesAModelAndACheckpoint) {
  const int status = interrupted("m", "m.checkpoint", SIGINT, 0);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 130);
  EXPECT_NE(read(".err").find("--resume goes on"), std::string::npos) << read(".err");
  EXPECT_TRUE(exists("m.checkpoint"));
  EXPECT_EQ(edict("evaluate m data.csv").code, 0);
  EXPECT_EQ(edict("evaluate m.checkpoint data.csv").code, 0);
}

TEST_F(ResumeTest, SameBitsForEveryThreadCount) {
  ASSERT_EQ(edict("train data.csv --out one" + settings_).code, 0);
  ASSERT_EQ(edict("train data.csv --out two" + settings_ + " --threads 2").code, 0);
  ASSERT_EQ(edict("train data.csv --out five" + settings_ + " --threads 5").code, 0);
  EXPECT_EQ(read("one"), read("two"));
  EXPECT_EQ(read("one"), read("five"));
  for (const char* threads : {"1", "3"})
    ASSERT_EQ(
        edict("evaluate one data.csv --json e" + std::string(threads) + " --threads " + threads)
            .code,
        0);
  EXPECT_EQ(read("e1"), read("e3"));
}

TEST_F(ResumeTest, MoreEpochsContinueAFinishedRun) {
  ASSERT_EQ(edict("train data.csv --out m" + settings_).code, 0);
  ASSERT_EQ(edict("train data.csv --out m --resume" + settings_ + " --set train.epochs=10").code,
            0);
  const std::string metrics = read("m.metrics.csv");
  EXPECT_EQ(std::count(metrics.begin(), metrics.end(), '\n'), 11);
}

}  // namespace
}  // namespace edict

// A run that was killed and resumed ends in the same bits as one that never stopped, and so does
// one with another number of threads.
#include <chrono>
#include <csignal>
#include <thread>

#include "base/generator.h"
#include "cli/tool.h"

namespace edict {
namespace {

class ResumeTest : public ToolTest {
 protected:
  // 280 training series: batches of eight chunks and of one.
  const std::string settings_ =
      " --set model.hidden=12 --set model.head_hidden=6 --set model.encoder_width=4"
      " --set train.epochs=8 --set train.batch=256 --set train.chunk=32 --set train.forecast=0.5"
      " --set train.thin=0.1 --set train.learning_rate=0.003 --set train.schedule=cosine ";

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

// Killed at up to ten random moments, each within the time that the whole run takes from where the
// last kill left it; at every one of them the files are whole.
TEST_F(ResumeTest, KilledAtAnyMomentEqualsNeverStopped) {
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_EQ(edict("train data.csv --out whole --threads 3" + settings_).code, 0);
  const double whole_ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  Generator rng(20);
  int kills = 0;
  for (int attempt = 0; attempt < 10; ++attempt) {
    const pid_t child = start("train data.csv --resume --out parts --threads 3" + settings_);
    std::this_thread::sleep_for(
        std::chrono::duration<double, std::milli>(rng.uniform(0, 0.4 * whole_ms)));
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    kills += WIFSIGNALED(status);
    if (exists("parts.checkpoint")) {
      ASSERT_NE(edict("info parts.checkpoint").err.find("is the checkpoint of a training"),
                std::string::npos)
          << "a file that is not whole";
    }
    if (!WIFSIGNALED(status)) break;
  }
  EXPECT_GE(kills, 1) << "the run was over before it could be killed";
  ASSERT_EQ(edict("train data.csv --resume --out parts" + settings_).code, 0);
  EXPECT_EQ(read("whole"), read("parts"));
  EXPECT_EQ(read("whole.checkpoint"), read("parts.checkpoint"));
  EXPECT_EQ(read("whole.metrics.csv"), read("parts.metrics.csv"));
}

TEST_F(ResumeTest, CtrlCLeavesAModelAndACheckpoint) {
  const int status = interrupted("m", "m.checkpoint", SIGINT, 0);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 130);
  EXPECT_NE(read(".err").find("--resume goes on"), std::string::npos) << read(".err");
  EXPECT_TRUE(exists("m.checkpoint"));
  EXPECT_EQ(edict("evaluate m data.csv").code, 0);
  EXPECT_EQ(edict("evaluate m.checkpoint data.csv").code, 2);
}

TEST_F(ResumeTest, SameBitsForEveryThreadCount) {
  for (const std::string threads : {"1", "2", "3", "8"}) {
    const std::string with = " --threads " + threads;
    ASSERT_EQ(edict("train data.csv --out m" + threads + settings_ + with).code, 0);
    ASSERT_EQ(edict("evaluate m1 data.csv --json e" + threads + with).code, 0);
    ASSERT_EQ(edict("classify m1 data.csv --fine-tune 2 --out c" + threads + with).code, 0);
    EXPECT_EQ(read("m" + threads), read("m1")) << threads;
    EXPECT_EQ(read("m" + threads + ".metrics.csv"), read("m1.metrics.csv")) << threads;
    EXPECT_EQ(read("e" + threads), read("e1")) << threads;
    EXPECT_EQ(read("c" + threads), read("c1")) << threads;
  }
}

TEST_F(ResumeTest, MoreEpochsContinueAFinishedRunAtAConstantRate) {
  const std::string constant = settings_ + " --set train.schedule=constant";
  ASSERT_EQ(edict("train data.csv --out m" + constant + " --set train.epochs=3").code, 0);
  ASSERT_EQ(edict("train data.csv --out m --resume" + constant + " --set train.epochs=5").code, 0);
  ASSERT_EQ(edict("train data.csv --out whole" + constant + " --set train.epochs=5").code, 0);
  EXPECT_EQ(read("m.metrics.csv"), read("whole.metrics.csv"));
  EXPECT_EQ(read("m"), read("whole"));
}

// With everything that may replace a part of the published model.
TEST_F(ResumeTest, WithEveryOptionTooAndItsModelAnswers) {
  const std::string options =
      settings_ +
      " --set model.propagator=closed-form --set model.recall=true --set model.absorb=bounded"
      " --set train.whole_series=true --set train.schedule=constant";
  ASSERT_EQ(edict("train data.csv --out m" + options + " --set train.epochs=2").code, 0);
  ASSERT_EQ(edict("train data.csv --out m --resume" + options + " --set train.epochs=3").code, 0);
  ASSERT_EQ(edict("train data.csv --out whole" + options + " --set train.epochs=3").code, 0);
  EXPECT_EQ(read("m"), read("whole"));
  EXPECT_EQ(edict("evaluate m data.csv").code, 0);
  EXPECT_EQ(edict("predict m data.csv --at 0:1:12 --out p.csv").code, 0);
  EXPECT_EQ(edict("classify m data.csv --out c").code, 0);
  EXPECT_EQ(edict("stress c data.csv --levels 0,9 --seeds 0").code, 0);
}

TEST_F(ResumeTest, MoreEpochsAreRefusedWhereTheRateWouldJump) {
  ASSERT_EQ(edict("train data.csv --out m" + settings_ + " --set train.epochs=2").code, 0);
  const std::string before = read("m") + read("m.checkpoint") + read("m.metrics.csv");
  const Outcome outcome =
      edict("train data.csv --out m --resume" + settings_ + " --set train.epochs=4");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.err.find("keep train.epochs, or start without --resume"), std::string::npos)
      << outcome.err;
  EXPECT_EQ(read("m") + read("m.checkpoint") + read("m.metrics.csv"), before);
}

// Without its checkpoint a finished model cannot be continued, and is not trained over.
TEST_F(ToolTest, AModelWithoutItsCheckpointIsNotReplacedByResuming) {
  ASSERT_EQ(edict("generate synthetic --out d.csv --series 40").code, 0);
  ASSERT_EQ(edict("train d.csv --out m" + kTiny).code, 0);
  const std::string model = read("m");
  std::filesystem::remove(path() / "m.checkpoint");
  const Outcome outcome = edict("train d.csv --out m --resume" + kTiny);
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.err.find("m.checkpoint is missing"), std::string::npos) << outcome.err;
  EXPECT_EQ(read("m"), model);
}

}  // namespace
}  // namespace edict

// Everything that takes a model takes an ensemble, and its training can be killed anywhere.
#include <csignal>

#include "cli/tool.h"

namespace edict {
namespace {

class EnsembleTest : public ToolTest {
 protected:
  void SetUp() override { ASSERT_EQ(edict("generate synthetic --out d.csv --series 120").code, 0); }
};

TEST_F(EnsembleTest, EveryCommandTakesIt) {
  const Outcome trained = edict("train d.csv --members 3 --out m" + kTiny);
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_NE(trained.err.find("member 2 of 3"), std::string::npos) << trained.err;
  EXPECT_NE(trained.out.find("m: an ensemble of 3 members"), std::string::npos) << trained.out;
  const Outcome info = edict("info m");
  EXPECT_NE(info.out.find("an ensemble of 3 members, trained from the seeds 0 to 2"),
            std::string::npos)
      << info.out;
  for (const std::string command :
       {"evaluate m d.csv --guard edgr", "predict m d.csv --at 1,5 --out p.csv --guard edgr",
        "explore m d.csv --out p.html", "classify m d.csv --out c --set classify.epochs=2",
        "stress c d.csv --levels 0,9 --guard none,edgr", "predict c d.csv --classes --out k.csv",
        "info c"}) {
    const Outcome outcome = edict(command);
    EXPECT_EQ(outcome.code, 0) << command << "\n" << outcome.err;
  }
}

TEST_F(EnsembleTest, KilledAnywhereEqualsNeverStopped) {
  const std::string settings = kTiny +
                               " --members 3 --set train.epochs=6 --set model.step=0.05 "
                               "--set train.calibrate=true";
  ASSERT_EQ(edict("train d.csv --out whole --threads 2" + settings).code, 0);
  int kills = 0;
  for (const std::string member : {"1", "2", "3"}) {
    const pid_t child = start("train d.csv --resume --out parts" + settings);
    ASSERT_TRUE(comes("parts.members/" + member + ".model.checkpoint", "edict"));
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    kills += WIFSIGNALED(status);
  }
  EXPECT_GE(kills, 1) << "the run was over before it could be killed";
  ASSERT_EQ(edict("train d.csv --resume --out parts" + settings).code, 0);
  EXPECT_EQ(read("whole"), read("parts"));
}

TEST_F(EnsembleTest, WithoutItsMembersIsNotTrainedOn) {
  ASSERT_EQ(edict("train d.csv --out m" + kTiny).code, 0);
  const Outcome more = edict("train d.csv --resume --members 3 --out m" + kTiny);
  EXPECT_EQ(more.code, 2);
  EXPECT_NE(more.err.find("m.members is missing"), std::string::npos) << more.err;
}

}  // namespace
}  // namespace edict

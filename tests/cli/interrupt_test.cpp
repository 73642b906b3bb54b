// Ctrl-C and SIGTERM leave every command within about a second, with their own exit codes and
// nothing half-written.
#include <fmt/core.h>
#include <sys/stat.h>

#include <optional>

#include "cli/tool.h"

namespace edict {
namespace {

// A closed form crosses any gap at once.
const std::string kStepped = " --set model.propagator=gru-ode";

// The machine may be busy with other tests; what is told apart is a second from the hour that the
// commands below would take.
#ifdef EDICT_SANITIZED  // everything takes up to ten times as long
constexpr double kSoon = 30.0;
#else
constexpr double kSoon = 5.0;
#endif

struct Command {
  const char* name;
  std::string arguments;

  friend void PrintTo(const Command& command, std::ostream* out) { *out << command.name; }
};

class Interrupt : public testing::TestWithParam<Command> {
 protected:
  static void SetUpTestSuite() {
    tool.emplace();
    // Gaps of hundreds of thousands of solver steps: training on a batch of these takes an hour.
    tool->write("slow.csv", table_with_gaps(2e5));
    // Without training a state that has come to rest is left there. With steps as short as this
    // model's it is on its way for all of these gaps.
    tool->write("near.csv", table_with_gaps(1e-3));
    tool->write("far.csv", table_with_gaps(10, 60));
    ASSERT_EQ(tool->edict("train near.csv --out m" + kStepped + kTiny +
                          "--set data.time_unit=1 --set model.step=1e-4")
                  .code,
              0);
    ASSERT_EQ(tool->edict("classify m near.csv --out clf").code, 0);
    tool->write("plan.toml",
                "levels = [0]\nseeds = [0]\n[[dataset]]\nname = \"slow\"\ntitle = \"Slow\"\n"
                "file = \"slow.csv\"\n[[experiment]]\nmethod = \"EDICT\"\npreset = \"own.toml\"\n");
    tool->write("own.toml", "[model]\nstep = 0.5\n");
    for (const char axis : {'X', 'Y', 'Z'})
      tool->write(fmt::format("down/UWaveGestureLibrary{}_TRAIN.tsv", axis),
                  "1\t0.1\t0.2\t0.3\n2\t0.4\t0.5\t0.6\n");
    ASSERT_EQ(mkfifo((*tool / "pipe").c_str(), 0600), 0);  // nobody ever reads from it
  }
  static void TearDownTestSuite() { tool.reset(); }

  static std::string table_with_gaps(double gap, int events = 20) {
    std::string table = "id,time,label,x1,x2,x3\n";
    for (int i = 0; i < 40; ++i)
      for (int e = 0; e < events; ++e)
        table += fmt::format("s{},{},{},{},1,2\n", i, gap * (e + 1), i % 2, 0.1 * i);
    return table;
  }

  static std::size_t temporary_files() {
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(tool->path()))
      count += entry.path().extension() == ".tmp";
    return count;
  }

  static inline std::optional<Tool> tool;
};

TEST_P(Interrupt, LeavesSoonWithTheCodeOfTheSignal) {
  for (const auto& [signal, code] : {std::pair(SIGINT, 130), {SIGTERM, 143}}) {
    const pid_t child = tool->start(GetParam().arguments);
    usleep(500000);  // to be in the midst of it; later only makes the test easier
    const Tool::Ending ending = Tool::end(child, signal);
    EXPECT_EQ(ending.code, code) << tool->read(".err");
    EXPECT_LT(ending.seconds, kSoon);
    EXPECT_EQ(temporary_files(), 0u);
    EXPECT_EQ(tool->read(".err").find("unexpected"), std::string::npos) << tool->read(".err");
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, Interrupt,
    testing::Values(Command{"train", "train slow.csv --force --out n --set data.time_unit=1" +
                                         kStepped + kTiny},
                    Command{"train_reading", "train pipe --force --out n"},
                    Command{"evaluate", "evaluate m far.csv"},
                    Command{"predict", "predict m far.csv --at 0:1e-3:400 --out p.csv"},
                    Command{"predict_classes", "predict clf far.csv --classes --out p.csv"},
                    Command{"evaluate_page", "evaluate m far.csv --html p.html"},
                    Command{"explore", "explore m far.csv --out p.html"},
                    Command{"classify_encoding", "classify m far.csv --out c"},
                    Command{"classify",
                            "classify m near.csv --out c --set classify.epochs=1000000"},
                    Command{"stress", "stress clf far.csv --levels 0-9"},
                    Command{"search", "search slow.csv --out s --budget 3" + kTiny},
                    Command{"reproduce", "reproduce --config plan.toml --data . --out r"},
                    Command{"generate", "generate synthetic --out pipe"},
                    Command{"import", "import gestures --keep 1 --from down --out pipe"},
                    Command{"info", "info pipe"}),
    [](const auto& command) { return command.param.name; });

// The first signal asks, the second does not.
TEST_F(Interrupt, TheSecondSignalEndsAtOnce) {
  const pid_t child =
      tool->start("train slow.csv --force --out n --set data.time_unit=1" + kStepped + kTiny);
  ASSERT_TRUE(tool->comes(".err", "parameters"));
  kill(child, SIGINT);
  usleep(50000);
  const Tool::Ending ending = Tool::end(child, SIGTERM);
  EXPECT_EQ(ending.code, 130);     // of the signal that came first
  EXPECT_LT(ending.seconds, 0.9);  // before the second of grace is over
}

// Times in seconds under settings that are made for hours: what is going on is told from the start.
TEST_F(Interrupt, TrainingIsTalkativeBeforeItsFirstBatchEnds) {
  const pid_t child = tool->start(
      "train slow.csv --force --out n --set model.step=0.5 --set data.time_unit=1" + kStepped);
  EXPECT_TRUE(tool->comes(".err",
                          "note: the median gap between events is 4e+05 solver steps; "
                          "data.time_unit=4e+04 would make it about ten"));
  EXPECT_TRUE(tool->comes(".err", "edict on "));
  EXPECT_TRUE(tool->comes(".err", "training: epoch 1, "));  // after some silence
  const Tool::Ending ending = Tool::end(child, SIGINT);
  EXPECT_EQ(ending.code, 130);
  EXPECT_LT(ending.seconds, kSoon);
  EXPECT_FALSE(tool->exists("n"));
}

}  // namespace
}  // namespace edict

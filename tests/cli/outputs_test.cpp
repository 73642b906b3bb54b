// What is written where: an output is never an input, devices and links survive, `-` is standard
// output, and a write that fails is an exit code and a line.
#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <optional>
#include <sstream>

#include "base/json/json.h"
#include "cli/tool.h"

namespace edict {
namespace {

class Outputs : public testing::Test {
 protected:
  // One model and classifier serve all tests here.
  static void SetUpTestSuite() {
    tool.emplace();
    ASSERT_EQ(tool->edict("generate synthetic --out d.csv --series 40").code, 0);
    ASSERT_EQ(tool->edict("train d.csv --out m" + kTiny).code, 0);
    ASSERT_EQ(tool->edict("classify m d.csv --out clf").code, 0);
    tool->write("c.toml", "[train]\nepochs = 2\n");
    std::filesystem::create_symlink("d.csv", *tool / "link.csv");
  }
  static void TearDownTestSuite() { tool.reset(); }

  static void expect_one_line(const Tool::Outcome& outcome, const std::string& message,
                              const std::string& what, int code = 2) {
    EXPECT_EQ(outcome.code, code) << what;
    EXPECT_NE(outcome.err.find(message), std::string::npos) << what << "\n" << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  }

  static inline std::optional<Tool> tool;
};

TEST_F(Outputs, AnInputIsNeverReplaced) {
  const std::string data = tool->read("d.csv"), model = tool->read("m"), clf = tool->read("clf"),
                    config = tool->read("c.toml");
  for (const char* arguments : {
           "train d.csv --out d.csv --force",
           "train d.csv --out ./d.csv --force",
           "train d.csv --out link.csv --force",
           "train link.csv --out d.csv --force",
           "train d.csv --config c.toml --out c.toml --force",
           "evaluate m d.csv --json m",
           "evaluate m d.csv --json d.csv",
           "predict m d.csv --at 1 --out m",
           "predict m d.csv --at 1 --out link.csv",
           "predict m d.csv --at 1 --out p --clips d.csv",
           "predict m - --at 1 --out d.csv <d.csv",
           "explore m d.csv --out m",
           "evaluate m d.csv --html m",
           "classify m d.csv --out m",
           "classify m d.csv --out d.csv",
           "stress clf d.csv --levels 0 --json clf",
           "stress clf d.csv --levels 0 --plot d.csv",
           "import mimic-extract --from d.csv --out d.csv",
       })
    expect_one_line(tool->edict(arguments), "would write over it", arguments);
  EXPECT_EQ(tool->read("d.csv"), data);
  EXPECT_EQ(tool->read("m"), model);
  EXPECT_EQ(tool->read("clf"), clf);
  EXPECT_EQ(tool->read("c.toml"), config);
}

TEST_F(Outputs, TwoResultsNeverShareAFile) {
  for (const char* arguments : {
           "predict m d.csv --at 1 --guard edgr --out p --clips p",
           "predict m d.csv --at 1 --guard edgr --out p --clips ./p",
           "predict m d.csv --at 1 --guard edgr --out - --clips /dev/stdout",
           "stress clf d.csv --levels 0 --json p --plot p",
       })
    expect_one_line(tool->edict(arguments), "two results would go there", arguments);
  EXPECT_FALSE(tool->exists("p"));
  // What nobody keeps may be thrown away twice.
  EXPECT_EQ(
      tool->edict("predict m d.csv --at 1 --guard edgr --out /dev/null --clips /dev/null").code, 0);
}

TEST_F(Outputs, ADashIsStandardOutput) {
  ASSERT_EQ(tool->edict("predict m d.csv --at 0:1:3 --out file").code, 0);
  const Tool::Outcome predicted = tool->edict("predict m d.csv --at 0:1:3 --out -");
  EXPECT_EQ(predicted.code, 0);
  EXPECT_EQ(predicted.out, tool->read("file"));
  EXPECT_NE(predicted.err.find("480 rows"), std::string::npos) << predicted.err;

  for (const char* name : {"-", "/dev/stdout"}) {
    const Tool::Outcome judged = tool->edict(std::string("evaluate m d.csv --json ") + name);
    EXPECT_EQ(judged.code, 0);
    EXPECT_TRUE(nlohmann::json::parse(judged.out, nullptr, false).contains("interpolation"))
        << judged.out;
    EXPECT_NE(judged.err.find("test split"), std::string::npos) << judged.err;
  }
  ASSERT_EQ(tool->edict("stress clf d.csv --levels 0 --json s.json").code, 0);
  EXPECT_EQ(tool->edict("stress clf d.csv --levels 0 --json -").out, tool->read("s.json"));
  EXPECT_EQ(tool->edict("generate synthetic --series 40 --out -").out, tool->read("d.csv"));
  // What is written about data is what info says of them.
  ASSERT_EQ(tool->edict("generate synthetic --series 40 --out e.csv --json e.json").code, 0);
  ASSERT_EQ(tool->edict("info e.csv --json i.json").code, 0);
  EXPECT_EQ(tool->read("e.json"), tool->read("i.json"));
  EXPECT_EQ(tool->edict("evaluate m d.csv --html -").out.substr(0, 9), "<!doctype");
  EXPECT_EQ(tool->edict("classify m d.csv --out -").out, tool->read("clf"));
  EXPECT_FALSE(tool->exists("-"));
}

TEST_F(Outputs, AModelNeedsAFile) {
  for (const char* name : {"-", "/dev/null"})
    expect_one_line(tool->edict("train d.csv --out " + std::string(name) + kTiny),
                    "a model needs a file", name);
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST_F(Outputs, StandardInputIsDataAndModel) {
  const std::string judged = tool->edict("evaluate m d.csv").out;
  EXPECT_EQ(tool->edict("evaluate m - <d.csv").out, judged);
  EXPECT_EQ(tool->edict("evaluate - d.csv <m").out, judged);
}

TEST_F(Outputs, APipeAndALinkStayWhatTheyAre) {
  ASSERT_EQ(mkfifo((*tool / "pipe").c_str(), 0600), 0);
  const pid_t reader = tool->start("info pipe");
  EXPECT_EQ(
      std::system(("cd '" + tool->path().string() +
                   "' && '" EDICT_TOOL "' generate synthetic --series 40 --out pipe >/dev/null")
                      .c_str()),
      0);
  int status = 0;
  waitpid(reader, &status, 0);
  EXPECT_NE(tool->read(".out").find("40 series"), std::string::npos);
  EXPECT_TRUE(std::filesystem::is_fifo(*tool / "pipe"));

  std::filesystem::create_symlink("real.csv", *tool / "to-real.csv");
  ASSERT_EQ(tool->edict("generate synthetic --series 40 --out to-real.csv").code, 0);
  EXPECT_TRUE(std::filesystem::is_symlink(*tool / "to-real.csv"));
  EXPECT_EQ(tool->read("real.csv"), tool->read("d.csv"));
}

TEST_F(Outputs, AFullDiskIsAnErrorWhateverIsWritten) {
  const auto full = [](const std::string& arguments) {
    const std::string line = "cd '" + tool->path().string() + "' && '" EDICT_TOOL "' " + arguments +
                             " </dev/null 2>.err";
    const int status = std::system(line.c_str());
    return Tool::Outcome{WEXITSTATUS(status), "", tool->read(".err")};
  };
  for (const char* arguments :
       {"evaluate m d.csv >/dev/full", "info d.csv >/dev/full", "info m >/dev/full",
        "stress clf d.csv --levels 0 --json - >/dev/full 2>/dev/null", "--help >/dev/full",
        "--version >/dev/full"})
    EXPECT_EQ(full(arguments).code, 1) << arguments;
  expect_one_line(full("evaluate m d.csv >/dev/full"),
                  "standard output: cannot be written (No space left on device)", "", 1);
  expect_one_line(full("evaluate m d.csv --json /dev/full >/dev/null"), "No space left on device",
                  "", 1);
  expect_one_line(full("predict m d.csv --at 0:0.1:9 --out /dev/full >/dev/null"),
                  "No space left on device", "", 1);
  // A standard output that was closed must not become the first file that is opened.
  expect_one_line(full("evaluate m d.csv >&-"), "standard output: cannot be written", "", 1);
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/full"));
}

TEST_F(Outputs, AReaderThatHasSeenEnoughIsNoError) {
  const std::string line = "cd '" + tool->path().string() +
                           "' && { '" EDICT_TOOL
                           "' predict m d.csv --at 0:0.01:9 --out - 2>.err; echo $? >code; } | "
                           "head -1 >.out";
  ASSERT_EQ(std::system(line.c_str()), 0);
  EXPECT_EQ(tool->read("code"), "141\n");
  EXPECT_EQ(tool->read(".err"), "");
}

TEST_F(Outputs, AFinishedModelIsReplacedOnlyWhenAsked) {
  ASSERT_EQ(tool->edict("train d.csv --out finished" + kTiny).code, 0);
  const std::string before = tool->read("finished");
  const std::string other = " --set train.seed=5";
  const Tool::Outcome refused = tool->edict("train d.csv --out finished" + kTiny + other);
  expect_one_line(refused, "finished: already exists", "");
  EXPECT_NE(refused.err.find("--resume"), std::string::npos) << refused.err;
  EXPECT_NE(refused.err.find("--force"), std::string::npos) << refused.err;
  EXPECT_EQ(tool->read("finished"), before);
  EXPECT_EQ(tool->edict("train d.csv --out finished --resume" + kTiny).code, 0);
  EXPECT_EQ(tool->read("finished"), before);
  EXPECT_EQ(tool->edict("train d.csv --out finished --force" + kTiny + other).code, 0);
  EXPECT_NE(tool->read("finished"), before);
}

TEST_F(Outputs, HelpFitsEightyColumns) {
  for (const char* command : {"", "generate", "generate synthetic", "import", "import gestures",
                              "import mimic-extract", "info", "train", "evaluate", "predict",
                              "impute", "explore", "classify", "stress", "search", "reproduce"}) {
    const Tool::Outcome help = tool->edict(std::string(command) + " --help");
    EXPECT_EQ(help.code, 0);
    std::istringstream lines(help.out);
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("Usage: ")) continue;  // begins with the path of the program
      const auto columns =
          std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xc0) != 0x80; });
      EXPECT_LE(columns, 80) << command << ": " << line;
    }
  }
}

TEST_F(Outputs, TheGuardTellsHowMuchItClips) {
  for (const char* command : {"predict", "evaluate", "stress"}) {
    const std::string help = tool->edict(std::string(command) + " --help").out;
    EXPECT_NE(help.find("15 %"), std::string::npos) << help;
    EXPECT_NE(help.find("5 %"), std::string::npos) << help;
  }
  const auto clipped = [](const std::string& arguments) {
    const std::string out = tool->edict(arguments).out;
    const std::size_t at = out.find(" observations were clipped (");
    EXPECT_NE(at, std::string::npos) << out;
    const std::size_t line = out.rfind('\n', at) + 1;
    return std::stoi(out.substr(line));
  };
  const int epistemic = clipped("predict m d.csv --at 1 --out p --guard edgr");
  const int predictive = clipped("predict m d.csv --at 1 --out p --guard edgr --sigma predictive");
  EXPECT_GT(predictive, 0);
  EXPECT_GT(epistemic, predictive);
  EXPECT_EQ(clipped("predict clf d.csv --classes --out p --guard edgr"), epistemic);
}

}  // namespace
}  // namespace edict

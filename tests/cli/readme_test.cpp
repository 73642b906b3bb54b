// The commands of the README and of pages in docs/ are run as they stand, and the README's library
// example is the one that is built.
#include <sstream>
#include <vector>

#include "cli/tool.h"
#include "messy_files.h"

namespace edict {
namespace {

// The contents of ```<language> blocks.
std::vector<std::string> blocks(const std::string& text, const std::string& language) {
  std::vector<std::string> found;
  const std::string open = "```" + language + "\n";
  for (std::size_t at = text.find(open); at != std::string::npos; at = text.find(open, at)) {
    at += open.size();
    const std::size_t end = text.find("```", at);
    found.push_back(text.substr(at, end - at));
    at = end;
  }
  return found;
}

class PageTest : public ToolTest {
 protected:
  // Runs every `$ edict` line of the page's console blocks, one after the other; returns how many.
  int run_commands(const std::string& page) const {
    int count = 0;
    for (const std::string& block : blocks(content(EDICT_SOURCE_DIR "/" + page), "console")) {
      std::istringstream lines(block);
      for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with("$ edict ")) continue;
        while (line.ends_with("\\")) {
          std::string more;
          std::getline(lines, more);
          line = line.substr(0, line.size() - 1) + more;
        }
        for (std::size_t at = line.find("presets/"); at != std::string::npos;
             at = line.find("presets/", at + 200))
          line.insert(at, EDICT_SOURCE_DIR "/");
        const Outcome outcome = edict(line.substr(8));
        EXPECT_EQ(outcome.code, 0) << line << "\n" << outcome.err;
        ++count;
      }
    }
    return count;
  }
};

TEST_F(PageTest, ReadmeCommandsWork) {
  write("export.csv", messy::semicolons().bytes);
  EXPECT_EQ(run_commands("README.md"), 2);
}

TEST_F(PageTest, CommandsOnYourFirstTableWork) {
  write("export.csv", messy::semicolons().bytes);
  EXPECT_GE(run_commands("docs/start/first-table.md"), 12);
}

TEST_F(PageTest, CommandsOnUncertaintyWork) {
  EXPECT_EQ(run_commands("docs/understand/uncertainty.md"), 3);
}
TEST_F(PageTest, CommandsOnSolversWork) {
  EXPECT_EQ(run_commands("docs/understand/solvers.md"), 5);
}
TEST_F(PageTest, CommandsOnSplitsWork) { EXPECT_EQ(run_commands("docs/understand/splits.md"), 4); }
TEST_F(PageTest, CommandsOnCalibrationWork) {
  EXPECT_EQ(run_commands("docs/how-to/calibrate.md"), 8);
}

// What a program of examples/ prints, given a file of the test's folder.
class ExampleTest : public ToolTest {
 protected:
  std::string output(const char* program, const std::string& argument) const {
    const std::string command = std::string("'") + program + "' '" + (path() / argument).string() +
                                "' > '" + (path() / "o").string() + "'";
    EXPECT_EQ(std::system(command.c_str()), 0);
    return read("o");
  }
  // The first C++ of the page is this file of examples/.
  static void expect_shown(const std::string& page, const std::string& example) {
    const auto shown = blocks(content(EDICT_SOURCE_DIR "/" + page), "cpp");
    ASSERT_FALSE(shown.empty());
    EXPECT_EQ(shown[0], content(EDICT_SOURCE_DIR "/examples/" + example));
  }
};

TEST_F(ExampleTest, ReadmeShowsTheForecastThatIsBuiltAndItRuns) {
  expect_shown("README.md", "forecast.cpp");
  write("export.csv", messy::semicolons().bytes);
  const std::string printed = output(EDICT_FORECAST_EXAMPLE, "export.csv");
  EXPECT_NE(printed.find(" in 6: laktat = "), std::string::npos) << printed;
}

TEST_F(ExampleTest, ThePageOnCppShowsTheStreamThatIsBuiltAndItRuns) {
  expect_shown("docs/how-to/cpp.md", "stream.cpp");
  ASSERT_EQ(edict("generate synthetic --out d.csv --series 40").code, 0);
  ASSERT_EQ(edict("train d.csv --out m" + kTiny).code, 0);
  const std::string printed = output(EDICT_STREAM_EXAMPLE, "m");
  EXPECT_NE(printed.find("t 3.0: x1 = "), std::string::npos) << printed;
}

}  // namespace
}  // namespace edict

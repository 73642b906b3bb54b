// A message of the library names an option by `option`, and the front end words it: no literal
// outside of src/front has an option as a command line has it.
#include <gtest/gtest.h>

#include <regex>

#include "architecture/literals.h"
#include "architecture/source_files.h"
#include "temporary_folder.h"

namespace edict {
namespace {

bool names_option(const std::string& literal) {
  static const std::regex style(R"(var\(--|<!--)"), option("--[a-z]");  // of a page
  return std::regex_search(std::regex_replace(literal, style, ""), option);
}

// "file:line" of each literal with an option.
std::vector<std::string> named_options(const std::filesystem::path& root) {
  std::vector<std::string> found;
  for (const std::filesystem::path& file : source_files(root)) {
    const std::string name = file.lexically_relative(root).generic_string();
    if (name.starts_with("front/")) continue;
    const std::vector<std::string> lines = lines_of(file);
    for (std::size_t i = 0; i < lines.size(); ++i)
      for (const std::string& literal : literals_of(lines[i]))
        if (names_option(literal)) found.push_back(name + ":" + std::to_string(i + 1));
  }
  return found;
}

TEST(OptionNames, TheLibraryKnowsNoCommandLine) {
  for (const std::string& place : named_options(EDICT_SOURCE_DIR "/src"))
    ADD_FAILURE() << "src/" << place << ": name the option with option(\"…\") of base/error.h";
}

// The check itself.
TEST(OptionNames, AreFoundInLiteralsAlone) {
  const TemporaryFolder root;
  root.write("learn/a.cpp",
             "// give \"--out\"\n"
             "f(\"give --out\");\n"
             "f(\"(--missing none keeps it)\", '\"', x--y);  // --out\n"
             "f(\"style=\\\"background:var(--mean)\\\" <!--name-->\");\n"
             "f(\"a \\\" quote\", \"--set \" + key);\n");
  root.write("front/cli/b.cpp", "f(\"--out\");\n");
  EXPECT_EQ(named_options(root.path()),
            (std::vector<std::string>{"learn/a.cpp:2", "learn/a.cpp:3", "learn/a.cpp:5"}));
}

}  // namespace
}  // namespace edict

// No function has more than a hundred lines. Functions are found by clang-format's layout: a line
// that ends with "{" and begins at the left, or by one level in a class, up to the "}" below it.
#include <gtest/gtest.h>

#include <regex>

#include "architecture/source_files.h"
#include "temporary_folder.h"

namespace edict {
namespace {

constexpr std::size_t kMostLines = 100;

// The lines with the texts of raw literals left out, which are data.
std::vector<std::string> without_raw_literals(std::vector<std::string> lines) {
  static const std::regex opening("R\"([a-z]*)\\(");
  std::vector<std::string> code;
  std::string closing;  // of the literal under way
  for (std::string& line : lines) {
    std::smatch match;
    if (!closing.empty()) {
      if (line.find(closing) == std::string::npos) continue;
      closing.clear();
    } else if (std::regex_search(line, match, opening)) {
      closing = ")" + match[1].str() + "\"";
      if (match.suffix().str().find(closing) != std::string::npos) closing.clear();
    }
    code.push_back(std::move(line));
  }
  return code;
}

bool begins_at(const std::string& line, std::size_t column) {
  return line.size() > column && line.find_first_not_of(' ') == column;
}

// The first line of the body that a line at this column opens, or 0 where it is no function.
std::size_t body_after(const std::vector<std::string>& lines, std::size_t first,
                       std::size_t column) {
  static const std::regex other(
      R"(^\s*(namespace|class|struct|enum|union|extern|using|public|private|protected|//|#|\}))");
  if (!begins_at(lines[first], column) || std::regex_search(lines[first], other)) return 0;
  std::string header;
  for (std::size_t i = first; i < lines.size(); ++i) {
    if (i > first && !begins_at(lines[i], column) && lines[i].find_first_not_of(' ') <= column)
      return 0;
    header += lines[i];
    if (header.ends_with(';') || header.ends_with('}') || header.empty()) return 0;
    if (header.ends_with('{')) return header.find('(') == std::string::npos ? 0 : i + 1;
  }
  return 0;
}

// "file: header" of each function that is too long.
std::vector<std::string> long_functions(const std::filesystem::path& root) {
  std::vector<std::string> found;
  for (const std::filesystem::path& file : source_files(root)) {
    const std::vector<std::string> lines = without_raw_literals(lines_of(file));
    for (const std::size_t column : {std::size_t{0}, std::size_t{2}})
      for (std::size_t i = 0; i < lines.size(); ++i) {
        const std::size_t body = body_after(lines, i, column);
        if (body == 0) continue;
        std::size_t end = body;
        while (end < lines.size() && !(begins_at(lines[end], column) && lines[end][column] == '}'))
          ++end;
        const bool function = end < lines.size() && lines[end].substr(column) == "}";
        if (function && end - i + 1 > kMostLines)
          found.push_back(file.lexically_relative(root).generic_string() + ": " + lines[i] + " (" +
                          std::to_string(end - i + 1) + " lines)");
        i = end;
      }
  }
  return found;
}

TEST(FunctionLength, IsAtMostAHundredLines) {
  for (const std::string& one : long_functions(EDICT_SOURCE_DIR "/src"))
    ADD_FAILURE() << "src/" << one << ": divide it by what its parts do";
}

// The check itself.
TEST(FunctionLength, CountsFunctionsAndNeitherClassesNorRawLiterals) {
  const TemporaryFolder root;
  const auto many = [](const std::string& line) {
    std::string text;
    for (std::size_t i = 0; i < kMostLines; ++i) text += line + "\n";
    return text;
  };
  root.write("base/a.cpp", "namespace edict {\n\nint longest(int a,\n            int b) {\n" +
                               many("  ++a;") + "}\n\nint fits() {\n  return 1;\n}\n}\n");
  root.write("base/b.h", "class B {\n public:\n" + many("  int a;") + "};\n");
  root.write("base/c.h", "class C {\n  int method() {\n" + many("    ++a;") + "  }\n};\n");
  root.write("base/d.cpp", "const char* page() {\n  return R\"css(\n" + many("a") + ")css\";\n}\n");
  const std::vector<std::string> found = long_functions(root.path());
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0], "base/a.cpp: int longest(int a, (103 lines)");
  EXPECT_EQ(found[1], "base/c.h:   int method() { (102 lines)");
}

}  // namespace
}  // namespace edict

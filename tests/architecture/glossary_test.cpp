// The words that the glossary of CONTRIBUTING.md replaces stand neither in messages and help, which
// are literals of the source, nor on the pages that users read.
#include <gtest/gtest.h>

#include <regex>

#include "architecture/literals.h"
#include "architecture/source_files.h"
#include "temporary_folder.h"

namespace edict {
namespace {

namespace fs = std::filesystem;

// Whether a text has a word of which the glossary names a better one. "doubt" alone is what version
// 1 called a kind of alarm rule, which files of rules may still have.
bool has_replaced_word(const std::string& text) {
  static const std::regex kind("^doubt$");
  static const std::regex word(
      "\\b(agenda|tamed|whoever|nobody|doubts?|understood|so many|of which|doors?|rooms?(?! "
      "air)|walks?|walked|tells|"
      "(is|are) (told(?! apart)|asked))\\b",
      std::regex::icase);
  return std::regex_search(std::regex_replace(text, kind, ""), word);
}

std::vector<fs::path> user_pages(const fs::path& root) {
  std::vector<fs::path> pages = {root / "README.md", root / "python/README.md"};
  for (const char* folder : {"docs/start", "docs/how-to", "docs/understand", "docs/reference"})
    for (const auto& entry : fs::recursive_directory_iterator(root / folder))
      if (entry.path().extension() == ".md") pages.push_back(entry.path());
  return pages;
}

TEST(Glossary, MessagesAndHelpHaveItsWords) {
  const fs::path root = EDICT_SOURCE_DIR "/src";
  for (const fs::path& file : source_files(root)) {
    const std::vector<std::string> lines = lines_of(file);
    for (std::size_t i = 0; i < lines.size(); ++i)
      for (const std::string& literal : literals_of(lines[i]))
        if (has_replaced_word(literal))
          ADD_FAILURE() << file.lexically_relative(root).generic_string() << ":" << i + 1 << ": "
                        << literal;
  }
}

TEST(Glossary, PagesForUsersHaveItsWords) {
  const fs::path root = EDICT_SOURCE_DIR;
  const std::vector<fs::path> pages = user_pages(root);
  EXPECT_GT(pages.size(), 10u);
  for (const fs::path& page : pages) {
    const std::vector<std::string> lines = lines_of(page);
    for (std::size_t i = 0; i < lines.size(); ++i)
      if (has_replaced_word(lines[i]))
        ADD_FAILURE() << page.lexically_relative(root).generic_string() << ":" << i + 1 << ": "
                      << lines[i];
  }
}

TEST(Glossary, FindsWholeWordsAlone) {
  for (const char* text : {"the model's own doubt", "Nobody knows", "it is told when", "a door"})
    EXPECT_TRUE(has_replaced_word(text)) << text;
  for (const char* text :
       {"undoubtedly", "doubt", "they are told apart", "outdoors", "room air to pure oxygen"})
    EXPECT_FALSE(has_replaced_word(text)) << text;
}

}  // namespace
}  // namespace edict

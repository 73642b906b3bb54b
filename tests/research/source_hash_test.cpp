// The hash under which results are filed: what changes it and what does not.
#include "research/source_hash.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "temporary_folder.h"

namespace edict::study {
namespace {

// What cmake/source_hash.cmake makes of some files of a folder, "a.h|b.cpp".
std::string hashed(const TemporaryFolder& root, const std::string& files) {
  const std::string out = (root / "out.cpp").string();
  const std::string command = "'" EDICT_CMAKE "' -DOUT='" + out + "' -DROOT='" +
                              root.path().string() + "' '-DFILES=" + files +
                              "' -P '" EDICT_SOURCE_DIR "/cmake/source_hash.cmake'";
  EXPECT_EQ(std::system(command.c_str()), 0);
  const std::string text = content(out);
  const std::size_t begin = text.find("return \"") + 8;
  return text.substr(begin, text.find('"', begin) - begin);
}

TEST(SourceHash, FollowsNamesAndContentsAndNotTheirOrder) {
  const TemporaryFolder root;
  root.write("a.h", "int a;\n");
  root.write("b.cpp", "int b;\n");
  const std::string before = hashed(root, "a.h|b.cpp");
  EXPECT_EQ(hashed(root, "b.cpp|a.h"), before);
  EXPECT_NE(hashed(root, "a.h"), before);
  root.write("c.cpp", "int b;\n");
  EXPECT_NE(hashed(root, "a.h|c.cpp"), before);
  root.write("b.cpp", "int b;  // one comment more\n");
  EXPECT_NE(hashed(root, "a.h|b.cpp"), before);
  root.write("b.cpp", "int b;\n");
  EXPECT_EQ(hashed(root, "a.h|b.cpp"), before);
}

TEST(SourceHash, TheProgramHasOne) {
  EXPECT_EQ(source_hash().size(), 64u);
  EXPECT_EQ(source_hash().find_first_not_of("0123456789abcdef"), std::string_view::npos);
}

}  // namespace
}  // namespace edict::study

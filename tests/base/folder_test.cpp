#include "base/files/folder.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "temporary_folder.h"

namespace edict {
namespace {

TEST(EntriesOf, AreSortedAndWhole) {
  const TemporaryFolder folder;
  EXPECT_TRUE(entries_of(folder.path()).empty());
  folder.write("b", "");
  folder.write(".hidden", "");
  folder.write("a/within", "");
  EXPECT_EQ(entries_of(folder.path()),
            (std::vector<std::filesystem::path>{folder / ".hidden", folder / "a", folder / "b"}));
}

TEST(EntriesOf, WhatIsNoFolderIsRefusedByName) {
  const TemporaryFolder folder;
  folder.write("file", "");
  for (const char* const name : {"file", "none"}) {
    try {
      entries_of(folder / name);
      ADD_FAILURE() << name;
    } catch (const Error& e) {
      EXPECT_TRUE(std::string(e.what()).starts_with((folder / name).string() + ": ")) << e.what();
    }
  }
}

}  // namespace
}  // namespace edict

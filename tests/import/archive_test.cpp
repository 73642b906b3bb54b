#include "research/import/archive.h"

#include <gtest/gtest.h>

#include "base/generator.h"
#include "import/pack.h"

namespace edict {
namespace {

const Files kFiles{{"in/b.txt", "second"}, {"in/a.txt", "first"}, {"in/c.dat", "other"}};

bool is_text(std::string_view name) { return name.ends_with(".txt"); }

void expect_the_two_texts(const std::vector<ArchiveEntry>& entries) {
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(base_name(entries[0].name), "a.txt");
  EXPECT_EQ(entries[0].bytes, "first");
  EXPECT_EQ(base_name(entries[1].name), "b.txt");
  EXPECT_EQ(entries[1].bytes, "second");
}

TEST(Archive, TarZipAndFolderGiveTheSameSortedFiles) {
  DownloadFolder download;
  download.write({{"folder/b.txt", "second"}, {"folder/a.txt", "first"}, {"folder/c.dat", "x"}});
  download.pack("x.tar.gz", kFiles);
  download.pack("x.zip", kFiles);
  expect_the_two_texts(read_archive(download.path() / "folder", is_text));
  expect_the_two_texts(read_archive(download.path() / "x.tar.gz", is_text));
  expect_the_two_texts(read_archive(download.path() / "x.zip", is_text));
}

TEST(Archive, ADownloadFolderMayHoldFilesOrArchives) {
  DownloadFolder packed, plain;
  packed.pack("1.zip", {{"b.txt", "second"}});
  packed.pack("0.tar.gz", {{"in/a.txt", "first"}});
  expect_the_two_texts(read_download(packed.path(), is_text));
  plain.write({{"a.txt", "first"}, {"b.txt", "second"}});
  plain.pack("old.zip", {{"z.txt", "is not read"}});
  expect_the_two_texts(read_download(plain.path(), is_text));
}

TEST(Archive, ACutArchiveIsNamed) {
  DownloadFolder download;
  Generator rng(0);
  std::string noise;  // does not compress away
  for (int i = 0; i < 60000; ++i) noise += static_cast<char>(rng.below(256));
  download.pack("x.tar.gz", {{"a.txt", noise}, {"b.txt", noise}});
  download.cut("x.tar.gz", 0.6);
  const auto message = error_of([&] { read_archive(download.path() / "x.tar.gz", is_text); });
  expect_contains(message, "x.tar.gz");
  expect_contains(message, "cut short");
  expect_contains(message, "download it again");
}

TEST(Archive, SomethingElseUnderAnArchivesNameIsRefused) {
  DownloadFolder download;
  download.write("page.zip", "<html>please log in</html>");
  expect_contains(error_of([&] { read_archive(download.path() / "page.zip", is_text); }),
                  "is no archive");
  expect_contains(error_of([&] { read_archive(download.path() / "none.zip", is_text); }),
                  "no such file");
}

TEST(Archive, AnArchiveThatUnpacksToTooMuchIsRefused) {
  DownloadFolder download;
  download.pack("bomb.zip", {{"a.txt", std::string(1 << 20, 'x')}});
  ArchiveLimits limits;
  limits.entry_bytes = 1 << 19;
  expect_contains(
      error_of([&] { read_archive(download.path() / "bomb.zip", is_text, {}, limits); }),
      "unpacks to more");
}

}  // namespace
}  // namespace edict

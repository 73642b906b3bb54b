// Files are replaced whole; links, pipes, devices and open descriptors are written through.
#include "base/files/atomic_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <thread>

#include "base/error.h"
#include "temporary_folder.h"

namespace edict {
namespace {

namespace fs = std::filesystem;

class AtomicFileTest : public testing::Test {
 protected:
  std::ptrdiff_t files() const {
    return std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator());
  }
  std::string error_of(const fs::path& path, const std::string& text) const {
    try {
      write_atomically(path, text);
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  }
  TemporaryFolder folder_;
};

TEST_F(AtomicFileTest, ALinkStaysAndTheFileItLeadsToIsReplaced) {
  folder_.write("below/target", "before");
  fs::create_symlink("below/target", folder_ / "link");
  fs::create_symlink("link", folder_ / "second");  // a link to a link, each relative to its folder
  write_atomically(folder_ / "second", "after");
  EXPECT_TRUE(fs::is_symlink(folder_ / "second"));
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
  EXPECT_EQ(folder_.read("below/target"), "after");
}

TEST_F(AtomicFileTest, ALinkToNothingMakesTheFile) {
  fs::create_symlink("target", folder_ / "link");
  write_atomically(folder_ / "link", "text");
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
  EXPECT_EQ(folder_.read("target"), "text");
  EXPECT_EQ(files(), 2);
}

TEST_F(AtomicFileTest, LinksInACircleAreAnError) {
  fs::create_symlink("b", folder_ / "a");
  fs::create_symlink("a", folder_ / "b");
  EXPECT_NE(error_of(folder_ / "a", "text"), "");
  EXPECT_EQ(files(), 2);
}

TEST_F(AtomicFileTest, APipeIsWrittenThrough) {
  const fs::path pipe = folder_ / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  std::string received;
  std::thread reader([&] { received = content(pipe); });
  write_atomically(pipe, std::string(200000, 'x'));  // more than a pipe holds
  reader.join();
  EXPECT_EQ(received, std::string(200000, 'x'));
  EXPECT_TRUE(fs::is_fifo(pipe));
  EXPECT_EQ(files(), 1);
}

TEST_F(AtomicFileTest, AnOpenDescriptorIsWrittenThrough) {
  folder_.write("open", "begun ");
  const int file = ::open((folder_ / "open").c_str(), O_WRONLY | O_APPEND);
  ASSERT_GE(file, 0);
  struct stat before {
  }, after{};
  ASSERT_EQ(fstat(file, &before), 0);
  for (const std::string folder : {"/dev/fd/", "/proc/self/fd/"})
    write_atomically(folder + std::to_string(file), "more ");
  fs::create_symlink("/dev/fd/" + std::to_string(file), folder_ / "link");
  write_atomically(folder_ / "link", "end");
  ASSERT_EQ(stat((folder_ / "open").c_str(), &after), 0);
  EXPECT_EQ(before.st_ino, after.st_ino);
  EXPECT_EQ(folder_.read("open"), "begun more more end");
  ::close(file);
  EXPECT_EQ(destination_of("/dev/stdout").descriptor, STDOUT_FILENO);
}

TEST_F(AtomicFileTest, AFullDeviceIsAnError) {
  ASSERT_TRUE(fs::is_character_file("/dev/full"));
  fs::create_symlink("/dev/full", folder_ / "link");  // never the device itself, should this fail
  EXPECT_NE(error_of(folder_ / "link", "text").find("link: cannot be written (No space left"),
            std::string::npos);
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
  EXPECT_EQ(files(), 1);
}

TEST_F(AtomicFileTest, AFileThatCannotGrowIsAnErrorAndLeavesTheOldOne) {
  folder_.write("file", "before");
  rlimit old{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &old), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit small = old;
  small.rlim_cur = 4096;  // as if the disk were full behind it
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::string error = error_of(folder_ / "file", std::string(1 << 22, 'x'));
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &old), 0);
  std::signal(SIGXFSZ, handler);
  EXPECT_NE(error.find("file: cannot be written"), std::string::npos) << error;
  EXPECT_EQ(folder_.read("file"), "before");
  EXPECT_EQ(files(), 1);
}

TEST_F(AtomicFileTest, WhoMayReadAFileStays) {
  folder_.write("secret", "before");
  ASSERT_EQ(chmod((folder_ / "secret").c_str(), 0600), 0);
  write_atomically(folder_ / "secret", "after");
  EXPECT_EQ(fs::status(folder_ / "secret").permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
}

// As a process does that was killed: its file stays, and nobody holds it.
TEST_F(AtomicFileTest, WhatAKilledProcessLeftGoesWhenTheFileIsWrittenAgain) {
  for (const char* left : {"file.1-0.tmp", "file.77-3.tmp"}) folder_.write(left, "half");
  for (const char* other : {"file.tmp", "file.x-1.tmp", "file.1-.tmp", "others.1-0.tmp"})
    folder_.write(other, "not its own");
  AtomicFile elsewhere(folder_ / "other");  // is being written and stays
  write_atomically(folder_ / "file", "whole");
  EXPECT_EQ(files(), 1 + 4 + 1);
  EXPECT_FALSE(folder_.exists("file.77-3.tmp"));
  elsewhere.write("whole too");
  elsewhere.commit();
  EXPECT_EQ(folder_.read("other"), "whole too");
}

TEST_F(AtomicFileTest, WhatAnotherProcessWritesIsLeftAlone) {
  int told[2];
  ASSERT_EQ(pipe(told), 0);
  const pid_t child = fork();
  if (child == 0) {
    AtomicFile file(folder_ / "file");
    file.write("of the child");
    [[maybe_unused]] auto ready = ::write(told[1], "r", 1);
    while (!fs::exists(folder_ / "go")) usleep(1000);
    file.commit();
    _exit(0);
  }
  char ready = 0;
  ASSERT_EQ(::read(told[0], &ready, 1), 1);
  write_atomically(folder_ / "file", "of the parent");
  EXPECT_EQ(folder_.read("file"), "of the parent");
  folder_.write("go", "");
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(folder_.read("file"), "of the child");
  EXPECT_EQ(files(), 2);
}

// In a container every run has the same number.
TEST_F(AtomicFileTest, ANameThatIsTakenIsPassedOver) {
  const std::string own = "file." + std::to_string(getpid()) + "-";
  std::vector<int> held;
  for (int serial = 0; serial < 100; ++serial) {
    const std::string name = own + std::to_string(serial) + ".tmp";
    folder_.write(name, "");
    held.push_back(::open((folder_ / name).c_str(), O_RDWR));
    ASSERT_EQ(flock(held.back(), LOCK_EX | LOCK_NB), 0);
  }
  write_atomically(folder_ / "file", "text");
  EXPECT_EQ(folder_.read("file"), "text");
  EXPECT_EQ(files(), 101);
  for (const int file : held) ::close(file);
}

TEST_F(AtomicFileTest, FoldersAreMadeWithThoseTheyLieIn) {
  make_folder(folder_ / "a/b/c/");
  make_folder(folder_ / "a/b/c");
  EXPECT_TRUE(fs::is_directory(folder_ / "a/b/c"));
  folder_.write("file", "");
  EXPECT_THROW(make_folder(folder_ / "file"), Error);
  EXPECT_THROW(make_folder(folder_ / "file/in"), Error);
}

TEST_F(AtomicFileTest, TheMachineIsToldFromThePath) {
  fs::create_symlink("/dev/full", folder_ / "link");
  EXPECT_THROW(write_atomically(folder_ / "link", "text"), MachineError);
  try {
    write_atomically(folder_ / "missing/file", "text");
    FAIL();
  } catch (const MachineError&) {
    FAIL() << "a folder that is not there is no fault of the machine";
  } catch (const Error&) {
  }
}

TEST_F(AtomicFileTest, TemporaryFilesAreFoundAndRemoved) {
  {
    AtomicFile first(folder_ / "first"), second(folder_ / "second");
    first.write("half");
    EXPECT_EQ(files(), 2);
    remove_temporary_files();
    EXPECT_EQ(files(), 0);
  }
  write_atomically(folder_ / "third", "text");
  remove_temporary_files();  // what is committed is no temporary file any more
  EXPECT_EQ(folder_.read("third"), "text");
}

TEST_F(AtomicFileTest, MoreFilesAtATimeThanAreListed) {
  std::vector<std::unique_ptr<AtomicFile>> many;
  for (int i = 0; i < 40; ++i)
    many.push_back(std::make_unique<AtomicFile>(folder_ / std::to_string(i)));
  for (auto& file : many) file->commit();
  many.clear();
  EXPECT_EQ(files(), 40);
}

}  // namespace
}  // namespace edict

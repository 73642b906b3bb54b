// Runs the real edict program in a folder of its own and tells what it printed.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace edict {

class ToolTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "edict-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  struct Outcome {
    int code;
    std::string out, err;
  };

  // `arguments` as one would type them after `edict`, inside the test's folder; `under`: a program
  // that runs it.
  Outcome edict(const std::string& arguments, const std::string& under = "") {
    const std::string command = "cd '" + folder_.string() + "' && " + under + " '" EDICT_TOOL "' " +
                                arguments + " >.out 2>.err </dev/null";
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read(".out"), read(".err")};
  }

  std::string read(const std::string& name) const {
    std::ifstream in(folder_ / name, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
  }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }
  bool exists(const std::string& name) const { return std::filesystem::exists(folder_ / name); }

  // Files other than the two that edict() writes.
  std::size_t files() const {
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder_))
      count += entry.path().filename() != ".out" && entry.path().filename() != ".err";
    return count;
  }

  std::filesystem::path folder_;
};

// Settings under which a run takes a fraction of a second.
inline const std::string kTiny =
    " --set model.hidden=6 --set model.head_hidden=4 --set model.encoder_width=3"
    " --set model.step=0.5 --set train.epochs=2 --set train.batch=8 ";

}  // namespace edict

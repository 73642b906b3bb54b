// Runs the real edict program in a folder of its own and tells what it printed.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "temporary_folder.h"

namespace edict {

class Tool : public TemporaryFolder {
 public:
  struct Outcome {
    int code;
    std::string out, err;
  };

  // `arguments` as one would type them after `edict`, inside the folder; `under`: a program that
  // runs it.
  Outcome edict(const std::string& arguments, const std::string& under = "") const {
    const int status = std::system((line(arguments, under) + " >.out 2>.err").c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read(".out"), read(".err")};
  }

  // Does not wait for it to end.
  pid_t start(const std::string& arguments) const {
    const std::string command = line(arguments, "exec") + " >.out 2>.err";
    const pid_t child = fork();
    if (child == 0) {
      // A test that runs in the background of a shell inherits that Ctrl-C is ignored.
      signal(SIGINT, SIG_DFL);
      execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
      _exit(3);
    }
    return child;
  }

  struct Ending {
    int code;
    double seconds;  // from the signal on
  };
  // Signals a program that was started, and waits for it.
  static Ending end(pid_t child, int signal) {
    const auto begin = std::chrono::steady_clock::now();
    kill(child, signal);
    int status = 0;
    waitpid(child, &status, 0);
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, seconds};
  }

  // Waits up to a minute until what the program prints, or wrote to another file, holds `text`.
  bool comes(const std::string& file, const std::string& text) const {
    for (int waited = 0; waited < 60000; waited += 5) {
      if (exists(file) && read(file).find(text) != std::string::npos) return true;
      usleep(5000);
    }
    return false;
  }

  // Files other than the two that edict() writes.
  std::size_t files() const {
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(path()))
      count += entry.path().filename() != ".out" && entry.path().filename() != ".err";
    return count;
  }

 private:
  std::string line(const std::string& arguments, const std::string& under) const {
    return "cd '" + path().string() + "' && " + under + " '" EDICT_TOOL "' </dev/null " + arguments;
  }
};

class ToolTest : public testing::Test, protected Tool {};

// Settings under which a run takes a fraction of a second.
inline const std::string kTiny =
    " --set model.hidden=6 --set model.head_hidden=4 --set model.encoder_width=3"
    " --set model.step=0.5 --set train.epochs=2 --set train.batch=8 ";

// Of two dozen series each of the three parts gets some.
inline const std::string kFew = kTiny + " --set data.train=0.5 --set data.validation=0.3 ";

}  // namespace edict

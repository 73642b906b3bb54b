// The program edict-server in a folder of its own, and what is said to it over loopback.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <csignal>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "base/json/json.h"
#include "base/text/number_text.h"
#include "server/http_client.h"
#include "server/live_folder.h"

namespace edict::server {

using nlohmann::json;
using Answer = Connection::Answer;

class ProgramTest : public testing::Test {
 protected:
  ProgramTest() { save_model(*small_model(), folder_ / "waves.model"); }
  ~ProgramTest() override {
    if (child_ > 0) stop(SIGKILL);
  }

  // Waits until it listens; false where it ended instead.
  // `environment`: assignments before the command.
  bool start(const std::string& options = "", const char* program = EDICT_SERVER,
             const std::string& environment = "") {
    folder_.write("out", "");
    const std::string command = "cd '" + folder_.path().string() + "' && exec env " + environment +
                                " '" + program + "' serve waves.model --listen 127.0.0.1:0 " +
                                options + " >out 2>err </dev/null";
    child_ = fork();
    if (child_ == 0) {
      execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
      _exit(3);
    }
    for (int waited = 0; waited < 30000; waited += 5) {
      const std::string out = folder_.read("out");
      if (const std::size_t at = out.find("127.0.0.1:");
          at != std::string::npos && out.find('\n', at) != std::string::npos) {
        port_ = static_cast<std::uint16_t>(std::atoi(out.c_str() + at + 10));
        return true;
      }
      int status = 0;
      if (waitpid(child_, &status, WNOHANG) == child_) {
        child_ = 0;
        code_ = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
        return false;
      }
      usleep(5000);
    }
    return false;
  }
  int stop(int signal = SIGTERM) {
    kill(child_, signal);
    int status = 0;
    waitpid(child_, &status, 0);
    child_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
  Answer ask(const std::string& method, const std::string& target, const std::string& body = "",
             const std::string& headers = "") const {
    return Connection(port_).ask(method, target, body, headers);
  }
  // Resident memory of the server.
  double megabytes() const {
    std::ifstream status("/proc/" + std::to_string(child_) + "/status");
    for (std::string word; status >> word;)
      if (word == "VmRSS:") {
        double kilobytes = 0;
        status >> kilobytes;
        return kilobytes / 1024;
      }
    return 0;
  }

  TemporaryFolder folder_;
  pid_t child_ = 0;
  int code_ = 0;
  std::uint16_t port_ = 0;
};

inline std::string number(double value) {
  std::string text;
  append_shortest(text, value);
  return text;
}

inline std::string ndjson(const std::vector<Row>& rows) {
  std::string text;
  for (const Row& row : rows)
    text += "{\"stream\":\"" + row.stream + "\",\"time\":" + number(row.time.value) +
            ",\"values\":{\"" + waves().features[static_cast<std::size_t>(row.feature)] +
            "\":" + number(row.value) + "}}\n";
  return text;
}

inline const char* const kQuestion =
    "/distribution?at=1,12.6,13&quantiles=0.1,0.5&above=x1:0.5&within=1";

}  // namespace edict::server

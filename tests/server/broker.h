#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <string>
#include <thread>

#include "temporary_folder.h"

namespace edict::server {

// mosquitto on a free port of loopback, with its data in a folder of its own.
class Broker {
 public:
  static bool installed() {
    return access("/usr/sbin/mosquitto", X_OK) == 0 && access("/usr/bin/mosquitto_pub", X_OK) == 0;
  }

  // `rules`: who may come in, in lines of its configuration.
  explicit Broker(const std::string& rules = "allow_anonymous true\n") : port_(free_port()) {
    std::ofstream(folder_ / "mosquitto.conf")
        << "listener " << port_ << " 127.0.0.1\nlog_type none\nmax_queued_messages 0\n"
        << rules;
    const std::string configuration = (folder_ / "mosquitto.conf").string();
    process_ = fork();
    if (process_ == 0) {
      execl("/usr/sbin/mosquitto", "mosquitto", "-c", configuration.c_str(), nullptr);
      _exit(127);
    }
    for (int tried = 0; tried < 100 && !reachable(); ++tried)
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  ~Broker() {
    kill(process_, SIGTERM);
    waitpid(process_, nullptr, 0);
  }

  std::string url(const std::string& scheme = "mqtt") const {
    return scheme + "://127.0.0.1:" + std::to_string(port_);
  }

  // A message for each line, with what at-least-once promises. `as`: who publishes.
  void publish(const std::string& topic, const std::string& lines,
               const std::string& as = "") const {
    const std::string command = "/usr/bin/mosquitto_pub -h 127.0.0.1 -p " + std::to_string(port_) +
                                " " + as + " -q 1 -l -t '" + topic + "'";
    FILE* pipe = popen(command.c_str(), "w");
    ASSERT_NE(pipe, nullptr);
    fwrite(lines.data(), 1, lines.size(), pipe);
    EXPECT_EQ(pclose(pipe), 0);
  }

 private:
  static int free_port() {
    const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    bind(socket, reinterpret_cast<sockaddr*>(&address), size);
    getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
    close(socket);
    return ntohs(address.sin_port);
  }
  bool reachable() const {
    const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port_));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const bool up =
        connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    close(socket);
    return up;
  }

  TemporaryFolder folder_;
  int port_;
  pid_t process_ = -1;
};

}  // namespace edict::server

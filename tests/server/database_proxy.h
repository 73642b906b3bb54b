// Between a client and PostgreSQL's socket, to lose what passes.
#pragma once

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace edict::server {

class DatabaseProxy {
 public:
  enum class Loses { nothing, request, reply };

  // Both are folders with a socket .s.PGSQL.5432 in them.
  DatabaseProxy(const std::string& folder, std::string database) : database_(std::move(database)) {
    std::filesystem::create_directories(folder);
    const sockaddr_un address = address_in(folder);
    listener_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
        listen(listener_, 16) != 0)
      throw std::runtime_error("the proxy has no socket");
    thread_ = std::thread([this] { accept_all(); });
  }
  ~DatabaseProxy() {
    stopping_ = true;
    thread_.join();
    for (std::thread& one : connections_) one.join();
    close(listener_);
  }
  DatabaseProxy(const DatabaseProxy&) = delete;
  DatabaseProxy& operator=(const DatabaseProxy&) = delete;

  // Of the next COMMIT; its connection is closed. With `down`, nobody comes in after that.
  void lose(Loses what, bool and_down = false) {
    goes_down_ = and_down;
    loses_ = what;
  }
  bool lost() const { return loses_ == Loses::nothing; }
  // Closes what is open and lets nobody in, or does again.
  void set_down(bool down) { down_ = down; }
  // Every connection, also a new one, gets no answer until it goes on.
  void set_paused(bool paused) { paused_ = paused; }

 private:
  static sockaddr_un address_in(const std::string& folder) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string path = folder + "/.s.PGSQL.5432";
    if (path.size() >= sizeof address.sun_path) throw std::runtime_error("too long: " + path);
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    return address;
  }
  static bool readable(int descriptor, int milliseconds) {
    pollfd one{descriptor, POLLIN, 0};
    return poll(&one, 1, milliseconds) > 0;
  }
  void accept_all() {
    while (!stopping_) {
      if (!readable(listener_, 10)) continue;
      const int client = accept(listener_, nullptr, nullptr);
      if (client < 0) continue;
      if (down_) {
        close(client);
        continue;
      }
      connections_.emplace_back([this, client] { relay(client); });
    }
  }
  void relay(int client) {
    const sockaddr_un address = address_in(database_);
    const int server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0)
      pass(client, server);
    close(client);
    close(server);
  }
  void pass(int client, int server) {
    static constexpr std::string_view kCommit(
        "Q\0\0\0\x0b"
        "COMMIT",
        11);
    char bytes[65536];
    while (!stopping_ && !down_) {
      if (paused_) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        continue;
      }
      pollfd both[]{{client, POLLIN, 0}, {server, POLLIN, 0}};
      if (poll(both, 2, 10) <= 0) continue;
      for (int side = 0; side < 2; ++side) {
        if (both[side].revents == 0) continue;
        const ssize_t count = read(both[side].fd, bytes, sizeof bytes);
        if (count <= 0) return;
        const std::string_view text(bytes, static_cast<std::size_t>(count));
        const Loses loses = loses_;
        if (side == 0 && loses != Loses::nothing && text.find(kCommit) != text.npos) {
          if (loses == Loses::reply) {
            send_all(server, text);
            readable(server, 10000);  // the database has done it
          }
          if (goes_down_) down_ = true;
          loses_ = Loses::nothing;
          return;
        }
        send_all(both[1 - side].fd, text);
      }
    }
  }
  static void send_all(int to, std::string_view text) {
    while (!text.empty()) {
      const ssize_t sent = send(to, text.data(), text.size(), MSG_NOSIGNAL);
      if (sent <= 0) return;
      text.remove_prefix(static_cast<std::size_t>(sent));
    }
  }

  const std::string database_;
  std::atomic<Loses> loses_{Loses::nothing};
  std::atomic<bool> goes_down_{false}, down_{false}, paused_{false}, stopping_{false};
  int listener_ = -1;
  std::vector<std::thread> connections_;
  std::thread thread_;
};

}  // namespace edict::server

// As much of an HTTP client as the tests need: one connection, blocking, every byte in sight.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cctype>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>

namespace edict::server {

class Connection {
 public:
  explicit Connection(std::uint16_t port, int timeout_seconds = 20) {
    socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const timeval timeout{timeout_seconds, 0};
    setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
      ::close(socket_);
      throw std::runtime_error("no connection");
    }
  }
  ~Connection() { ::close(socket_); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  bool send(std::string_view text) {
    while (!text.empty()) {
      const ssize_t sent = ::send(socket_, text.data(), text.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      text.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }

  // So that whoever sends notices soon that nobody reads.
  void receive_little() const {
    const int bytes = 4096;
    setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
  }

  // Until what came holds `text`, or nothing comes any more.
  bool until(std::string_view text) {
    while (came_.find(text) == std::string::npos)
      if (!more()) return false;
    return true;
  }
  const std::string& came() const { return came_; }
  void forget() { came_.clear(); }
  // Whether the other side closes.
  bool closes() {
    while (more()) {
    }
    return closed_;
  }

  struct Answer {
    int status = 0;  // 0: there was none
    std::string header, body;
  };
  Answer ask(const std::string& method, const std::string& target, const std::string& body = "",
             const std::string& headers = "") {
    came_.clear();
    std::string text = method + " " + target + " HTTP/1.1\r\nHost: localhost\r\n" + headers;
    if (!body.empty() || method == "POST" || method == "PUT")
      text += "Content-Length: " + std::to_string(body.size()) + "\r\n";
    if (!send(text + "\r\n" + body)) return {};
    return answer(method == "HEAD");
  }
  Answer answer(bool head = false) {
    if (!until("\r\n\r\n")) return {};
    const std::size_t end = came_.find("\r\n\r\n") + 4;
    Answer result;
    result.header = came_.substr(0, end);
    result.status = std::atoi(result.header.c_str() + 9);
    std::size_t length = 0;
    std::string lower = result.header;
    for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (const std::size_t at = lower.find("content-length: "); at != std::string::npos)
      length = std::strtoul(lower.c_str() + at + 16, nullptr, 10);
    if (head) length = 0;
    while (came_.size() < end + length)
      if (!more()) return {};
    result.body = came_.substr(end, length);
    came_.erase(0, end + length);
    return result;
  }

 private:
  bool more() {
    char buffer[16384];
    const ssize_t got = ::recv(socket_, buffer, sizeof buffer, 0);
    closed_ = got == 0;
    if (got <= 0) return false;
    came_.append(buffer, static_cast<std::size_t>(got));
    return true;
  }

  int socket_;
  bool closed_ = false;
  std::string came_;
};

}  // namespace edict::server

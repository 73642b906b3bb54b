// HTTP/1.1 for an Api, plain or over TLS, and server-sent events for those who watch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "front/server/http/api.h"

namespace edict::server {

struct HttpSettings {
  std::string address = "127.0.0.1";
  std::uint16_t port = 8080;     // 0: any that is free
  std::string certificate, key;  // files in PEM; empty: no TLS
  std::size_t most_body = 16u << 20;
  // Of all requests together, at least most_body; and of all answers that are not taken yet.
  std::size_t most_bodies = 256u << 20;
  std::size_t most_header = 16u << 10;
  std::size_t most_connections = 4096;  // beside a few for those who ask after the server's health
  double request_seconds = 30;  // for a request to arrive, and for a client to take its answer
  double idle_seconds = 75;     // between two requests
  bool open = true;             // no token is needed: names other than this machine are refused
  std::size_t threads = 2;
};

// Whether an address is reached from this machine alone. Throws Error where it is no address.
bool is_loopback(const std::string& address);

// What comes of the bytes of one request: the request, or the answer that refuses it; nothing
// while they are not all there. A connection takes them in the same way.
std::optional<std::variant<ApiRequest, ApiResponse>> request_from(std::string_view bytes,
                                                                  const HttpSettings& settings);

class HttpServer {
 public:
  // Listens when it returns. Throws Error.
  HttpServer(Api& api, EventLog& events, const HttpSettings& settings);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  std::uint16_t port() const;
  std::size_t connections() const;
  // Connections made from now on see the certificate and key that the files hold now. Throws Error,
  // and then everything stays.
  void reload_certificate();
  // Takes no more connections; those that watch are sent away.
  void stop_accepting();
  // Nothing of it runs when this returns. What others still hold of a connection stays valid until
  // the server goes.
  void stop();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace edict::server

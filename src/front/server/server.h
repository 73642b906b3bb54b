// A model, a store and a port, put together.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "front/server/http/http_server.h"
#include "front/server/live/live.h"

namespace edict::server {

struct ServeSettings {
  std::filesystem::path model;
  std::string store = "edict.db";  // a file, or postgresql://…
  std::string rules, tokens;       // files; empty: none
  bool plain_http = false;         // TLS ends at a proxy
  StoreOptions store_options;
  LiveSettings live;
  HttpSettings http;
  ApiSettings api;
};

class Server {
 public:
  // Listens and answers when it returns. Throws Error.
  explicit Server(ServeSettings settings);
  // Answers what was taken, and keeps every state.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  std::uint16_t port() const { return http_->port(); }
  std::string url() const;
  Live& live() { return *live_; }
  // What else must work for the server to be ready.
  Health& health() { return *health_; }
  // Reads tokens, certificate and rules again, each where it was given as a file. What cannot be
  // used changes nothing. Returns what happened, in lines for the log.
  std::vector<std::string> reload();
  // What happened at the start, for the log.
  const std::vector<std::string>& notices() const { return notices_; }

 private:
  const ServeSettings settings_;
  std::vector<std::string> notices_;
  std::unique_ptr<HttpServer> http_;  // goes last: others hold its connections
  std::unique_ptr<Live> live_;
  std::unique_ptr<Health> health_;
  std::unique_ptr<Api> api_;
};

}  // namespace edict::server

// One connection to a client: requests in, answers out, one after the other.
#pragma once

#include <atomic>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <chrono>
#include <cstddef>
#include <utility>

#include "front/server/http/crowd.h"
#include "front/server/http/http_server.h"

namespace edict::server {

// What connections share.
struct Shared {
  Shared(Api& api_, EventLog& events_, const HttpSettings& settings_)
      : api(api_), events(events_), settings(settings_) {}

  Api& api;
  EventLog& events;
  const HttpSettings& settings;
  Crowd crowd{};
  Budget bodies{settings.most_bodies};   // of those that arrive or are being answered
  Budget answers{settings.most_bodies};  // of those that clients have not taken yet
  std::atomic<std::size_t> connections{0};
  std::atomic<bool> stopping{false};
  std::atomic<bool> stopped{false};  // nothing runs any more; only memory is given back
};

// Counts a connection for as long as it is there.
class Ticket {
 public:
  explicit Ticket(Shared& shared) : shared_(&shared) { ++shared.connections; }
  Ticket(Ticket&& other) noexcept : shared_(std::exchange(other.shared_, nullptr)) {}
  Ticket& operator=(Ticket&&) = delete;
  ~Ticket() {
    if (shared_) --shared_->connections;
  }

 private:
  Shared* shared_;
};

inline std::chrono::nanoseconds seconds(double value) {
  return std::chrono::nanoseconds(static_cast<std::int64_t>(value * 1e9));
}

// Serves a client until it goes. `tls`: nullptr for none. `reserved`: every other connection is
// taken, and this one is answered about the server's health alone.
void serve_connection(Shared& shared, boost::asio::ip::tcp::socket socket,
                      boost::asio::ssl::context* tls, bool reserved);

}  // namespace edict::server

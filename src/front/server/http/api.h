// What the server answers, apart from how bytes travel. Every address is a row of the table in
// routes/routes.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_set>

#include "front/server/http/health.h"
#include "front/server/http/message.h"
#include "front/server/http/target.h"
#include "front/server/http/tokens.h"
#include "front/server/live/live.h"

namespace edict::server {

struct ApiSettings {
  std::string name = "edict";  // of the model
  double level = 0.9;          // of an interval where a request names no other
};

struct Service;  // routes/call.h

class Api {
 public:
  // `tokens`: nullptr where everybody may do everything. `health`: nullptr where Live alone says
  // how it is.
  Api(Live& live, ApiSettings settings, std::shared_ptr<const Tokens> tokens,
      const Health* health = nullptr);
  ~Api();

  // From the next request on; never nullptr where there were some.
  void set_tokens(std::shared_ptr<const Tokens> tokens);

  // What a watcher of events wants.
  struct Watch {
    std::unordered_set<std::string> streams;  // only these, where there are some
    std::optional<std::uint64_t> since;       // the last event that was seen
  };
  // What is known of a request by its header alone.
  struct Admission {
    // An address that is not there, a method, parameter or type that it does not take, or a token
    // that does not allow it.
    std::optional<ApiResponse> refusal = {};
    std::size_t most_body = std::numeric_limits<std::size_t>::max();  // bytes
    bool about_health = false;        // answered when nothing else is
    std::optional<Watch> watch = {};  // the connection sends events from now on
  };
  Admission admit(const ApiRequest& head) const;

  // Calls `done` exactly once, on any thread.
  void handle(ApiRequest request, std::function<void(ApiResponse)> done);

  // What a watcher receives first: members of a JSON object.
  std::string hello() const;

 private:
  struct Entry;
  Entry enter(const ApiRequest& head) const;
  std::shared_ptr<const Tokens> tokens() const;

  const std::unique_ptr<const Service> service_;
  mutable std::mutex tokens_mutex_;
  std::shared_ptr<const Tokens> tokens_;
};

// The description of all of it (OpenAPI 3.1).
std::string openapi_text();

}  // namespace edict::server

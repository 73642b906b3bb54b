// What the server answers, apart from how bytes travel.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "edict/server/live.h"
#include "edict/server/tokens.h"

namespace edict::server {

struct ApiRequest {
  std::string method;  // "GET"
  std::string target;  // "/v1/streams/bed%203?limit=3"
  std::string content_type, authorization;
  std::string body;
};

struct ApiResponse {
  int status = 200;
  std::string type = "application/json";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers = {};
};

// A target in its parts, with percent signs resolved.
struct Target {
  std::vector<std::string> path;  // "v1", "streams", "bed 3"
  std::map<std::string, std::string> query;
};
// Nothing where a percent sign is not followed by two digits, or a text is not UTF-8.
std::optional<Target> parse_target(std::string_view target);

// application/problem+json.
ApiResponse problem(int status, const std::string& detail,
                    const std::vector<Problem>& problems = {});

struct ApiSettings {
  std::string name = "edict";  // of the model
  double level = 0.9;          // of an interval where nobody asks for another
};

class Api {
 public:
  // `tokens`: nullptr where everybody may do everything.
  Api(Live& live, ApiSettings settings, const Tokens* tokens);
  ~Api();

  // Calls `done` exactly once, on any thread.
  void handle(ApiRequest request, std::function<void(ApiResponse)> done);

  // Whether a request may watch events; else the answer that says why not.
  std::optional<ApiResponse> refuses_events(const ApiRequest& request) const;
  // What a watcher is told first: members of a JSON object.
  std::string hello() const;

 private:
  struct Call;
  using Done = std::function<void(ApiResponse)>;

  void route(const std::shared_ptr<Call>& call);
  void observations(const std::shared_ptr<Call>& call);
  void line_protocol(const std::shared_ptr<Call>& call);
  void submit(const std::shared_ptr<Call>& call, std::vector<Row> rows, bool empty_answer);
  void streams(const std::shared_ptr<Call>& call);
  void stream(const std::shared_ptr<Call>& call);
  void put_stream(const std::shared_ptr<Call>& call);
  void trajectories(const std::shared_ptr<Call>& call);
  void history(const std::shared_ptr<Call>& call);
  void erase(const std::shared_ptr<Call>& call);
  void alarms(const std::shared_ptr<Call>& call);
  void acknowledge(const std::shared_ptr<Call>& call);
  void rules(const std::shared_ptr<Call>& call);
  void inference(const std::shared_ptr<Call>& call);
  std::string model_text() const;
  std::string metrics() const;
  std::optional<ApiResponse> refused(const ApiRequest& request, const Target& target, Scope scope,
                                     std::string* who) const;

  Live& live_;
  const ApiSettings settings_;
  const Tokens* tokens_;
  const double started_;
  const std::uint64_t fingerprint_;
};

// The description of all of it (OpenAPI 3.1).
std::string openapi_text();

}  // namespace edict::server

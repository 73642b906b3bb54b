// What the server answers, apart from how bytes travel.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "front/server/http/health.h"
#include "front/server/http/tokens.h"
#include "front/server/live/live.h"

namespace edict::server {

struct ApiRequest {
  std::string method;  // "GET"
  std::string target;  // "/v1/streams/bed%203?limit=3"
  std::string content_type, authorization, if_none_match;
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
// Nothing where a percent sign is not followed by two digits, a text is not UTF-8, or a part before
// the last one is empty.
std::optional<Target> parse_target(std::string_view target);

// application/problem+json.
ApiResponse problem(int status, const std::string& detail,
                    const std::vector<Problem>& problems = {});

ApiResponse problem_of(const Failure& failure);

struct ApiSettings {
  std::string name = "edict";  // of the model
  double level = 0.9;          // of an interval where nobody asks for another
};

// What a token must allow before an address answers.
enum class Need : std::uint8_t { nothing, read, write, admin };

class Api {
 public:
  // `tokens`: nullptr where everybody may do everything. `health`: nullptr where only Live is
  // asked.
  Api(Live& live, ApiSettings settings, std::shared_ptr<const Tokens> tokens,
      const Health* health = nullptr);
  ~Api();

  // From the next request on; never nullptr where there were some.
  void set_tokens(std::shared_ptr<const Tokens> tokens);

  // Calls `done` exactly once, on any thread.
  void handle(ApiRequest request, std::function<void(ApiResponse)> done);

  // The answer that refuses a request, known from its header alone: an address that is not there, a
  // method that is not possible, or a token that does not allow it.
  std::optional<ApiResponse> refuses(const ApiRequest& head) const;
  // Whether a target asks how the server is, which is answered when nothing else is.
  static bool is_about_health(std::string_view target);
  // What a watcher is told first: members of a JSON object.
  std::string hello() const;

  struct Address {
    std::string method, path;  // "GET", "/v1/streams/*"
    Need need;
  };
  // All there are.
  static std::vector<Address> addresses();

 private:
  struct Call;
  struct Route;
  struct Admission;
  using Done = std::function<void(ApiResponse)>;

  static std::span<const Route> routes();
  Admission admit(const ApiRequest& head) const;
  std::optional<ApiResponse> check_token(Call& call, std::string_view token, Need need) const;

  void observations(const std::shared_ptr<Call>& call);
  void line_protocol(const std::shared_ptr<Call>& call);
  void submit(std::vector<Row> rows, Refused refused, Done done);
  void streams(const std::shared_ptr<Call>& call);
  void stream(const std::shared_ptr<Call>& call);
  void put_stream(const std::shared_ptr<Call>& call);
  void delete_stream(const std::shared_ptr<Call>& call);
  void trajectories(const std::shared_ptr<Call>& call);
  void history(const std::shared_ptr<Call>& call);
  void erase(const std::shared_ptr<Call>& call);
  void alarms(const std::shared_ptr<Call>& call);
  void acknowledge(const std::shared_ptr<Call>& call);
  void rules(const std::shared_ptr<Call>& call);
  void put_rules(const std::shared_ptr<Call>& call);
  void events(const std::shared_ptr<Call>& call);

  // api_about.cpp
  void livez(const std::shared_ptr<Call>& call);
  void readyz(const std::shared_ptr<Call>& call);
  void healthz(const std::shared_ptr<Call>& call);
  void page(const std::shared_ptr<Call>& call);
  void openapi(const std::shared_ptr<Call>& call);
  void model(const std::shared_ptr<Call>& call);
  void metrics(const std::shared_ptr<Call>& call);
  void audit(const std::shared_ptr<Call>& call);
  void rejected(const std::shared_ptr<Call>& call);
  void backup(const std::shared_ptr<Call>& call);
  std::vector<Health::Check> checks() const;

  // inference_protocol.cpp
  void inference_model(const std::shared_ptr<Call>& call);
  void inference_ready(const std::shared_ptr<Call>& call);
  void infer(const std::shared_ptr<Call>& call);
  bool is_other_model(const std::shared_ptr<Call>& call) const;

  Live& live_;
  const ApiSettings settings_;
  const Health* health_;
  const double started_;
  const std::uint64_t fingerprint_;

  mutable std::mutex tokens_mutex_;
  std::shared_ptr<const Tokens> tokens_;
};

// The description of all of it (OpenAPI 3.1).
std::string openapi_text();

}  // namespace edict::server

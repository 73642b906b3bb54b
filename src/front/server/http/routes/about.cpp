// What the server serves: its page, the description of its interface and its model.
#include <fmt/core.h>

#include "base/hash.h"
#include "front/server/http/routes/call.h"
#include "front/server/http/routes/handlers.h"
#include "front/server/page_files.h"

namespace edict::server {
namespace {

using nlohmann::json;

// What changes with the program alone: a client that has it need not get it again.
ApiResponse kept_by_clients(const ApiRequest& request, std::string_view type,
                            std::string_view content) {
  // Weak, for the same may travel packed.
  const std::string tag = fmt::format("W/\"{}\"", Hash().text(content).hex());
  ApiResponse answer{200, std::string(type), "", {{"ETag", tag}, {"Cache-Control", "no-cache"}}};
  if (request.if_none_match == "*" ||
      request.if_none_match.find(tag.substr(2)) != std::string::npos)
    answer.status = 304;
  else
    answer.body = content;
  return answer;
}

}  // namespace

void get_page(const CallPointer& call) {
  const std::string path = call->id.empty() ? "/" : "/page/" + call->id;
  for (const PageFile& file : page_files()) {
    if (file.path != path) continue;
    ApiResponse answer = kept_by_clients(call->request, file.type, file.content);
    answer.headers.emplace_back(
        "Content-Security-Policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "connect-src 'self'; base-uri 'none'; frame-ancestors 'none'");
    return call->done(std::move(answer));
  }
  call->fail(FailureCode::not_found, "the page has no such file");
}

void get_openapi(const CallPointer& call) {
  static const std::string kText = openapi_text();
  call->done(kept_by_clients(call->request, "application/json", kText));
}

void get_model(const CallPointer& call) {
  const Live& live = call->live();
  const Model& model = live.model();
  const StreamClock& clock = live.clock();
  json features = json::array();
  for (std::size_t j = 0; j < model.features.size(); ++j)
    features.push_back({{"name", model.features[j]},
                        {"mean", model.protocol.population.mean[j]},
                        {"deviation", model.protocol.population.scale[j]}});
  const double seconds = clock.seconds_in_unit();
  const double of_time = clock.seconds_of_time();
  const json time{{"kind", clock.calendar() ? "unix" : "number"},
                  {"unit", clock.time_unit_name()},
                  {"seconds", of_time > 0 ? json(of_time) : json()}};
  const json body{{"name", call->service.settings.name},
                  {"fingerprint", fmt::format("{:016x}", call->service.fingerprint)},
                  {"features", std::move(features)},
                  {"statics", model.statics},
                  {"time", time},
                  {"duration",
                   {{"unit", seconds > 0 ? std::string(clock.unit_name()) : std::string()},
                    {"seconds", seconds > 0 ? json(seconds) : json()}}},
                  {"horizon", model.protocol.horizon},
                  {"guard", name_of(live.settings().guard.kind)},
                  {"level", call->service.settings.level},
                  {"version", EDICT_VERSION},
                  {"research", "Research software, not a medical device"}};
  call->done(json_answer(body));
}

}  // namespace edict::server

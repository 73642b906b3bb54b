// What the server tells of itself, and what is done to it as a whole.
#include <fmt/core.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/json/json.h"
#include "base/json/json_text.h"
#include "base/text/utf8.h"
#include "front/server/http/api.h"
#include "front/server/http/api_call.h"
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

// ---- how it is ----

std::vector<Health::Check> Api::checks() const {
  if (health_) return health_->checks();
  return {{"store", live_.store_problem()}};
}

void Api::livez(const std::shared_ptr<Call>& call) { call->done(json_answer({{"status", "ok"}})); }

void Api::readyz(const std::shared_ptr<Call>& call) {
  json states = json::object();
  bool ready = true;
  for (const Health::Check& check : checks()) {
    states[check.name] = check.problem.empty() ? "ok" : check.problem;
    ready = ready && check.problem.empty();
  }
  call->done(json_answer({{"status", ready ? "ok" : "failing"}, {"checks", std::move(states)}},
                         ready ? 200 : 503));
}

void Api::healthz(const std::shared_ptr<Call>& call) {
  for (const Health::Check& check : checks())
    if (!check.problem.empty())
      return call->done(
          json_answer({{"status", check.name + " failing"}, {"detail", check.problem}}, 503));
  call->done(json_answer({{"status", "ok"},
                          {"streams", live_.streams()},
                          {"pending", live_.pending()},
                          {"uptime", running_seconds() - started_}}));
}

void Api::metrics(const std::shared_ptr<Call>& call) {
  const Counters& c = live_.counters();
  std::string text;
  const auto add = [&](const char* name, const char* kind, const char* help, double value) {
    text += fmt::format("# HELP edict_{0} {1}\n# TYPE edict_{0} {2}\nedict_{0} {3:.15g}\n", name,
                        help, kind, value);
  };
  const auto n = [](const std::atomic<std::uint64_t>& value) {
    return static_cast<double>(value.load());
  };
  add("values_total", "counter", "Values stored, new or corrected.", n(c.values));
  add("values_unchanged_total", "counter", "Values that were known already.", n(c.unchanged));
  add("values_corrected_total", "counter", "Values that replaced another.", n(c.corrected));
  add("values_late_total", "counter", "Values that came behind later ones.", n(c.late));
  add("events_absorbed_total", "counter", "Events absorbed in order.", n(c.events));
  add("replays_total", "counter", "Streams read again for late or corrected values.", n(c.replays));
  add("commits_total", "counter", "Durable commits.", n(c.commits));
  add("commit_seconds_total", "counter", "Time in commits.", c.commit_seconds.load());
  add("refused_full_total", "counter", "Requests answered 429.", n(c.refused_full));
  add("store_failures_total", "counter", "Transactions that failed.", n(c.store_failures));
  add("faults_total", "counter", "Events that no model could absorb.", n(c.faults));
  add("rejected_total", "counter", "Messages put into the table of rejected ones.", n(c.rejected));
  add("alarms_fired_total", "counter", "Alarms that came to firing.", n(c.alarms));
  add("streams", "gauge", "Streams known.", static_cast<double>(live_.streams()));
  add("pending_values", "gauge", "Values taken and not answered.",
      static_cast<double>(live_.pending()));
  add("event_watchers", "gauge", "Clients of /v1/events.",
      static_cast<double>(live_.event_log().watchers()));
  add("store_healthy", "gauge", "1 while the store can be written to.",
      checks().front().problem.empty() ? 1 : 0);
  add("uptime_seconds", "gauge", "Since the server began.", running_seconds() - started_);
  text +=
      "# HELP edict_ready 1 while this part works, as /readyz tells.\n# TYPE edict_ready gauge\n";
  for (const Health::Check& check : checks())
    text += fmt::format("edict_ready{{part=\"{}\"}} {:d}\n", check.name, check.problem.empty());
  text += fmt::format(
      "# HELP edict_build_info The version that runs.\n# TYPE edict_build_info gauge\n"
      "edict_build_info{{version=\"{}\",model=\"{:016x}\"}} 1\n",
      EDICT_VERSION, fingerprint_);
  call->done({200, "text/plain; version=0.0.4; charset=utf-8", std::move(text)});
}

// ---- what it is ----

void Api::page(const std::shared_ptr<Call>& call) {
  const std::string& target = call->request.target;
  const std::string_view path =
      std::string_view(target).substr(0, std::min(target.find('?'), target.size()));
  for (const PageFile& file : page_files()) {
    if (file.path != path) continue;
    ApiResponse answer = kept_by_clients(call->request, file.type, file.content);
    answer.headers.emplace_back(
        "Content-Security-Policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "connect-src 'self'; base-uri 'none'; frame-ancestors 'none'");
    return call->done(std::move(answer));
  }
  call->done(problem(404, "the page has no such file"));
}

void Api::openapi(const std::shared_ptr<Call>& call) {
  call->done(kept_by_clients(call->request, "application/json", openapi_text()));
}

void Api::model(const std::shared_ptr<Call>& call) {
  const Model& model = live_.model();
  const StreamClock& clock = live_.clock();
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
  const json body{{"name", settings_.name},
                  {"fingerprint", fmt::format("{:016x}", fingerprint_)},
                  {"features", std::move(features)},
                  {"statics", model.statics},
                  {"time", time},
                  {"duration",
                   {{"unit", seconds > 0 ? std::string(clock.unit_name()) : std::string()},
                    {"seconds", seconds > 0 ? json(seconds) : json()}}},
                  {"horizon", model.protocol.horizon},
                  {"guard", name_of(live_.settings().guard.kind)},
                  {"level", settings_.level},
                  {"version", EDICT_VERSION},
                  {"research", "Research software, not a medical device"}};
  call->done(json_answer(body));
}

// ---- what was done ----

void Api::audit(const std::shared_ptr<Call>& call) {
  const std::size_t limit = call->count("limit", 100, 10000);
  live_.aside([call, limit](Live::Access access) {
    try {
      json list = json::array();
      for (const AuditLine& line : access.store.audit(limit))
        list.push_back({{"at", line.at},
                        {"what", line.what},
                        {"who", line.who},
                        {"stream", line.stream},
                        {"detail", line.detail}});
      call->done(json_answer({{"audit", std::move(list)}}));
    } catch (const std::exception& e) {
      call->done(problem(503, e.what()));
    }
  });
}

void Api::rejected(const std::shared_ptr<Call>& call) {
  const std::size_t limit = call->count("limit", 100, 10000);
  live_.aside([call, limit](Live::Access access) {
    try {
      json list = json::array();
      for (const RejectedLine& line : access.store.rejected(limit))
        list.push_back({{"at", line.at},
                        {"source", line.source},
                        {"detail", line.detail},
                        {"payload", valid_utf8(line.payload) ? line.payload : "(not UTF-8)"}});
      call->done(json_answer({{"rejected", std::move(list)}}));
    } catch (const std::exception& e) {
      call->done(problem(503, e.what()));
    }
  });
}

void Api::backup(const std::shared_ptr<Call>& call) {
  const json body = parse_json(call->request.body);
  if (!body.is_object() || !body.contains("to") || !body["to"].is_string())
    throw BadInput({{0, "to", "is missing; name the file that is to be written"}});
  const std::string to = body["to"].get<std::string>();
  live_.aside([call, to](Live::Access access) {
    try {
      access.store.backup(to);
    } catch (const MachineError& e) {
      return call->done(problem(503, e.what()));
    } catch (const std::exception& e) {
      return call->done(problem(422, e.what()));
    }
    access.live.write(
        [call, to](Store& store) {
          store.add_audit({wall_seconds(), "backup", call->who, "", to});
        },
        [call, to](const auto&) {
          call->done(json_answer({{"backup", to}}));
        });
  });
}

}  // namespace edict::server

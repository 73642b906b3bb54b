#include "front/server/http/routes/handlers.h"
#include "front/server/http/routes/route.h"

namespace edict::server {
namespace {

using Kind = Parameter::Kind;

constexpr std::size_t kSmall = 1 << 20;  // bytes of a body that is no list of values

Parameter integer(std::string_view name, double high, std::string_view help) {
  return {name, Kind::integer, help, 0, high, {}};
}
Parameter level() { return {"level", Kind::number, "of the central interval", 1e-6, 1 - 1e-9, {}}; }
Parameter features() { return {"features", Kind::features, "only these"}; }
Parameter most(double high) { return integer("limit", high, "the most entries that are listed"); }

BodyAbout json_body(std::string_view schema, bool may_be_empty = false) {
  return {{"application/json"}, schema, kSmall, may_be_empty};
}
AnswerAbout no_body(int status) { return {"", "", status}; }

std::vector<Route> health_routes() {
  constexpr bool kAboutHealth = true;
  return {
      {"GET",
       "/livez",
       Need::nothing,
       &get_livez,
       "Whether the program answers; else it should be started again.",
       {"Live"},
       {},
       {},
       kAboutHealth},
      {"GET",
       "/readyz",
       Need::nothing,
       &get_readyz,
       "Whether it can do its work: the store can be written to, the broker is connected. 503 "
       "where not.",
       {"Ready"},
       {},
       {},
       kAboutHealth},
      {"GET",
       "/healthz",
       Need::nothing,
       &get_healthz,
       "As /readyz, with some figures.",
       {"Health"},
       {},
       {},
       kAboutHealth},
      {"GET",
       "/v2/health/live",
       Need::nothing,
       &get_livez,
       "Open Inference Protocol: as /livez.",
       {"Live"},
       {},
       {},
       kAboutHealth},
      {"GET",
       "/v2/health/ready",
       Need::nothing,
       &get_readyz,
       "Open Inference Protocol: as /readyz.",
       {"Ready"},
       {},
       {},
       kAboutHealth},
      {"GET", "/metrics", Need::read, &get_metrics, "Counters for Prometheus.", {"", "text/plain"}},
  };
}

std::vector<Route> about_routes() {
  return {
      {"GET", "/", Need::nothing, &get_page, "The page to watch the streams.", {"", "text/html"}},
      {"GET", "/page/{file}", Need::nothing, &get_page, "A file of the page.", {"", "*/*"}},
      {"GET", "/openapi.json", Need::nothing, &get_openapi, "This description.", {"Description"}},
      {"GET",
       "/v1/model",
       Need::read,
       &get_model,
       "The model: its features, covariates and clock.",
       {"Model"}},
  };
}

std::vector<Route> observation_routes() {
  return {
      {"POST",
       "/v1/observations",
       Need::write,
       &post_observations,
       "Takes observed values. Answered when they are durable and absorbed; sending them again "
       "changes nothing. 207 where some were refused.",
       {"Stored"},
       {},
       {{"application/x-ndjson", "application/json", "text/csv"}, "Observations"}},
      {"POST",
       "/api/v2/write",
       Need::write,
       &write_line_protocol,
       "InfluxDB line protocol. 400 where some values were refused and the others stored.",
       no_body(204),
       {{"precision", Kind::choice, "ns, us, ms or s", 0, 0, {"ns", "us", "ms", "s"}},
        {"org", Kind::text, "which InfluxDB's clients send; any"},
        {"orgID", Kind::text, "which InfluxDB's clients send; any"},
        {"bucket", Kind::text, "which InfluxDB's clients send; any"}},
       {{"text/plain"}}},
      {"GET",
       "/v1/streams/{id}/history",
       Need::read,
       &get_history,
       "The observed values.",
       {"History"},
       {{"from", Kind::time, "a time"}, {"to", Kind::time, "a time"}, most(100000), features()}},
      {"DELETE",
       "/v1/streams/{id}/observations",
       Need::admin,
       &delete_observations,
       "Removes values as if they had never come.",
       {"Removed"},
       {{"at", Kind::time, "a time"},
        {"from", Kind::time, "or a time"},
        {"to", Kind::time, "and another"},
        features()}},
  };
}

std::vector<Route> stream_routes() {
  return {
      {"GET",
       "/v1/streams",
       Need::read,
       &list_streams,
       "Streams, the most urgent first.",
       {"Streams"},
       {{"sort", Kind::choice, "urgency, id or received", 0, 0, {"urgency", "id", "received"}},
        most(10000),
        integer("offset", 1e8, "entries that are left out before them"),
        {"q", Kind::text, "whose id holds this text"}}},
      {"GET",
       "/v1/streams/{id}",
       Need::read,
       &get_stream,
       "One stream, its last values and alarms.",
       {"Stream"}},
      {"PUT",
       "/v1/streams/{id}",
       Need::write,
       &put_stream,
       "Sets statics, labels and origin of a stream.",
       {"Stream"},
       {},
       json_body("StreamAbout", true)},
      {"DELETE", "/v1/streams/{id}", Need::admin, &delete_stream,
       "Removes a stream and all of its data.", no_body(204)},
  };
}

std::vector<Route> forecast_routes() {
  return {
      {"GET",
       "/v1/streams/{id}/distribution",
       Need::read,
       &get_distribution,
       "The distribution of every feature at any times.",
       {"Distribution"},
       {{"at", Kind::times, "times, with commas"},
        {"ahead", Kind::numbers, "or times after the newest observation"},
        level(),
        features(),
        {"quantiles", Kind::numbers, "probabilities between 0 and 1"},
        {"above", Kind::limits, "FEATURE:LIMIT, the probability of more"},
        {"below", Kind::limits, "FEATURE:LIMIT, the probability of less"},
        {"within",
         Kind::number,
         "the largest probability of the limits within this time",
         0,
         1e12,
         {}}}},
      {"GET",
       "/v1/streams/{id}/trajectory",
       Need::read,
       &get_trajectory,
       "What was and is expected, in columns for a chart.",
       {"Trajectory"},
       {{"from", Kind::time, "a time"},
        {"to", Kind::time, "a time"},
        integer("points", 2000, "of the grid"),
        level(),
        features()}},
      {"GET",
       "/v1/trajectories",
       Need::read,
       &list_trajectories,
       "Small charts of several streams, each of the feature that says most.",
       {"Trajectories"},
       {{"streams", Kind::texts, "ids, with commas"},
        {"stream", Kind::texts, "another id, which may be given again"},
        integer("points", 500, "of the grid"),
        level()}},
  };
}

std::vector<Route> alarm_routes() {
  constexpr bool kWatches = true;
  return {
      {"GET",
       "/v1/alarms",
       Need::read,
       &list_alarms,
       "Alarms that are not over.",
       {"Alarms"},
       {{"state",
         Kind::choices,
         "pending, firing, recovering",
         0,
         0,
         {"pending", "firing", "recovering"}},
        {"stream", Kind::text, "of this stream"},
        most(100000)}},
      {"POST",
       "/v1/alarms/{id}/acknowledge",
       Need::write,
       &acknowledge_alarm,
       "Acknowledges an alarm: by and reason.",
       {"Alarm"},
       {},
       json_body("Acknowledgement")},
      {"GET", "/v1/rules", Need::read, &get_rules, "The rules that alarms come from.", {"Rules"}},
      {"PUT",
       "/v1/rules",
       Need::admin,
       &put_rules,
       "Replaces the rules.",
       {"Rules"},
       {},
       {{"application/json", "application/toml"}, "Rules", kSmall}},
      {"GET",
       "/v1/events",
       Need::read,
       &answer_events,
       "Server-sent events: hello, stream, alarm, gone, rules, reset. Last-Event-ID replays.",
       {"", "text/event-stream"},
       {{"streams", Kind::texts, "only these"},
        {"since", Kind::integer, "the number of the last event that was seen", 0, 9e15, {}},
        {"token", Kind::text, "for clients that cannot send a header"}},
       {},
       false,
       kWatches},
  };
}

std::vector<Route> operation_routes() {
  return {
      {"GET",
       "/v1/audit",
       Need::read,
       &get_audit,
       "What was done, newest first.",
       {"Audit"},
       {most(10000)}},
      {"GET",
       "/v1/rejected",
       Need::read,
       &get_rejected,
       "Messages that could not be taken, newest first.",
       {"Rejected"},
       {most(10000)}},
      {"POST",
       "/v1/backup",
       Need::admin,
       &post_backup,
       "Writes a copy of the store to a new file.",
       {"Backup"},
       {},
       json_body("BackupRequest")},
  };
}

std::vector<Route> inference_routes() {
  return {
      {"GET",
       "/v2/models/{id}",
       Need::read,
       &get_inference_model,
       "Open Inference Protocol: inputs and outputs.",
       {"InferenceModel"}},
      {"GET", "/v2/models/{id}/ready", Need::read, &get_inference_ready,
       "Open Inference Protocol: whether the model is there.", no_body(200)},
      {"POST",
       "/v2/models/{id}/infer",
       Need::write,
       &infer,
       "Open Inference Protocol: a sequence is a stream.",
       {"InferenceAnswer"},
       {},
       {{"application/json"}, "InferenceRequest"}},
  };
}

}  // namespace

const std::vector<Route>& routes() {
  static const std::vector<Route> kRoutes = [] {
    std::vector<Route> all;
    for (const auto& part : {health_routes, about_routes, observation_routes, stream_routes,
                             forecast_routes, alarm_routes, operation_routes, inference_routes}) {
      const std::vector<Route> some = part();
      all.insert(all.end(), some.begin(), some.end());
    }
    return all;
  }();
  return kRoutes;
}

}  // namespace edict::server

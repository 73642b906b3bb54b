// The description of the interface, written out of one list of paths.
#include <algorithm>
#include <cctype>

#include "base/json/json.h"
#include "base/json/json_text.h"
#include "front/server/http/api.h"
#include "front/server/http/openapi_schemas.h"

namespace edict::server {
namespace {

using nlohmann::json;

struct Parameter {
  const char* name;
  const char* help;
};

struct Operation {
  const char* path;
  const char* method;
  const char* summary;
  const char* answer = "";  // the schema of it
  std::vector<Parameter> query = {};
  std::vector<const char*> body = {};  // media types
  const char* body_schema = "";        // of those that are JSON
  const char* answers = "application/json";
  int status = 200;
};

const std::vector<Operation>& operations() {
  static const std::vector<Operation> kOperations{
      {"/livez", "get", "Whether the program answers; else it should be started again.", "Live"},
      {"/readyz", "get",
       "Whether it can do its work: the store can be written to, the broker is connected. 503 "
       "where "
       "not.",
       "Ready"},
      {"/healthz", "get", "As /readyz, with some figures.", "Health"},
      {"/metrics", "get", "Counters for Prometheus.", "", {}, {}, "", "text/plain"},
      {"/v1/model", "get", "The model: its features, covariates and clock.", "Model"},
      {"/v1/observations",
       "post",
       "Takes observed values. Answered when they are durable and absorbed; sending them again "
       "changes nothing. 207 where some were refused.",
       "Stored",
       {},
       {"application/x-ndjson", "application/json", "text/csv"},
       "Observations"},
      {"/api/v2/write",
       "post",
       "InfluxDB line protocol. 400 where some values were refused and the others stored.",
       "",
       {{"precision", "ns, us, ms or s"}},
       {"text/plain"},
       "",
       "",
       204},
      {"/v1/streams",
       "get",
       "Streams, the most urgent first.",
       "Streams",
       {{"sort", "urgency, id or received"},
        {"limit", "at most so many"},
        {"offset", "after so many"},
        {"q", "whose id holds this text"}}},
      {"/v1/streams/{id}", "get", "One stream, its last values and alarms.", "Stream"},
      {"/v1/streams/{id}",
       "put",
       "Tells of a stream: statics, labels, origin.",
       "Stream",
       {},
       {"application/json"},
       "StreamAbout"},
      {"/v1/streams/{id}",
       "delete",
       "Removes a stream and all of its data.",
       "",
       {},
       {},
       "",
       "",
       204},
      {"/v1/streams/{id}/distribution",
       "get",
       "The distribution of every feature at any times.",
       "Distribution",
       {{"at", "times, with commas"},
        {"ahead", "or times after the newest observation"},
        {"level", "of the central interval"},
        {"features", "only these"},
        {"quantiles", "probabilities between 0 and 1"},
        {"above", "FEATURE:LIMIT, the probability of more"},
        {"below", "FEATURE:LIMIT, the probability of less"},
        {"within", "the largest probability of the limits within this time"}}},
      {"/v1/streams/{id}/trajectory",
       "get",
       "What was and is expected, in columns for a chart.",
       "Trajectory",
       {{"from", "a time"},
        {"to", "a time"},
        {"points", "of the grid"},
        {"level", "of the central interval"},
        {"features", "only these"}}},
      {"/v1/trajectories",
       "get",
       "Small charts of several streams, each of the feature that says most.",
       "Trajectories",
       {{"streams", "ids, with commas"},
        {"points", "of the grid"},
        {"level", "of the central interval"}}},
      {"/v1/streams/{id}/history",
       "get",
       "The observed values.",
       "History",
       {{"from", "a time"},
        {"to", "a time"},
        {"limit", "at most so many"},
        {"features", "only these"}}},
      {"/v1/streams/{id}/observations",
       "delete",
       "Removes values as if they had never come.",
       "Removed",
       {{"at", "a time"},
        {"from", "or a time"},
        {"to", "and another"},
        {"features", "only these"}}},
      {"/v1/alarms",
       "get",
       "Alarms that are not over.",
       "Alarms",
       {{"state", "pending, firing, recovering"},
        {"stream", "of this stream"},
        {"limit", "at most so many"}}},
      {"/v1/alarms/{id}/acknowledge",
       "post",
       "Acknowledges an alarm: by and reason.",
       "Alarm",
       {},
       {"application/json"},
       "Acknowledgement"},
      {"/v1/rules", "get", "The rules that alarms come from.", "Rules"},
      {"/v1/rules",
       "put",
       "Replaces the rules.",
       "Rules",
       {},
       {"application/json", "application/toml"},
       "Rules"},
      {"/v1/audit", "get", "What was done, newest first.", "Audit", {{"limit", "at most so many"}}},
      {"/v1/rejected",
       "get",
       "Messages that could not be understood, newest first.",
       "Rejected",
       {{"limit", "at most so many"}}},
      {"/v1/backup",
       "post",
       "Writes a copy of the store to a new file.",
       "Backup",
       {},
       {"application/json"},
       "BackupRequest"},
      {"/v1/events",
       "get",
       "Server-sent events: hello, stream, alarm, gone, rules, reset. Last-Event-ID replays.",
       "",
       {{"streams", "only these"}, {"since", "the number of the last event that was seen"}},
       {},
       "",
       "text/event-stream"},
      {"/v2/health/live", "get", "Open Inference Protocol: as /livez.", "Live"},
      {"/v2/health/ready", "get", "Open Inference Protocol: as /readyz.", "Ready"},
      {"/v2/models/{id}", "get", "Open Inference Protocol: inputs and outputs.", "InferenceModel"},
      {"/v2/models/{id}/ready", "get", "Open Inference Protocol.", "", {}, {}, "", ""},
      {"/v2/models/{id}/infer",
       "post",
       "Open Inference Protocol: a sequence is a stream.",
       "InferenceAnswer",
       {},
       {"application/json"},
       "InferenceRequest"}};
  return kOperations;
}

json schema_of(const std::string& name) {
  if (name.empty()) return {{"type", "string"}};
  return {{"$ref", "#/components/schemas/" + name}};
}

// What a token must allow; nothing where none is needed.
json security_of(const Operation& operation) {
  for (const Api::Address& address : Api::addresses()) {
    std::string path = operation.path, method = address.method;
    if (const std::size_t id = path.find("{id}"); id != std::string::npos) path.replace(id, 4, "*");
    std::ranges::transform(method, method.begin(), [](char c) { return std::tolower(c); });
    if (path != address.path || method != operation.method) continue;
    if (address.need == Need::nothing) return json::array();
    const char* scope = address.need == Need::read    ? "read"
                        : address.need == Need::write ? "write"
                                                      : "admin";
    return json::array({json::object(), {{"token", {scope}}}});
  }
  return json::array();
}

}  // namespace

std::string openapi_text() {
  json paths = json::object();
  for (const Operation& operation : operations()) {
    json parameters = json::array();
    const std::string path = operation.path;
    if (path.find("{id}") != std::string::npos)
      parameters.push_back(
          {{"name", "id"}, {"in", "path"}, {"required", true}, {"schema", {{"type", "string"}}}});
    for (const Parameter& parameter : operation.query)
      parameters.push_back({{"name", parameter.name},
                            {"in", "query"},
                            {"description", parameter.help},
                            {"schema", {{"type", "string"}}}});
    json answer{{"description", "Done"}};
    if (*operation.answers != '\0')
      answer["content"] = {{operation.answers, {{"schema", schema_of(operation.answer)}}}};
    json one{{"summary", operation.summary},
             {"security", security_of(operation)},
             {"responses",
              {{std::to_string(operation.status), std::move(answer)},
               {"default",
                {{"description", "What is wrong, as problem+json"},
                 {"content",
                  {{"application/problem+json",
                    {{"schema", {{"$ref", "#/components/schemas/Problem"}}}}}}}}}}}};
    if (!parameters.empty()) one["parameters"] = std::move(parameters);
    if (!operation.body.empty()) {
      json content = json::object();
      for (const std::string type : operation.body)
        content[type] = {
            {"schema", schema_of(type == "application/json" ? operation.body_schema : "")}};
      one["requestBody"] = {{"required", true}, {"content", std::move(content)}};
    }
    if (operation.path == std::string_view("/v1/observations"))
      one["responses"]["207"] = one["responses"]["200"];
    paths.emplace(path, json::object()).first.value()[operation.method] = std::move(one);
  }
  const json document{
      {"openapi", "3.1.0"},
      {"info",
       {{"title", "edict"},
        {"version", EDICT_VERSION},
        {"description",
         "Live streams of a model of irregular time series. Research software, not a medical "
         "device."}}},
      {"paths", std::move(paths)},
      {"components",
       {{"securitySchemes", {{"token", {{"type", "http"}, {"scheme", "bearer"}}}}},
        {"schemas", parse_json(openapi_schemas())}}}};
  return json_text(document) + "\n";
}

}  // namespace edict::server

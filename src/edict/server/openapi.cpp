// The description of the interface, written out of one list of paths.

#include "edict/core/json.h"
#include "edict/core/json_text.h"
#include "edict/server/api.h"

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
  std::vector<Parameter> query = {};
  std::vector<const char*> body = {};  // media types
  const char* answers = "application/json";
  int status = 200;
};

const std::vector<Operation>& operations() {
  static const std::vector<Operation> kOperations{
      {"/healthz", "get", "Whether the server works. Needs no token."},
      {"/metrics", "get", "Counters for Prometheus.", {}, {}, "text/plain"},
      {"/v1/model", "get", "The model: its features, covariates and clock."},
      {"/v1/observations",
       "post",
       "Takes observed values. Answered when they are durable and absorbed; sending them again "
       "changes nothing.",
       {},
       {"application/x-ndjson", "application/json", "text/csv"}},
      {"/api/v2/write",
       "post",
       "InfluxDB line protocol.",
       {{"precision", "ns, us, ms or s"}},
       {"text/plain"},
       "",
       204},
      {"/v1/streams",
       "get",
       "Streams, the most urgent first.",
       {{"sort", "urgency, id or received"},
        {"limit", "at most so many"},
        {"offset", "after so many"},
        {"q", "whose id holds this text"}}},
      {"/v1/streams/{id}", "get", "One stream, its last values and alarms."},
      {"/v1/streams/{id}",
       "put",
       "Tells of a stream: statics, labels, origin.",
       {},
       {"application/json"}},
      {"/v1/streams/{id}", "delete", "Removes a stream and all of its data.", {}, {}, "", 204},
      {"/v1/streams/{id}/distribution",
       "get",
       "The distribution of every feature at any times.",
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
       {{"from", "a time"},
        {"to", "a time"},
        {"points", "of the grid"},
        {"level", "of the central interval"},
        {"features", "only these"}}},
      {"/v1/trajectories",
       "get",
       "Small charts of several streams, each of the feature that says most.",
       {{"streams", "ids, with commas"},
        {"points", "of the grid"},
        {"level", "of the central interval"}}},
      {"/v1/streams/{id}/history",
       "get",
       "The observed values.",
       {{"from", "a time"},
        {"to", "a time"},
        {"limit", "at most so many"},
        {"features", "only these"}}},
      {"/v1/streams/{id}/observations",
       "delete",
       "Removes values as if they had never come.",
       {{"at", "a time"},
        {"from", "or a time"},
        {"to", "and another"},
        {"features", "only these"}}},
      {"/v1/alarms",
       "get",
       "Alarms that are not over.",
       {{"state", "pending, firing, recovering"},
        {"stream", "of this stream"},
        {"limit", "at most so many"}}},
      {"/v1/alarms/{id}/acknowledge",
       "post",
       "Acknowledges an alarm: by and reason.",
       {},
       {"application/json"}},
      {"/v1/rules", "get", "The rules that alarms come from."},
      {"/v1/rules", "put", "Replaces the rules.", {}, {"application/json", "application/toml"}},
      {"/v1/audit", "get", "What was done, newest first.", {{"limit", "at most so many"}}},
      {"/v1/rejected",
       "get",
       "Messages that could not be understood, newest first.",
       {{"limit", "at most so many"}}},
      {"/v1/backup", "post", "Writes a copy of the store to a new file.", {}, {"application/json"}},
      {"/v1/events",
       "get",
       "Server-sent events: hello, stream, alarm, gone, rules, reset. Last-Event-ID replays.",
       {{"streams", "only these"}, {"since", "the number of the last event that was seen"}},
       {},
       "text/event-stream"},
      {"/v2/health/live", "get", "Open Inference Protocol."},
      {"/v2/health/ready", "get", "Open Inference Protocol."},
      {"/v2/models/{id}", "get", "Open Inference Protocol: inputs and outputs."},
      {"/v2/models/{id}/infer",
       "post",
       "Open Inference Protocol: a sequence is a stream.",
       {},
       {"application/json"}}};
  return kOperations;
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
      answer["content"] = {{operation.answers, {{"schema", json::object()}}}};
    json one{{"summary", operation.summary},
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
      for (const char* type : operation.body) content[type] = {{"schema", json::object()}};
      one["requestBody"] = {{"required", true}, {"content", std::move(content)}};
    }
    paths.emplace(path, json::object()).first.value()[operation.method] = std::move(one);
  }
  const json text{{"type", "string"}};
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
        {"schemas",
         {{"Problem",
           {{"type", "object"},
            {"properties",
             {{"title", text},
              {"status", {{"type", "integer"}}},
              {"detail", text},
              {"errors",
               {{"type", "array"},
                {"items",
                 {{"type", "object"},
                  {"properties",
                   {{"line", {{"type", "integer"}}},
                    {"field", text},
                    {"detail", text}}}}}}}}}}}}}}},
      {"security", json::array({json::object(), {{"token", json::array()}}})}};
  return json_text(document) + "\n";
}

}  // namespace edict::server

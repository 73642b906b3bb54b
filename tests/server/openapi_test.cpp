// /openapi.json describes what the server answers: every answer is held against its schema.
#include <algorithm>
#include <cctype>
#include <set>

#include "front/server/http/api.h"
#include "front/server/http/routes/route.h"
#include "server/server_program.h"

namespace edict::server {
namespace {

const json& document() {
  static const json read = json::parse(openapi_text());
  return read;
}

bool has_type(const json& value, const std::string& type) {
  return type == "object"    ? value.is_object()
         : type == "array"   ? value.is_array()
         : type == "string"  ? value.is_string()
         : type == "integer" ? value.is_number_integer()
         : type == "number"  ? value.is_number()
         : type == "boolean" ? value.is_boolean()
                             : value.is_null();
}

// As much of JSON Schema as is used there. A member that is not described is a fault too.
void check(const json& value, const json& schema, const std::string& where) {
  if (schema.contains("$ref")) {
    const std::string name = schema["$ref"].get<std::string>().substr(21);
    return check(value, document()["components"]["schemas"].at(name), where);
  }
  if (schema.contains("const")) {
    EXPECT_EQ(value, schema["const"]) << where;
  }
  if (schema.contains("enum")) {
    EXPECT_NE(std::find(schema["enum"].begin(), schema["enum"].end(), value), schema["enum"].end())
        << where << ": " << value;
  }
  if (schema.contains("type")) {
    const json types = schema["type"].is_array() ? schema["type"] : json::array({schema["type"]});
    EXPECT_TRUE(std::any_of(types.begin(), types.end(),
                            [&](const json& type) { return has_type(value, type); }))
        << where << ": " << value;
  }
  for (const json& name : schema.value("required", json::array()))
    EXPECT_TRUE(value.contains(name.get<std::string>())) << where << ": " << name << " is missing";
  if (value.is_array() && schema.contains("items"))
    for (std::size_t i = 0; i < value.size(); ++i)
      check(value[i], schema["items"], where + "[" + std::to_string(i) + "]");
  if (!value.is_object()) return;
  for (const auto& [name, member] : value.items()) {
    const std::string there = where + "." + name;
    if (schema.contains("properties") && schema["properties"].contains(name))
      check(member, schema["properties"][name], there);
    else if (schema.contains("additionalProperties"))
      check(member, schema["additionalProperties"], there);
    else
      EXPECT_FALSE(schema.contains("properties")) << there << " is not described";
  }
}

class OpenApiTest : public ProgramTest {
 protected:
  // Asks, and holds the answer against what is written of it. `path` as it is written there.
  json described(const std::string& method, const std::string& path, const std::string& target,
                 const std::string& body = "") {
    const Answer answer = ask(method, target, body);
    EXPECT_LT(answer.status, 300) << method << ' ' << target << ": " << answer.body;
    std::string lower = method;
    for (char& c : lower) c = static_cast<char>(std::tolower(c));
    const json& operation = document()["paths"].at(path).at(lower);
    asked_.insert(method + " " + path);
    const json& answered = operation.at("responses").at(std::to_string(answer.status));
    if (!answered.contains("content") || !answered["content"].contains("application/json"))
      return {};
    const json value = json::parse(answer.body);
    check(value, answered["content"]["application/json"]["schema"], method + " " + target);
    return value;
  }

  std::set<std::string> asked_;
};

TEST_F(OpenApiTest, EveryAnswerIsAsDescribed) {
  ASSERT_TRUE(start("--time-unit h")) << folder_.read("err");
  const std::string id = waves().ids[0], stream = "/v1/streams/" + id;
  described("POST", "/v1/observations", "/v1/observations", ndjson(rows_of(waves(), 0)));
  described("POST", "/v1/observations", "/v1/observations",
            ndjson(rows_of(waves(), 1)) + "nonsense\n");
  described("POST", "/api/v2/write", "/api/v2/write?precision=s", "w,stream=l x1=1 1700000000\n");
  const std::string rules = R"({"rules":[
      {"name":"high","kind":"crosses","feature":"x1","above":-1000,"within":1,"probability":0.5},
      {"name":"odd","kind":"outside","level":0.99},{"name":"vague","kind":"uncertainty","ratio":0.1},
      {"name":"lost","kind":"silence","for":900}]})";
  described("PUT", "/v1/rules", "/v1/rules", rules);
  described("GET", "/v1/rules", "/v1/rules");
  described("PUT", "/v1/streams/{id}", "/v1/streams/new", R"({"labels":{"ward":3}})");
  described("POST", "/v1/observations", "/v1/observations",
            "{\"stream\":\"" + id + "\",\"time\":14,\"values\":{\"x1\":0.5}}");
  json alarms;
  for (int tried = 0; tried < 400 && alarms.empty(); ++tried) {
    alarms = described("GET", "/v1/alarms", "/v1/alarms").at("alarms");
    usleep(25000);
  }
  ASSERT_FALSE(alarms.empty());
  described("POST", "/v1/alarms/{id}/acknowledge",
            "/v1/alarms/" + alarms[0].at("id").dump() + "/acknowledge",
            R"({"by":"anna","reason":"moved"})");
  described("GET", "/v1/alarms", "/v1/alarms");
  described("GET", "/v1/streams", "/v1/streams");
  described("GET", "/v1/streams/{id}", stream);
  described("GET", "/v1/streams/{id}", "/v1/streams/new");
  described("GET", "/v1/streams/{id}/distribution", stream + kQuestion);
  described("GET", "/v1/streams/{id}/trajectory", stream + "/trajectory?points=20&from=1");
  described("GET", "/v1/streams/{id}/history", stream + "/history?limit=5");
  described("GET", "/v1/trajectories", "/v1/trajectories?streams=" + id);
  described("GET", "/v1/model", "/v1/model");
  described("GET", "/v1/audit", "/v1/audit");
  described("GET", "/v1/rejected", "/v1/rejected");
  described("POST", "/v1/backup", "/v1/backup",
            "{\"to\":\"" + (folder_ / "copy.db").string() + "\"}");
  for (const char* path :
       {"/livez", "/readyz", "/healthz", "/metrics", "/v2/health/live", "/v2/health/ready"})
    described("GET", path, path);
  described("GET", "/", "/");
  described("GET", "/openapi.json", "/openapi.json");
  described("GET", "/v2/models/{id}", "/v2/models/waves");
  described("GET", "/v2/models/{id}/ready", "/v2/models/waves/ready");
  described("POST", "/v2/models/{id}/infer", "/v2/models/waves/infer",
            R"({"id":"7","parameters":{"sequence_id":42},"inputs":[
                {"name":"time","data":[1.0]},{"name":"feature","data":["x1"]},
                {"name":"value","data":[0.5]}]})");
  EXPECT_EQ(described("DELETE", "/v1/streams/{id}/observations", stream + "/observations?at=14")
                .at("removed"),
            1);
  described("DELETE", "/v1/streams/{id}", stream);
  asked_.insert("GET /v1/events");    // does not end
  asked_.insert("GET /page/{file}");  // is no JSON, and may be built without
  for (const auto& [path, operations] : document()["paths"].items())
    for (const auto& [method, _] : operations.items()) {
      std::string upper = method;
      for (char& c : upper) c = static_cast<char>(std::toupper(c));
      EXPECT_TRUE(asked_.contains(upper + " " + path)) << upper << ' ' << path;
    }
  const Answer refused = ask("POST", "/v1/observations", "nonsense");
  check(json::parse(refused.body), {{"$ref", "#/components/schemas/Problem"}}, "a refusal");
}

TEST(OpenApiDocument, ListsExactlyTheTable) {
  std::set<std::string> listed, table;
  for (const auto& [path, operations] : document()["paths"].items())
    for (const auto& [method, _] : operations.items()) listed.insert(method + " " + path);
  for (const Route& route : routes()) {
    const std::string path(route.path);
    std::string method(route.method);
    for (char& c : method) c = static_cast<char>(std::tolower(c));
    EXPECT_TRUE(table.insert(method + " " + path).second) << method << ' ' << path << " is twice";
    ASSERT_TRUE(listed.contains(method + " " + path)) << method << ' ' << path;
    const json& operation = document()["paths"][path][method];
    EXPECT_EQ(operation["security"],
              route.need == Need::nothing
                  ? json::array()
                  : json::array({json::object(), {{"token", {name_of(route.need)}}}}))
        << path;
    std::set<std::string> parameters, wanted;
    if (operation.contains("parameters"))
      for (const json& parameter : operation["parameters"])
        if (parameter["in"] == "query") parameters.insert(parameter["name"].get<std::string>());
    for (const Parameter& parameter : route.query) wanted.emplace(parameter.name);
    EXPECT_EQ(parameters, wanted) << path;
    EXPECT_EQ(operation.contains("requestBody"), !route.body.types.empty()) << path;
  }
  EXPECT_EQ(listed, table);
}

}  // namespace
}  // namespace edict::server

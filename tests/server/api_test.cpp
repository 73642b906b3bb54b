// The contract of every address, without sockets: the table of routes says what is refused, and a
// good case of each shows that it answers.
#include "front/server/http/api.h"

#include <map>
#include <set>

#include "base/json/json.h"
#include "front/server/http/routes/route.h"
#include "front/server/page_files.h"
#include "server/live_folder.h"
#include "server/waiting.h"

namespace edict::server {
namespace {

using nlohmann::json;

std::string name_of_route(const Route& route) {
  return std::string(route.method) + " " + std::string(route.path);
}

// Its path with something in the place of the braces.
std::string path_of(const Route& route, const std::string& id) {
  std::string path(route.path);
  if (const std::size_t brace = path.find('{'); brace != path.npos)
    path.replace(brace, path.find('}') + 1 - brace, id);
  return path;
}

struct Sample {
  std::string id = {}, query = {}, body = {};
  int status = 200;
};

class ApiTest : public LiveTest {
 protected:
  ApiTest()
      : live_(open({.time_unit = "h", .alarm_interval = 0})),
        api_(*live_, {.name = "waves"}, nullptr) {
    live_->submit_and_wait(rows_of(waves(), 0));
  }

  ApiResponse send(ApiRequest request) {
    std::promise<ApiResponse> promise;
    api_.handle(std::move(request), [&](ApiResponse answer) { promise.set_value(answer); });
    return promise.get_future().get();
  }
  ApiResponse ask(std::string_view method, std::string target, std::string body = "",
                  std::string type = "", std::string authorization = "") {
    return send({std::string(method), std::move(target), std::move(type), std::move(authorization),
                 "", "", std::move(body)});
  }
  // What is wrong, by its fields.
  static std::map<std::string, std::string> errors(const ApiResponse& answer) {
    std::map<std::string, std::string> fields;
    for (const json& one : json::parse(answer.body).value("errors", json::array()))
      fields[one.value("field", "")] = one.at("detail").get<std::string>();
    return fields;
  }

  // A request of each route that succeeds, in an order in which they do.
  std::vector<std::pair<std::string, Sample>> samples() {
    const std::string id = waves().ids[0];
    const std::string rules =
        R"({"rules":[{"name":"high","kind":"crosses","feature":"x1","above":-1000,"within":1,
            "probability":0.5}]})";
    const std::string row = R"({"stream":")" + id + R"(","time":14,"values":{"x1":0.5}})";
    const std::string page =
        page_files().size() > 1 ? std::string(page_files()[1].path).substr(6) : "none.js";
    return {
        {"GET /livez", {}},
        {"GET /readyz", {}},
        {"GET /healthz", {}},
        {"GET /v2/health/live", {}},
        {"GET /v2/health/ready", {}},
        {"GET /metrics", {}},
        {"GET /", {}},
        {"GET /page/{file}", {page, "", "", page_files().size() > 1 ? 200 : 404}},
        {"GET /openapi.json", {}},
        {"GET /v1/model", {}},
        {"PUT /v1/rules", {"", "", rules}},
        {"GET /v1/rules", {}},
        {"POST /v1/observations", {"", "", row}},
        {"POST /api/v2/write",
         {"", "precision=s&org=a&bucket=b", "w,stream=l x1=1 1700000000", 204}},
        {"GET /v1/alarms", {"", "state=pending,firing,recovering&stream=" + id + "&limit=3"}},
        {"POST /v1/alarms/{id}/acknowledge",
         {alarm(rules, row), "", R"({"by":"anna","reason":"moved"})"}},
        {"GET /v1/events", {"", "streams=a,b&since=5"}},
        {"GET /v1/streams", {"", "sort=id&limit=2&offset=0&q=" + id}},
        {"PUT /v1/streams/{id}", {"new", "", R"({"labels":{"ward":3}})"}},
        {"GET /v1/streams/{id}", {id}},
        {"GET /v1/streams/{id}/distribution",
         {id, "at=1,12.6&level=0.8&features=x1&quantiles=0.1&above=x1:0.5&below=x2:1&within=1"}},
        {"GET /v1/streams/{id}/trajectory", {id, "from=1&to=13&points=20&level=0.5&features=x2"}},
        {"GET /v1/trajectories", {"", "streams=" + id + ",b&stream=c&points=5&level=0.9"}},
        {"GET /v1/streams/{id}/history", {id, "from=1&to=12&limit=5&features=x1"}},
        {"GET /v1/audit", {"", "limit=3"}},
        {"GET /v1/rejected", {"", "limit=3"}},
        {"POST /v1/backup", {"", "", R"({"to":")" + (folder_ / "copy.db").string() + "\"}"}},
        {"GET /v2/models/{id}", {"waves"}},
        {"GET /v2/models/{id}/ready", {"waves"}},
        {"POST /v2/models/{id}/infer",
         {"waves", "",
          R"({"parameters":{"sequence_id":42},"inputs":[{"name":"time","data":[1.0]},
              {"name":"feature","data":["x1"]},{"name":"value","data":[0.5]}]})"}},
        {"DELETE /v1/streams/{id}/observations", {id, "at=14&features=x1"}},
        {"DELETE /v1/streams/{id}", {id, "", "", 204}},
    };
  }
  Sample sample_of(const Route& route) {
    static const std::map<std::string, Sample> all = [&] {
      const auto list = samples();
      return std::map<std::string, Sample>(list.begin(), list.end());
    }();
    return all.at(name_of_route(route));
  }
  static std::string target_of(const Route& route, const Sample& sample) {
    return path_of(route, sample.id) + (sample.query.empty() ? "" : "?" + sample.query);
  }

  // The number of an alarm that fires.
  std::string alarm(const std::string& rules, const std::string& row) {
    ask("PUT", "/v1/rules", rules);
    ask("POST", "/v1/observations", row);
    json alarms;
    holds([&] {
      alarms = json::parse(ask("GET", "/v1/alarms").body).at("alarms");
      return !alarms.empty();
    });
    return alarms.empty() ? "none" : alarms[0].at("id").dump();
  }

  const NewToken reader_ = make_token("anna", "read"), writer_ = make_token("otto", "read,write"),
                 admin_ = make_token("ida", "admin");
  void require_tokens() {
    api_.set_tokens(std::make_shared<const Tokens>(
        Tokens::parse(reader_.line + "\n" + writer_.line + "\n" + admin_.line + "\n", "tokens")));
  }
  static std::string as(const NewToken& token) { return "Bearer " + token.token; }

  std::unique_ptr<Live> live_;
  Api api_;
};

TEST_F(ApiTest, EveryRouteAnswersAGoodRequest) {
  std::set<std::string> answered;
  for (const auto& [name, sample] : samples()) {
    const auto route =
        std::ranges::find_if(routes(), [&](const Route& r) { return name_of_route(r) == name; });
    ASSERT_NE(route, routes().end()) << name;
    const ApiResponse answer = ask(route->method, target_of(*route, sample), sample.body);
    EXPECT_EQ(answer.status, sample.status) << name << ": " << answer.body;
    answered.insert(name);
  }
  for (const Route& route : routes())
    EXPECT_TRUE(answered.contains(name_of_route(route))) << name_of_route(route);
}

TEST_F(ApiTest, EveryRouteNeedsItsScope) {
  require_tokens();
  for (const Route& route : routes()) {
    SCOPED_TRACE(name_of_route(route));
    const auto status = [&](const std::string& authorization) {
      const auto refusal = api_.admit({std::string(route.method), path_of(route, "7"), "",
                                       authorization, "", "", ""})
                               .refusal;
      return refusal ? refusal->status : 200;
    };
    if (route.need == Need::nothing) {
      EXPECT_EQ(status(""), 200);
      continue;
    }
    EXPECT_EQ(status(""), 401);
    EXPECT_EQ(status("Bearer nonsense"), 401);
    EXPECT_EQ(status(as(reader_)), route.need > Need::read ? 403 : 200);
    EXPECT_EQ(status(as(writer_)), route.need > Need::write ? 403 : 200);
    EXPECT_EQ(status(as(admin_)), 200);
    // Who may not ask learns nothing of what would be wrong.
    EXPECT_EQ(ask(route.method, path_of(route, "7") + "?nonsense=1").status, 401);
  }
}

TEST_F(ApiTest, NoRouteTakesAnUnknownParameter) {
  for (const Route& route : routes()) {
    SCOPED_TRACE(name_of_route(route));
    const ApiResponse answer = ask(route.method, path_of(route, "7") + "?feature=x1&limits=3");
    EXPECT_EQ(answer.status, 400);
    EXPECT_EQ(errors(answer).count("feature"), 1u) << answer.body;
    EXPECT_EQ(errors(answer).count("limits"), 1u) << answer.body;
    for (const Parameter& parameter : route.query)
      EXPECT_NE(errors(answer)["feature"].find(parameter.name), std::string::npos) << answer.body;
  }
  // As it was meant to be: one feature. All values of the moment would have gone.
  EXPECT_EQ(ask("DELETE", "/v1/streams/" + waves().ids[0] + "/observations?at=1&feature=x1").status,
            400);
}

TEST_F(ApiTest, EveryParameterHasItsType) {
  using Kind = Parameter::Kind;
  for (const Route& route : routes())
    for (const Parameter& parameter : route.query) {
      if (parameter.kind == Kind::text || parameter.kind == Kind::texts) continue;
      for (const char* wrong : {"nan", "inf", "1e999", "x", "1,", "-5e200x"}) {
        const std::string target =
            path_of(route, "7") + "?" + std::string(parameter.name) + "=" + wrong;
        const ApiResponse answer = ask(route.method, target);
        if (std::string(wrong) == "1,") continue;  // the list of one
        EXPECT_EQ(answer.status, 400) << target;
        EXPECT_EQ(errors(answer).count(std::string(parameter.name)), 1u) << answer.body;
      }
      if (parameter.is_list()) continue;
      const ApiResponse twice =
          ask(route.method, path_of(route, "7") + "?" + std::string(parameter.name) + "=1&" +
                                std::string(parameter.name) + "=1");
      EXPECT_EQ(twice.status, 400) << name_of_route(route) << ' ' << parameter.name;
    }
  EXPECT_EQ(ask("GET", "/v1/streams?limit=1.5").status, 400);
  EXPECT_EQ(ask("GET", "/v1/streams?limit=-1").status, 400);
  EXPECT_EQ(ask("GET", "/v1/streams?limit=10001").status, 400);
  EXPECT_EQ(ask("GET", "/v1/streams?limit=").status, 200) << "as if it were not given";
  EXPECT_EQ(ask("GET", "/v1/streams?q=a&q=b").status, 400);
  EXPECT_EQ(ask("GET", "/v1/alarms?state=fyring").status, 400);
  EXPECT_EQ(ask("GET", "/v1/events?since=-1").status, 400);
  const std::string stream = "/v1/streams/" + waves().ids[0];
  EXPECT_EQ(ask("GET", stream + "/history?features=x9").status, 400);
  EXPECT_EQ(ask("GET", stream + "/history?from=5&to=1").status, 400);
  EXPECT_EQ(ask("GET", stream + "/distribution?quantiles=1").status, 400);
  EXPECT_EQ(ask("GET", stream + "/distribution?ahead=-1").status, 400);
  EXPECT_EQ(ask("GET", stream + "/distribution?above=x1").status, 400);
  std::string many = "?ahead=0";
  for (int i = 0; i < 1000; ++i) many += ",0";
  EXPECT_EQ(ask("GET", stream + "/distribution" + many).status, 400);
}

TEST_F(ApiTest, ABodyThatCannotBeReadIsRefused) {
  for (const Route& route : routes()) {
    if (route.body.types.empty()) continue;
    SCOPED_TRACE(name_of_route(route));
    const std::string path = path_of(route, route.path.starts_with("/v2/") ? "waves" : "7");
    EXPECT_EQ(ask(route.method, path, "nonsense").status, 400);
    EXPECT_EQ(ask(route.method, path, "{\"a\":").status, 400);
    EXPECT_EQ(ask(route.method, path, "[1e999]").status, 400);
    EXPECT_EQ(ask(route.method, path, "\xff").status, 400);
    EXPECT_EQ(ask(route.method, path, "x", "text/xml").status, 415);
    EXPECT_EQ(ask(route.method, path).status, route.body.may_be_empty ? 200 : 400);
    for (const std::string_view type : route.body.types) {
      std::string written = std::string(type) + " ; charset=utf-8";
      written[0] = static_cast<char>(std::toupper(written[0]));
      EXPECT_NE(ask(route.method, path, "x", written).status, 415) << written;
    }
    // As curl sends it unbidden.
    EXPECT_NE(ask(route.method, path, "x", "application/x-www-form-urlencoded").status, 415);
  }
  EXPECT_EQ(ask("POST", "/v1/backup", R"({"to":7})").status, 400);
  EXPECT_EQ(ask("POST", "/v1/backup", R"({"to":"a.db","too":1})").status, 400);
  EXPECT_EQ(ask("POST", "/v1/alarms/1/acknowledge", R"({"by":"a","raeson":"b"})").status, 400);
  EXPECT_EQ(ask("POST", "/v1/alarms/1.5/acknowledge", R"({"by":"a","reason":"b"})").status, 400);
  EXPECT_EQ(ask("POST", "/v1/alarms/1e300/acknowledge", R"({"by":"a","reason":"b"})").status, 400);
}

TEST_F(ApiTest, TensorsAreWhatTheySay) {
  const auto infer = [&](const std::string& parameters, const std::string& inputs) {
    return ask("POST", "/v2/models/waves/infer",
               "{\"parameters\":{" + parameters + "},\"inputs\":[" + inputs + "]}");
  };
  const std::string id = "\"sequence_id\":\"" + waves().ids[0] + "\"";
  EXPECT_EQ(infer(id, R"({"name":"at","shape":[2],"data":[14,15]})").status, 200);
  EXPECT_EQ(infer(id, R"({"name":"at","shape":[3],"data":[14,15]})").status, 400);
  EXPECT_EQ(infer(id, R"({"name":"vlaue","data":[14]})").status, 400) << "nothing is left out";
  EXPECT_EQ(infer(id, R"({"name":"at","data":[14]},{"name":"at","data":[15]})").status, 400);
  EXPECT_EQ(infer(id, R"({"name":"at","data":["14"]})").status, 400);
  EXPECT_EQ(infer(id + ",\"sequence_end\":\"true\"", "").status, 400);
  EXPECT_EQ(ask("GET", "/v1/streams/" + waves().ids[0]).status, 200);
  const ApiResponse large = infer("\"sequence_id\":18446744073709551615",
                                  R"({"name":"time","data":[1]},{"name":"feature","data":["x1"]},
                                      {"name":"value","data":[1]})");
  ASSERT_EQ(large.status, 200) << large.body;
  EXPECT_EQ(ask("GET", "/v1/streams/18446744073709551615").status, 200) << "and not -1";
}

TEST_F(ApiTest, WhatIsNotThereIsNotFound) {
  for (const Route& route : routes()) {
    if (route.path.find('{') == std::string_view::npos || route.method == "PUT") continue;
    Sample sample = sample_of(route);
    sample.id = "999";
    EXPECT_EQ(ask(route.method, target_of(route, sample), sample.body).status, 404)
        << name_of_route(route);
  }
  EXPECT_EQ(ask("GET", "/v1/nothing").status, 404);
  EXPECT_EQ(ask("GET", "/v1").status, 404);
  EXPECT_EQ(ask("GET", "/v1/streams/a/b/c").status, 404);
  EXPECT_EQ(ask("DELETE", "/v1/streams//observations").status, 400);
}

TEST_F(ApiTest, AnotherMethodNamesThosePossible) {
  std::map<std::string, std::set<std::string>> methods;
  for (const Route& route : routes()) methods[path_of(route, "7")].emplace(route.method);
  for (const auto& [path, possible] : methods)
    for (const char* method : {"GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "BREW"}) {
      if (possible.contains(method)) continue;
      const ApiResponse answer = ask(method, path);
      EXPECT_EQ(answer.status, std::string(method) == "OPTIONS" ? 204 : 405) << method << path;
      ASSERT_FALSE(answer.headers.empty());
      EXPECT_EQ(answer.headers.back().first, "Allow");
      for (const std::string& one : possible)
        EXPECT_NE(answer.headers.back().second.find(one), std::string::npos) << path;
    }
  EXPECT_EQ(ask("OPTIONS", "*").status, 204);
}

TEST_F(ApiTest, BodiesAreAsLargeAsTheirRouteNeeds) {
  const auto most = [&](const char* method, const char* path) {
    return api_.admit({method, path, "", "", "", "", ""}).most_body;
  };
  EXPECT_GT(most("POST", "/v1/observations"), std::size_t{1} << 40) << "as the server allows";
  EXPECT_LE(most("PUT", "/v1/streams/a"), std::size_t{1} << 20);
  EXPECT_LE(most("GET", "/v1/streams"), std::size_t{1} << 16);
}

}  // namespace
}  // namespace edict::server

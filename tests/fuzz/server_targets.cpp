// What is sent to the live server.
#include <future>
#include <optional>

#include "base/json/json.h"
#include "base/json/json_text.h"
#include "front/server/alarms/alarms.h"
#include "front/server/http/api.h"
#include "front/server/http/http_server.h"
#include "front/server/http/tokens.h"
#include "front/server/ingest/incoming.h"
#include "front/server/ingest/mqtt.h"
#include "fuzz/promise.h"

namespace edict::fuzz {
namespace {

// What is taken are values of the model's features; what is not is refused with a reason.
// `read`: all or nothing without a Refused, else in part.
template <class Read>
void promise_rows(const Read& read) {
  std::optional<std::size_t> whole;
  for (const bool in_part : {false, true}) {
    server::Refused refused;
    try {
      const std::vector<server::Row> rows = read(in_part ? &refused : nullptr);
      for (const server::Row& row : rows) {
        promise(
            row.feature >= 0 && static_cast<std::size_t>(row.feature) < smallest()->features.size(),
            "a row is of a feature");
        promise(std::isfinite(row.value) && std::isfinite(row.time.value), "a row is of numbers");
        promise(server::name_problem(row.stream).empty(), "a stream has a name");
      }
      if (in_part)
        promise(whole ? refused.count == 0 && rows.size() == *whole : refused.count > 0,
                "what is taken whole is taken in part, and only that without a refusal");
      else
        whole = rows.size();
    } catch (const server::BadInput& error) {
      promise(!whole, "what is taken whole is taken in part");
      promise(!error.problems().empty(), "a refusal says why");
      for (const server::Problem& problem : error.problems())
        promise(!problem.detail.empty(), "a refusal says why");
    }
    for (const server::Problem& problem : refused.problems)
      promise(!problem.detail.empty(), "a refusal says why");
  }
}

const server::Intake& intake() {
  static const server::StreamClock clock(*smallest(), "h");
  static const server::Intake made(*smallest(), clock);
  return made;
}

void json_body(std::string_view bytes) {
  promise_rows([&](server::Refused* refused) { return intake().json(bytes, refused); });
}
void csv_body(std::string_view bytes) {
  promise_rows([&](server::Refused* refused) { return intake().csv(bytes, refused); });
}
void line_protocol(std::string_view bytes) {
  promise_rows([&](server::Refused* refused) {
    std::size_t ignored = 0;
    return intake().line_protocol(bytes, "ns", 1.7e15, ignored, refused);
  });
}

void address(std::string_view bytes) {
  const auto target = server::parse_target(bytes);
  if (!target) return;
  for (const std::string& part : target->path)
    promise(part.size() <= bytes.size(), "what is decoded is not longer than it was");
}

void rules(std::string_view bytes) {
  try {
    const auto read = server::read_rules(bytes, *smallest());
    const std::string again = server::to_json(read, *smallest()).dump();
    promise(server::to_json(server::read_rules(again, *smallest()), *smallest()).dump() == again,
            "rules are the same when they are read again");
  } catch (const server::BadInput& error) {
    promise(!error.problems().empty(), "a refusal says why");
  }
}

void tokens(std::string_view bytes) {
  attempt("f:", [&] {
    const server::Tokens read = server::Tokens::parse(bytes, "f");
    promise(read.size() > 0, "a file of tokens has one");
    promise(!read.find("") && !read.find(bytes), "no token is found by what stands in the file");
  });
}

// ---- requests ----

server::HttpSettings http_settings() {
  server::HttpSettings settings;
  settings.most_body = 1 << 16;
  settings.most_header = 1 << 11;
  return settings;
}

// The bytes of a connection are a request, a refusal of it, or not all there yet.
std::optional<server::ApiRequest> http_request(std::string_view bytes) {
  auto taken = server::request_from(bytes, http_settings());
  if (!taken) return {};
  if (const auto* refused = std::get_if<server::ApiResponse>(&*taken)) {
    promise((refused->status >= 400 && refused->status < 500) || refused->status == 501 ||
                refused->status == 505,
            "a refusal blames the request");
    promise(parse_json(refused->body).is_object(), "a refusal says why");
    return {};
  }
  auto& request = std::get<server::ApiRequest>(*taken);
  promise(!request.method.empty() && !request.target.empty(), "a request asks something");
  promise(request.body.size() <= http_settings().most_body, "a body keeps to its limit");
  return std::move(request);
}

void http(std::string_view bytes) { http_request(bytes); }

// A server on a store of its own. It is made anew now and then, so that a run depends little on
// those before it.
struct Served {
  Served()
      : live(smallest(), {.shards = 1, .time_unit = "h"},
             server::open_store((folder / "s").string(), {}, notices), {}),
        api(live, {}, nullptr) {}

  static Served& now() {
    static std::unique_ptr<Served> served;
    static int used = 0;
    if (used++ % 2000 == 0) {
      served.reset();
      served = std::make_unique<Served>();
    }
    return *served;
  }

  TemporaryFolder folder;
  std::vector<std::string> notices;
  server::Live live;
  server::Api api;
};

// Every request is answered once, and never by a failure of the server.
void request(std::string_view bytes) {
  auto asked = http_request(bytes);
  if (!asked) return;
  // Who may ask for it names any file there is.
  if (const auto target = server::parse_target(asked->target);
      target && target->path.size() > 1 && target->path[1] == "backup")
    return;
  Served& served = Served::now();
  std::promise<server::ApiResponse> told;
  served.api.handle(std::move(*asked),
                    [&](server::ApiResponse answer) { told.set_value(std::move(answer)); });
  const server::ApiResponse answer = told.get_future().get();
  promise(answer.status >= 200 && answer.status < 500, "a request does not make the server fail");
  if (answer.type.ends_with("json"))
    promise(!parse_json(answer.body).is_discarded(), "what is called JSON is JSON");
}

// A topic, then a line end, then what was published there.
void mqtt(std::string_view bytes) {
  static const server::TopicPattern patterns[] = {server::TopicPattern("ward/{stream}/{feature}"),
                                                  server::TopicPattern("bed/{stream}"),
                                                  server::TopicPattern("#")};
  const std::size_t end = std::min(bytes.find('\n'), bytes.size());
  const std::string_view payload = bytes.substr(std::min(end + 1, bytes.size()));
  for (const server::TopicPattern& pattern : patterns)
    if (const auto match = pattern.match(bytes.substr(0, end)))
      return promise_rows([&](server::Refused* refused) {
        return server::rows_of_message(*match, payload, 1.7e15, Served::now().live, refused);
      });
}

// ---- seeds ----

std::vector<std::string> json_bodies() {
  return {
      "{\"stream\":\"a\",\"time\":1.5,\"values\":{\"x1\":80,\"x2\":null}}\n"
      "{\"stream\":\"b\",\"time\":\"2026-11-16T18:50:00Z\",\"values\":{\"x3\":-2e-3}}\n",
      "[{\"stream\":\"\\u00e4\",\"time\":0,\"values\":{\"x1\":1}}]"};
}

std::vector<std::string> csv_bodies() {
  return {"stream,time,x1,x2\na,0,1,\nb,1.5,,2\n", "id,time,feature,value\na,0,x1,1\n"};
}

std::vector<std::string> influx_lines() {
  return {"vitals,stream=a x1=80,x2=7i 1700000000000000000\nvitals,host=b\\ c x3=\"text\",x1=t\n",
          "x1 value=3.5 1700000000000000001\n# remark\n"};
}

std::vector<std::string> addresses() {
  return {"/v1/streams/bed%203%2F4?features=a,b&x=1+2", "/", "/v1/events?since=5"};
}

std::vector<std::string> rule_files() {
  return {
      "[[rule]]\nname = \"low\"\nkind = \"crosses\"\nfeature = \"x1\"\nbelow = 0.5\n"
      "within = 0.5\nprobability = 0.3\npriority = \"high\"\npending = 60\n",
      "{\"rules\":[{\"name\":\"lost\",\"kind\":\"silence\",\"for\":2},"
      "{\"name\":\"odd\",\"kind\":\"outside\",\"level\":0.999}]}"};
}

std::vector<std::string> token_files() {
  return {
      "# name scopes hash\nanna read,write "
      "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08\n"};
}

std::vector<std::string> messages() {
  return {"ward/a/x1\n71.5",
          "ward/a/x2\n{\"value\": 71.5, \"time\": 3}",
          "bed/a\n{\"time\": 2, \"values\": {\"x1\": 80}}",
          "bed/b\n{\"x1\": 80, \"time\": 5}",
          "else\nvitals,stream=a x1=80 1700000000000000000",
          "else\n" + json_bodies().back()};
}

std::vector<std::string> requests() {
  const auto with_body = [](const std::string& head, const std::string& body) {
    return head + "Host: localhost\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
           body;
  };
  std::vector<std::string> all = {
      with_body("POST /v1/observations HTTP/1.1\r\nContent-Type: application/x-ndjson\r\n",
                json_bodies().front()),
      with_body("POST /v1/observations HTTP/1.1\r\nContent-Type: text/csv\r\n",
                csv_bodies().front()),
      with_body("POST /api/v2/write?precision=ns HTTP/1.1\r\n", influx_lines().front()),
      with_body("PUT /v1/rules HTTP/1.1\r\n", rule_files().back()),
      with_body("PUT /v1/streams/a HTTP/1.1\r\n", "{\"name\":\"bed 3\",\"origin\":5}"),
      with_body("POST /v1/alarms/1/acknowledge HTTP/1.1\r\n", "{\"by\":\"anna\",\"reason\":\"\"}"),
      with_body(
          "POST /v2/models/edict/infer HTTP/1.1\r\n",
          "{\"parameters\":{\"sequence_id\":\"a\"},\"inputs\":[{\"name\":\"time\",\"data\":"
          "[9]},{\"name\":\"feature\",\"data\":[\"x1\"]},{\"name\":\"value\",\"data\":[2]}]}"),
      "POST /v1/observations HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n[{}]\r\n0\r\n\r\n"};
  for (const char* target :
       {"/", "/healthz", "/metrics", "/openapi.json", "/v1/model", "/v1/streams?limit=3",
        "/v1/streams/a", "/v1/streams/a/distribution?at=3,4&features=x1&level=0.5&quantiles=0.1",
        "/v1/streams/a/distribution?ahead=1&above=x1:3&within=2",
        "/v1/streams/a/trajectory?from=0&to=9&points=5", "/v1/streams/a/history?limit=5",
        "/v1/trajectories?streams=a,b&points=3", "/v1/alarms", "/v1/rules", "/v1/audit?limit=2",
        "/v1/rejected", "/v2/models/edict"})
    all.push_back("GET " + std::string(target) + " HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n");
  all.push_back(
      "DELETE /v1/streams/b HTTP/1.1\r\nOrigin: http://localhost\r\nHost: localhost\r\n\r\n");
  return all;
}

}  // namespace

std::vector<Target> server_targets() {
  return {{"json_body", json_body, json_bodies},
          {"csv_body", csv_body, csv_bodies},
          {"line_protocol", line_protocol, influx_lines},
          {"mqtt", mqtt, messages},
          {"address", address, addresses},
          {"http", http, requests},
          {"request", request, requests},
          {"rules", rules, rule_files},
          {"tokens", tokens, token_files}};
}

}  // namespace edict::fuzz

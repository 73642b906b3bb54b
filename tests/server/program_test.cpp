// The real program over loopback.
#include <sys/wait.h>
#include <zlib.h>

#include <atomic>
#include <csignal>
#include <random>
#include <thread>

#include "base/json/json.h"
#include "base/text/number_text.h"
#include "front/server/http/tokens.h"
#include "server/http_client.h"
#include "server/live_folder.h"
#include "server/server_program.h"

namespace edict::server {
namespace {

TEST_F(ProgramTest, TakesAndAnswersAndSurvivesATermination) {
  ASSERT_TRUE(start()) << folder_.read("err");
  const std::string id = waves().ids[0];
  const Answer stored = ask("POST", "/v1/observations", ndjson(rows_of(waves(), 0)));
  ASSERT_EQ(stored.status, 200) << stored.body;
  EXPECT_EQ(json::parse(stored.body).at("stored"), rows_of(waves(), 0).size());
  const Answer told = ask("GET", "/v1/streams/" + id + kQuestion);
  ASSERT_EQ(told.status, 200) << told.body;
  const json answer = json::parse(told.body);
  const Bits bits = predicted(*small_model(), waves(), 0, {1, 12.6, 13});
  for (std::size_t t = 0; t < 3; ++t)
    for (std::size_t j = 0; j < 3; ++j) {
      const json& own = answer.at("at")[t].at("features").at(waves().features[j]);
      EXPECT_EQ(own.at("mean").get<double>(), bits[(3 * t + j) * 4]);
      EXPECT_EQ(own.at("scale").get<double>(), bits[(3 * t + j) * 4 + 1]);
      EXPECT_LT(own.at("quantiles").at("0.1"), own.at("quantiles").at("0.5"));
    }
  EXPECT_EQ(answer.at("crossing").size(), 1u);
  const json list = json::parse(ask("GET", "/v1/streams?sort=id").body);
  EXPECT_EQ(list.at("total"), 1);
  EXPECT_EQ(list.at("streams")[0].at("id"), id);
  const json chart = json::parse(ask("GET", "/v1/streams/" + id + "/trajectory?points=20").body);
  EXPECT_EQ(chart.at("features").at("x1").at("mean").size(), chart.at("times").size());
  const json past = json::parse(ask("GET", "/v1/streams/" + id + "/history?limit=3").body);
  EXPECT_EQ(past.at("observations").size(), 3u);
  EXPECT_TRUE(past.at("more"));
  EXPECT_EQ(stop(), 0);
  ASSERT_TRUE(start());
  EXPECT_EQ(ask("GET", "/v1/streams/" + id + kQuestion).body, told.body);
  for (const char* path : {"/healthz", "/metrics", "/openapi.json", "/v1/model", "/", "/v1/rules",
                           "/v1/alarms", "/v1/audit", "/v1/rejected", "/v2/models/waves"})
    EXPECT_EQ(ask("GET", path).status, 200) << path;
  EXPECT_EQ(ask("DELETE", "/v1/streams/" + id).status, 204);
  EXPECT_EQ(ask("GET", "/v1/streams/" + id).status, 404);
}

TEST_F(ProgramTest, EveryFormOfInputGivesTheSameBits) {
  ASSERT_TRUE(start("--time-unit h")) << folder_.read("err");
  const std::vector<Row> rows = rows_of(waves(), 2);
  std::string array = "[", csv = "stream,time,feature,value\n", lines;
  for (const Row& row : rows) {
    const std::string& name = waves().features[static_cast<std::size_t>(row.feature)];
    Row other = row;
    other.stream = "array";
    array += (array.size() > 1 ? "," : "") + ndjson({other});
    csv += "csv," + number(row.time.value) + "," + name + "," + number(row.value) + "\n";
  }
  const auto body_of = [&](const std::string& stream) {
    std::string body = ask("GET", "/v1/streams/" + stream + kQuestion).body;
    return body.substr(0, body.find("\"stream\""));
  };
  ASSERT_EQ(ask("POST", "/v1/observations", ndjson(rows)).status, 200);
  ASSERT_EQ(
      ask("POST", "/v1/observations", array + "]", "Content-Type: application/json\r\n").status,
      200);
  ASSERT_EQ(ask("POST", "/v1/observations", csv, "Content-Type: text/csv\r\n").status, 200);
  const std::string expected = body_of(waves().ids[2]);
  ASSERT_NE(expected.find("mean"), std::string::npos);
  EXPECT_EQ(body_of("array"), expected);
  EXPECT_EQ(body_of("csv"), expected);
  // Packed, as Telegraf sends it; in milliseconds from an origin.
  ASSERT_EQ(ask("PUT", "/v1/streams/line", "{\"origin\":0}").status, 200);
  const std::vector<std::pair<double, double>> simple{{0, 0.5}, {0.25, 0.75}, {1.5, -1}};
  std::string plain;
  std::vector<Row> same;
  for (const auto& [time, value] : simple) {
    lines += "waves,stream=line x1=" + number(value) + ",unknown=3 " +
             std::to_string(static_cast<long>(time * 3600e3)) + "\n";
    same.push_back({"same", {time, false}, 0, value});
  }
  std::string packed(1000, '\0');
  z_stream z{};
  ASSERT_EQ(deflateInit2(&z, 9, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
  z.next_in = reinterpret_cast<Bytef*>(lines.data());
  z.avail_in = static_cast<uInt>(lines.size());
  z.next_out = reinterpret_cast<Bytef*>(packed.data());
  z.avail_out = 1000;
  ASSERT_EQ(deflate(&z, Z_FINISH), Z_STREAM_END);
  packed.resize(1000 - z.avail_out);
  deflateEnd(&z);
  EXPECT_EQ(ask("POST", "/api/v2/write?precision=ms&bucket=b", packed, "Content-Encoding: gzip\r\n")
                .status,
            204);
  ASSERT_EQ(ask("POST", "/v1/observations", ndjson(same)).status, 200);
  EXPECT_EQ(body_of("line"), body_of("same"));
}

TEST_F(ProgramTest, SequencesOfTheInferenceProtocolAreStreams) {
  ASSERT_TRUE(start()) << folder_.read("err");
  const std::string request =
      R"({"id":"7","parameters":{"sequence_id":42},"inputs":[
          {"name":"time","datatype":"FP64","shape":[1],"data":[1.0]},
          {"name":"feature","datatype":"BYTES","shape":[2],"data":["x1","x3"]},
          {"name":"value","datatype":"FP64","shape":[2],"data":[0.5,-0.5]},
          {"name":"at","datatype":"FP64","shape":[2],"data":[1.5,2.0]}]})";
  const Answer first = ask("POST", "/v2/models/waves/infer", request);
  ASSERT_EQ(first.status, 200) << first.body;
  const json answer = json::parse(first.body);
  EXPECT_EQ(answer.at("outputs")[0].at("shape"), (json{2, 3}));
  EXPECT_EQ(answer.at("outputs")[0].at("data").size(), 6u);
  EXPECT_EQ(answer.at("id"), "7");
  EXPECT_EQ(ask("GET", "/v1/streams/42").status, 200);
  stop(SIGKILL);
  ASSERT_TRUE(start());
  EXPECT_EQ(ask("POST", "/v2/models/waves/infer", request).body, first.body);
  EXPECT_EQ(ask("POST", "/v2/models/other/infer", request).status, 404);
  EXPECT_EQ(
      ask("POST", "/v2/models/waves/infer", R"({"parameters":{"sequence_id":42},"id":7})").status,
      400);
  EXPECT_EQ(ask("POST", "/v2/models/waves/infer",
                R"({"parameters":{"sequence_id":42},"inputs":[{"name":7}]})")
                .status,
            400);  // an input of another name
}

TEST_F(ProgramTest, WhatIsWrongIsSaidAndHarmsNobody) {
  ASSERT_TRUE(start("--most-body 0.01")) << folder_.read("err");
  const Answer bad =
      ask("POST", "/v1/observations", "{\"stream\":\"a\",\"time\":1,\"values\":{\"x9\":1}}");
  EXPECT_EQ(bad.status, 400);
  EXPECT_NE(bad.header.find("application/problem+json"), std::string::npos);
  EXPECT_EQ(json::parse(bad.body).at("errors")[0].at("field"), "values.x9");
  EXPECT_EQ(ask("POST", "/v1/observations", std::string(20000, 'x')).status, 413);
  EXPECT_EQ(ask("POST", "/v1/observations", "{}", "Content-Type: image/png\r\n").status, 415);
  EXPECT_EQ(ask("POST", "/v1/observations", "xx", "Content-Encoding: gzip\r\n").status, 400);
  EXPECT_EQ(ask("GET", "/nothing").status, 404);
  EXPECT_EQ(ask("GET", "/../../etc/passwd").status, 404);
  EXPECT_EQ(ask("GET", "/page/..%2f..%2fetc/passwd").status, 404);
  EXPECT_EQ(ask("GET", "/v1/streams/none").status, 404);
  EXPECT_EQ(ask("GET", "/v1/streams?limit=-1").status, 400);
  EXPECT_EQ(ask("GET", "/v1/observations").status, 405);
  EXPECT_EQ(ask("GET", "/%zz").status, 400);
  EXPECT_EQ(ask("PUT", "/v1/streams/a", "{\"origin\":1e308}").status, 400);
  EXPECT_EQ(ask("GET", "/", "", "Origin: http://elsewhere.example\r\n").status, 403);
  EXPECT_EQ(ask("GET", "/", "", std::string("X: ") + std::string(20000, 'x') + "\r\n").status, 431);
  {
    Connection odd(port_);
    odd.send("GET / HTTP/1.1\r\nHost: elsewhere.example\r\n\r\n");
    EXPECT_EQ(odd.answer().status, 403);
    Connection nonsense(port_);
    nonsense.send("\x16\x03\x01 nonsense\r\n\r\n");
    EXPECT_TRUE(nonsense.closes());
    const std::string in_chunks =
        "POST /v1/observations HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n";
    Connection whole(port_), broken(port_), large(port_);
    whole.send(in_chunks + "4\r\n[{}]\r\n0\r\n\r\n");
    EXPECT_EQ(whole.answer().status, 400);
    EXPECT_EQ(whole.ask("GET", "/healthz").status, 200) << "its connection is kept";
    broken.send(in_chunks + "zz\r\n[{}]\r\n0\r\n\r\n");
    EXPECT_EQ(broken.answer().status, 400);
    EXPECT_TRUE(broken.closes()) << "nobody knows where its body ends";
    large.send(in_chunks + "8000\r\n" + std::string(0x8000, 'x'));
    EXPECT_EQ(large.answer().status, 413);
  }
  // Connections that only begin, and never go on.
  std::vector<std::unique_ptr<Connection>> half_open;
  for (int i = 0; i < 100; ++i) {
    half_open.push_back(std::make_unique<Connection>(port_));
    half_open.back()->send(i % 2 == 0 ? "POST /v1/obs" : "");
  }
  EXPECT_EQ(ask("HEAD", "/healthz").status, 200);
  // One connection for several requests, with a body that asks before it comes.
  Connection kept(port_);
  EXPECT_EQ(kept.ask("GET", "/healthz").status, 200);
  const std::string body = R"({"stream":"a","time":1,"values":{"x1":0.25}})";
  kept.send("POST /v1/observations HTTP/1.1\r\nHost: localhost\r\nContent-Length: " +
            std::to_string(body.size()) + "\r\nExpect: 100-continue\r\n\r\n");
  ASSERT_TRUE(kept.until("100 Continue"));
  kept.forget();
  kept.send(body);
  EXPECT_EQ(kept.answer().status, 200);
}

// A value that nests as deep as the body is long would need a stack as deep to be copied or
// written.
TEST_F(ProgramTest, ABodyThatNestsDeeplyIsRefused) {
  ASSERT_TRUE(start()) << folder_.read("err");
  const std::string deep = std::string(400000, '[') + std::string(400000, ']');
  EXPECT_EQ(ask("PUT", "/v1/streams/a", "{\"labels\":{\"a\":" + deep + "}}").status, 400);
  EXPECT_EQ(ask("POST", "/v2/models/waves/infer", "{\"parameters\":" + deep + "}").status, 400);
  EXPECT_EQ(ask("POST", "/v1/observations", deep).status, 400);
  EXPECT_EQ(ask("PUT", "/v1/rules", "{\"rules\":" + deep + "}").status, 400);
  EXPECT_EQ(ask("GET", "/healthz").status, 200);
}

TEST_F(ProgramTest, EventsComeAndAreReplayed) {
  ASSERT_TRUE(start()) << folder_.read("err");
  std::string last;
  {
    Connection watch(port_);
    watch.send("GET /v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
    ASSERT_TRUE(watch.until("event: hello"));
    ASSERT_EQ(ask("POST", "/v1/observations", ndjson(rows_of(waves(), 0))).status, 200);
    ASSERT_TRUE(watch.until("event: stream\ndata: {\"stream\":\"" + waves().ids[0]));
    const std::size_t at = watch.came().rfind("id: ");
    last = watch.came().substr(at + 4, watch.came().find('\n', at) - at - 4);
  }
  ASSERT_EQ(ask("POST", "/v1/observations", ndjson(rows_of(waves(), 1))).status, 200);
  Connection again(port_);
  again.send("GET /v1/events HTTP/1.1\r\nHost: localhost\r\nLast-Event-ID: " + last + "\r\n\r\n");
  ASSERT_TRUE(again.until("event: stream\ndata: {\"stream\":\"" + waves().ids[1]));
  EXPECT_EQ(again.came().find("data: {\"stream\":\"" + waves().ids[0]), std::string::npos);
  Connection lost(port_);
  lost.send("GET /v1/events?since=5 HTTP/1.1\r\nHost: localhost\r\n\r\n");
  ask("POST", "/v1/observations", ndjson(rows_of(waves(), 2)));
  EXPECT_TRUE(lost.until("event: reset"));
}

TEST_F(ProgramTest, TokensDecideWhoMayDoWhat) {
  const NewToken reader = make_token("anna", "read"), writer = make_token("otto", "write");
  folder_.write("tokens", reader.line + "\n" + writer.line + "\n");
  ASSERT_TRUE(start("--tokens tokens")) << folder_.read("err");
  const auto as = [](const std::string& token) {
    return "Authorization: Bearer " + token + "\r\n";
  };
  EXPECT_EQ(ask("GET", "/healthz").status, 200);
  EXPECT_EQ(ask("GET", "/v1/streams").status, 401);
  EXPECT_EQ(ask("GET", "/metrics").status, 401);
  EXPECT_EQ(ask("GET", "/v1/events").status, 401);
  EXPECT_EQ(ask("GET", "/v1/streams?token=" + reader.token).status, 401);
  EXPECT_EQ(ask("GET", "/v1/streams", "", as(reader.token)).status, 200);
  EXPECT_EQ(ask("GET", "/v1/streams", "", as(reader.token + "x")).status, 401);
  const std::string body = ndjson(rows_of(waves(), 0));
  EXPECT_EQ(ask("POST", "/v1/observations", body, as(reader.token)).status, 403);
  EXPECT_EQ(ask("POST", "/v1/observations", body, as(writer.token)).status, 200);
  EXPECT_EQ(ask("PUT", "/v1/rules", "[]", as(writer.token)).status, 403);
  Connection watch(port_);
  watch.send("GET /v1/events?token=" + reader.token + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_TRUE(watch.until("event: hello"));
}

TEST_F(ProgramTest, SpeaksTlsAndNothingElseWhereItIsAskedTo) {
  const std::string in_folder = "cd '" + folder_.path().string() + "' && ";
  ASSERT_EQ(
      std::system((in_folder + "openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out "
                               "cert.pem -days 2 -subj /CN=localhost 2>/dev/null")
                      .c_str()),
      0);
  ASSERT_TRUE(start("--tls-cert cert.pem --tls-key key.pem")) << folder_.read("err");
  const auto curl = [&](const std::string& arguments) {
    const std::string command =
        in_folder + "curl -s --cacert cert.pem --resolve localhost:" + std::to_string(port_) +
        ":127.0.0.1 " + arguments + " >answer";
    return std::system(command.c_str()) == 0 ? folder_.read("answer") : std::string();
  };
  const std::string at = "https://localhost:" + std::to_string(port_);
  folder_.write("body", ndjson(rows_of(waves(), 0)));
  EXPECT_NE(curl("--data-binary @body " + at + "/v1/observations").find("\"stored\""),
            std::string::npos);
  EXPECT_NE(curl(at + "/v1/streams/" + waves().ids[0]).find("\"events\""), std::string::npos);
  EXPECT_EQ(curl("--tls-max 1.1 " + at + "/healthz"), "");
  Connection plain(port_);
  EXPECT_EQ(plain.ask("GET", "/healthz").status, 0);
}

TEST_F(ProgramTest, RefusesToBeReachedByOthersUnprotected) {
  folder_.write("tokens", make_token("anna", "read").line + "\n");
  for (const std::string options :
       {"--listen 0.0.0.0:0", "--listen 0.0.0.0:0 --tokens tokens", "--tls-cert x",
        "--tokens nowhere", "--listen nonsense", "--store /nowhere/x.db", "--rules nowhere"}) {
    EXPECT_FALSE(start(options)) << options;
    EXPECT_EQ(code_, 2) << options;
    const std::string said = folder_.read("err");
    EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
  }
}

TEST_F(ProgramTest, TheToolStartsIt) {
  ASSERT_TRUE(start("", EDICT_TOOL)) << folder_.read("err");
  EXPECT_EQ(ask("GET", "/healthz").status, 200);
  EXPECT_EQ(stop(SIGINT), 130);
}

// What README tells a newcomer to type, as it stands there but for the port.
TEST_F(ProgramTest, ReadmeCommandsWork) {
  Dataset data = waves();
  data.features = {"puls", "laktat", "x3"};
  save_model(Model::create(small_model()->config, data, split(data, 0)), folder_ / "waves.model");
  ASSERT_TRUE(start("", EDICT_TOOL)) << folder_.read("err");
  const std::string readme = content(EDICT_SOURCE_DIR "/README.md");
  const std::string usual = "localhost:8080";
  int commands = 0;
  for (std::size_t at = readme.find("## Live"); (at = readme.find("\ncurl ", at)) != readme.npos;
       ++commands) {
    std::string command = readme.substr(at + 1, readme.find('\n', at + 1) - at - 1);
    at += command.size();
    ASSERT_NE(command.find(usual), std::string::npos) << command;
    command.replace(command.find(usual), usual.size(), "localhost:" + std::to_string(port_));
    command.insert(4, " -sSf");
    command = "cd '" + folder_.path().string() + "' && " + command + " >answer";
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
    EXPECT_TRUE(json::accept(folder_.read("answer"))) << folder_.read("answer");
  }
  EXPECT_EQ(commands, 2);
  const json told = json::parse(folder_.read("answer"));
  EXPECT_EQ(told.at("at").size(), 2u);
  EXPECT_TRUE(told.at("at")[0].at("features").at("laktat").contains("above"))
      << told.dump().substr(0, 600);
}

// Under load the server is killed without warning, again and again. Everything that was answered is
// there, and the distributions are those of an undisturbed run. bench/serve_kills.py does the same
// a thousand times.
TEST_F(ProgramTest, NothingAnsweredIsLostWhenItIsKilled) {
  constexpr std::size_t kStreams = 12;
  std::vector<std::vector<Row>> rows;
  std::vector<std::size_t> answered(kStreams, 0);
  for (std::size_t s = 0; s < kStreams; ++s) rows.push_back(rows_of(waves(), s));
  std::mt19937 random(11);
  bool over = false;
  int kills = 0;
  while (!over && kills < 60) {
    ASSERT_TRUE(start()) << folder_.read("err");
    // It is killed soon after some request was sent: before, while or after it is committed.
    std::atomic<std::size_t> sent{0};
    std::atomic<bool> ended{false}, killed{false};
    std::thread killer([&, at = 1 + random() % 25, wait = random() % 3000] {
      while (!ended && sent < at) usleep(20);
      usleep(static_cast<useconds_t>(wait));
      if (ended) return;
      killed = true;
      kill(child_, SIGKILL);
    });
    try {
      Connection connection(port_);
      for (bool going = true; going;) {
        going = false;
        for (std::size_t s = 0; s < kStreams; ++s) {
          if (answered[s] >= rows[s].size()) continue;
          const std::size_t count = std::min<std::size_t>(3, rows[s].size() - answered[s]);
          const auto from = rows[s].begin() + static_cast<std::ptrdiff_t>(answered[s]);
          ++sent;
          const Answer answer =
              connection.ask("POST", "/v1/observations",
                             ndjson({from, from + static_cast<std::ptrdiff_t>(count)}));
          if (answer.status != 200) throw std::runtime_error("killed");
          answered[s] += count;
          going = true;
        }
      }
    } catch (const std::runtime_error&) {
      EXPECT_TRUE(killed);  // nothing else ends a connection
    }
    ended = true;
    killer.join();
    over = !killed;
    kills += killed;
    if (!over) stop(SIGKILL);
    // At every restart: what was answered, and at most what was on its way.
    if (!over) {
      ASSERT_TRUE(start());
      for (std::size_t s = 0; s < kStreams; ++s) {
        if (answered[s] == 0) continue;
        const Answer history =
            ask("GET", "/v1/streams/" + waves().ids[s] + "/history?limit=100000");
        ASSERT_EQ(history.status, 200);
        const std::size_t there = json::parse(history.body).at("observations").size();
        EXPECT_GE(there, answered[s]);
        EXPECT_LE(there, answered[s] + 3);
      }
      stop(SIGKILL);
    }
  }
  ASSERT_TRUE(over);
  EXPECT_GE(kills, 3);
  for (std::size_t s = 0; s < kStreams; ++s) {
    const json answer =
        json::parse(ask("GET", "/v1/streams/" + waves().ids[s] + "/distribution?at=13").body);
    const Bits bits = predicted(*small_model(), waves(), s, {13});
    for (std::size_t j = 0; j < 3; ++j)
      EXPECT_EQ(answer.at("at")[0].at("features").at(waves().features[j]).at("mean").get<double>(),
                bits[4 * j]);
  }
}

}  // namespace
}  // namespace edict::server

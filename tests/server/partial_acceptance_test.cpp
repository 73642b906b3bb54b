// A body of which some values cannot be taken: the others are stored, and those are listed.
#include "base/error.h"
#include "server/broker.h"
#include "server/server_program.h"
#include "server/waiting.h"

namespace edict::server {
namespace {

class PartialAcceptanceTest : public ProgramTest {
 protected:
  static std::string line(const std::string& stream, double time, const std::string& values) {
    return "{\"stream\":\"" + stream + "\",\"time\":" + number(time) + ",\"values\":{" + values +
           "}}\n";
  }
  Answer post(const std::string& body, const std::string& type = "application/x-ndjson") const {
    return ask("POST", "/v1/observations", body, "Content-Type: " + type + "\r\n");
  }
  std::size_t stored(const std::string& stream) const {
    const Answer history = ask("GET", "/v1/streams/" + stream + "/history");
    return history.status == 200 ? json::parse(history.body).at("observations").size() : 0;
  }
};

TEST_F(PartialAcceptanceTest, OfLinesThatCannotBeReadTheOthersAreStored) {
  ASSERT_TRUE(start()) << folder_.read("err");
  const std::string body = line("a", 1, "\"x1\":0.5,\"x2\":1") + line("a", 2, "\"x9\":0.5") +
                           "nonsense\n" + line("b", 3, "\"x1\":\"high\",\"x3\":0.25");
  const Answer answer = post(body);
  ASSERT_EQ(answer.status, 207) << answer.body;
  const json answered = json::parse(answer.body);
  EXPECT_EQ(answered.at("stored"), 3);
  EXPECT_EQ(answered.at("refused"), 3);
  ASSERT_EQ(answered.at("errors").size(), 3u);
  EXPECT_EQ(answered.at("errors")[0].at("line"), 2);
  EXPECT_EQ(answered.at("errors")[0].at("field"), "values.x9");
  EXPECT_EQ(answered.at("errors")[1].at("line"), 3);
  EXPECT_EQ(answered.at("errors")[2].at("field"), "values.x1");
  EXPECT_EQ(stored("a"), 2u);
  EXPECT_EQ(stored("b"), 1u);
  // The same again changes nothing and is answered alike.
  EXPECT_EQ(json::parse(post(body).body).at("unchanged"), 3);
  // The first line may be the broken one.
  EXPECT_EQ(post("nonsense\n" + line("c", 1, "\"x1\":1")).status, 207);
  EXPECT_EQ(stored("c"), 1u);
  // Where nothing is left to be stored it is an error as before.
  EXPECT_EQ(post(line("a", 2, "\"x9\":0.5")).status, 400);
  EXPECT_EQ(post("{\"stream\":\"a\"").status, 400);
  const Answer all = post(line("a", 9, "\"x1\":1"));
  EXPECT_EQ(all.status, 200);
  EXPECT_EQ(json::parse(all.body).at("refused"), 0);
}

TEST_F(PartialAcceptanceTest, TablesAndArraysAreTakenInPartToo) {
  ASSERT_TRUE(start()) << folder_.read("err");
  const Answer table = post("stream,time,x1\na,1,0.5\na,noon,0.5\na,2,much\na,3,0.5\n", "text/csv");
  ASSERT_EQ(table.status, 207) << table.body;
  EXPECT_EQ(json::parse(table.body).at("stored"), 2);
  EXPECT_EQ(json::parse(table.body).at("errors")[0].at("line"), 3);
  // Of a column that is no feature the cells are refused, and empty ones are none.
  const Answer unknown = post("stream,time,x1,x9\nc,1,0.5,7\nc,2,0.5,\nc,3,0.5,8\n", "text/csv");
  ASSERT_EQ(unknown.status, 207) << unknown.body;
  const json said = json::parse(unknown.body);
  EXPECT_EQ(said.at("stored"), 3);
  EXPECT_EQ(said.at("refused"), 2);
  EXPECT_EQ(said.at("errors")[0].at("line"), 2);
  EXPECT_EQ(said.at("errors")[0].at("field"), "x9");
  EXPECT_EQ(said.at("errors")[1].at("line"), 4);
  EXPECT_EQ(post("stream,time,feature,value\nd,1,x1,1\nd,1,x9,1\n", "text/csv").status, 207);
  EXPECT_EQ(stored("d"), 1u);
  EXPECT_EQ(post("stream,time,x9\na,1,0.5\n", "text/csv").status, 400);
  const Answer array = post("[" + line("b", 1, "\"x1\":1") + "," + line("b", 2, "\"x9\":1") + "]",
                            "application/json");
  ASSERT_EQ(array.status, 207) << array.body;
  EXPECT_EQ(json::parse(array.body).at("errors")[0].at("line"), 2);
}

// A value whose time cannot be taken spoils no other, of its stream or of another one.
TEST_F(PartialAcceptanceTest, WhatLiesBeforeTheClockSpoilsNoOther) {
  Config config = small_model()->config;
  config.data.start = ClockStart::zero;
  save_model(Model::create(config, waves(), split(waves(), 0)), folder_ / "waves.model");
  ASSERT_TRUE(start()) << folder_.read("err");
  const std::string early = line("old", -5, "\"x1\":7");
  EXPECT_EQ(post(early).status, 422);
  const Answer answer = post(line("new", 1, "\"x1\":0.5") + early + line("old", 13, "\"x1\":0.5"));
  ASSERT_EQ(answer.status, 207) << answer.body;
  const json answered = json::parse(answer.body);
  EXPECT_EQ(answered.at("stored"), 2);
  EXPECT_EQ(answered.at("refused"), 1);
  EXPECT_EQ(answered.at("errors")[0].at("line"), 2);
  EXPECT_NE(answered.at("errors")[0].at("detail").get<std::string>().find("stream 'old': time -5"),
            std::string::npos)
      << answered;
  EXPECT_EQ(stored("new"), 1u);
  EXPECT_EQ(stored("old"), 1u);
}

// Telegraf drops a batch that is answered 400 and logs the message; what could be stored was.
TEST_F(PartialAcceptanceTest, LineProtocolIsStoredInPartAndSaysSoInInfluxsWords) {
  ASSERT_TRUE(start("--time-unit h")) << folder_.read("err");
  const auto write = [&](const std::string& body) {
    return ask("POST", "/api/v2/write?precision=s", body);
  };
  EXPECT_EQ(write("w,stream=a x1=1 1700000000\n").status, 204);
  const std::string mixed = "w,stream=b x1=1 1700000000\nw,stream=b x1=one 1700003600\n";
  const Answer answer = write(mixed);
  EXPECT_EQ(answer.status, 400);
  const json answered = json::parse(answer.body);
  EXPECT_EQ(answered.at("code"), "invalid");
  EXPECT_NE(answered.at("message").get<std::string>().find("1 values stored, 1 refused: line 2"),
            std::string::npos)
      << answered;
  EXPECT_EQ(stored("b"), 1u);
  // A field that cannot be taken spoils no other of its line.
  EXPECT_EQ(write("w,stream=c x1=one,x2=2 1700000000\n").status, 400);
  EXPECT_EQ(stored("c"), 1u);
  // What else a sender measures is left out, but not everything in silence.
  EXPECT_EQ(write("w,stream=d x1=1,load=0.3 1700000000\n").status, 204);
  const Answer nothing = write("w,stream=e load=0.3 1700000000\n");
  EXPECT_EQ(nothing.status, 400);
  EXPECT_NE(nothing.body.find("no such feature"), std::string::npos) << nothing.body;
  const json none = json::parse(write("w,stream=b x1=one 1700003600\n").body);
  EXPECT_EQ(none.at("message"), none.at("detail"));
}

TEST_F(PartialAcceptanceTest, AMessageOfABrokerIsStoredInPart) {
  if (!Broker::installed()) GTEST_SKIP() << "mosquitto and mosquitto-clients are not installed";
  const Broker broker;
  ASSERT_TRUE(start("--mqtt " + broker.url() + " --mqtt-topic 'waves/{stream}'"))
      << folder_.read("err");
  ASSERT_TRUE(
      holds([&] { return folder_.read("err").find("MQTT: listening") != std::string::npos; }));
  broker.publish("waves/a", R"({"time":1,"values":{"x1":0.5,"x2":"high"}})"
                            "\n");
  EXPECT_TRUE(holds([&] { return stored("a") == 1; }));
  EXPECT_TRUE(holds([&] {
    const json rejected = json::parse(ask("GET", "/v1/rejected").body).at("rejected");
    return rejected.size() == 1 && rejected[0].at("detail").get<std::string>().find(
                                       "1 stored, some refused") != std::string::npos;
  })) << ask("GET", "/v1/rejected").body;
}

TEST_F(PartialAcceptanceTest, ThereAreNoMoreStreamsThanAllowed) {
  ASSERT_TRUE(start("--most-streams 3")) << folder_.read("err");
  std::string body;
  for (int i = 0; i < 5; ++i) body += line("s" + std::to_string(i), 1, "\"x1\":0.5");
  const Answer answer = post(body);
  ASSERT_EQ(answer.status, 207) << answer.body;
  const json answered = json::parse(answer.body);
  EXPECT_EQ(answered.at("stored"), 3);
  EXPECT_EQ(answered.at("refused"), 2);
  EXPECT_EQ(answered.at("errors")[0].at("line"), 4);
  const Answer none = post(line("s9", 1, "\"x1\":0.5"));
  EXPECT_EQ(none.status, 403);
  EXPECT_NE(none.body.find("--most-streams"), std::string::npos) << none.body;
  EXPECT_EQ(ask("PUT", "/v1/streams/s9", "{}").status, 403);
  EXPECT_EQ(ask("PUT", "/v1/streams/s1", "{}").status, 200);
  EXPECT_EQ(post(line("s1", 2, "\"x1\":0.5")).status, 200) << "those that there are go on";
  EXPECT_EQ(ask("DELETE", "/v1/streams/s0").status, 204);
  EXPECT_EQ(post(line("s9", 1, "\"x1\":0.5")).status, 200);
}

TEST_F(PartialAcceptanceTest, RulesGoOnlyWhereThatIsSaid) {
  ASSERT_TRUE(start()) << folder_.read("err");
  const std::string rules = R"({"rules":[{"name":"lost","kind":"silence","for":900}]})";
  const auto left = [&] { return json::parse(ask("GET", "/v1/rules").body).at("rules").size(); };
  ASSERT_EQ(ask("PUT", "/v1/rules", rules).status, 200);
  for (const char* nothing : {"{}", "", "# rules to come\n", "{\"rule\":[]}", "null"}) {
    const Answer answer = ask("PUT", "/v1/rules", nothing);
    EXPECT_EQ(answer.status, 400) << nothing;
    EXPECT_EQ(left(), 1u) << nothing;
  }
  EXPECT_EQ(ask("PUT", "/v1/rules", "{\"rules\":[]}").status, 200);
  EXPECT_EQ(left(), 0u);
}

}  // namespace
}  // namespace edict::server

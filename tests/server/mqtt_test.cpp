// MQTT in: what topics and messages say, and against Debian's mosquitto on loopback, where it is
// installed, that nothing is lost and that the bits are those of HTTP.
#include "front/server/ingest/mqtt.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <future>
#include <thread>

#include "base/json/json.h"
#include "front/server/demo/demo_ward.h"
#include "front/server/live/questions.h"
#include "learn/fit_settings.h"
#include "server/broker.h"
#include "server/waiting.h"
#include "temporary_folder.h"

namespace edict::server {
namespace {

TEST(TopicPattern, NamesStreamAndFeature) {
  const TopicPattern pattern("ward/{stream}/{feature}");
  EXPECT_EQ(pattern.filter(), "ward/+/+");
  const auto match = pattern.match("ward/bed 3/MAP");
  ASSERT_TRUE(match);
  EXPECT_EQ(match->stream, "bed 3");
  EXPECT_EQ(match->feature, "MAP");
  EXPECT_FALSE(pattern.match("ward/bed 3"));
  EXPECT_FALSE(pattern.match("ward/bed 3/MAP/raw"));
  EXPECT_FALSE(pattern.match("house/bed 3/MAP"));
}

TEST(TopicPattern, WildcardsStandForWhatIsNotAsked) {
  const TopicPattern pattern("+/{stream}/state/#");
  EXPECT_EQ(pattern.filter(), "+/+/state/#");
  EXPECT_EQ(pattern.match("home/pump/state")->stream, "pump");
  EXPECT_EQ(pattern.match("home/pump/state/a/b")->stream, "pump");
  EXPECT_FALSE(pattern.match("home/pump/other/a"));
  EXPECT_TRUE(TopicPattern("all").match("all")->stream.empty());
}

TEST(TopicPattern, RefusesWhatCannotBeMeant) {
  for (const char* text : {"", "a/#/b", "{stream}/{stream}", "a/{feature}", "a/b+c", "a/{what}"})
    EXPECT_THROW(TopicPattern{text}, Error) << text;
}

// A model that nobody trained answers as any other.
std::shared_ptr<const Model> small_model() {
  static const auto model = [] {
    const Dataset data = ward_history(30, 1);
    const std::vector<std::string> given = {"model.hidden=8", "model.head_hidden=8"};
    const Config config = fit_settings(data, given).config;
    return std::make_shared<const Model>(Model::create(config, data, split(data, config.data)));
  }();
  return model;
}

struct Served {
  TemporaryFolder folder;
  std::unique_ptr<Live> live;

  Served() {
    std::vector<std::string> notices;
    live = std::make_unique<Live>(small_model(), LiveSettings{},
                                  open_sqlite((folder / "live.db").string(), {}, notices),
                                  std::vector<Rule>{});
  }

  // What is expected of a stream, as text: every bit of every number.
  std::string expected(const std::string& stream) {
    std::promise<std::string> told;
    live->on_stream(stream, [&](Live::Access access, LiveStream* found) {
      if (!found) return told.set_value("no such stream");
      AskedDistribution asked;
      asked.ahead = {0, 5, 30};
      asked.features = {0, 1, 2, 3, 4};
      told.set_value(distribution(access, *found, asked).dump());
    });
    return told.get_future().get();
  }

  // What was put aside, asked for where a stream lives.
  std::vector<RejectedLine> rejected(const std::string& stream) {
    std::promise<std::vector<RejectedLine>> told;
    live->on_stream(stream, [&](Live::Access access, LiveStream*) {
      told.set_value(access.store.rejected(100));
    });
    return told.get_future().get();
  }
};

TEST(MqttMessage, SaysOneValueOrSeveral) {
  const Served served;
  const Live& live = *served.live;
  const double now = 1.7e15;
  const auto rows = [&](std::string_view stream, std::string_view feature, std::string_view text) {
    return rows_of_message({stream, feature}, text, now, live);
  };
  ASSERT_EQ(rows("a", "MAP", "71.5").size(), 1u);
  EXPECT_EQ(rows("a", "MAP", "71.5")[0].value, 71.5);
  EXPECT_EQ(rows("a", "MAP", "71.5")[0].time.value, now);
  EXPECT_EQ(rows("a", "MAP", R"({"value":3,"time":"2023-11-14T22:13:20Z"})")[0].time.value, now);
  EXPECT_EQ(rows("a", "MAP", R"({"value":3,"time":1700000000})")[0].time.value, now);
  EXPECT_TRUE(rows("a", "battery", "97").empty());
  EXPECT_TRUE(rows("a", "MAP", R"({"value":null})").empty());
  EXPECT_EQ(rows("a", "", R"({"HR":80,"MAP":70,"battery":97})").size(), 2u);
  EXPECT_EQ(rows("a", "", R"({"time":1700000000,"values":{"HR":80}})").size(), 1u);
  EXPECT_EQ(rows("", "", R"({"stream":"b","time":1700000000,"values":{"HR":80}})")[0].stream, "b");
  EXPECT_EQ(rows("", "", "vitals,stream=c HR=80,MAP=70 1700000000000000000").size(), 2u);
  for (const char* bad : {"", "on", "[1]", R"({"time":3})", R"({"value":"x"})"})
    EXPECT_THROW(rows("a", "MAP", bad), BadInput) << bad;
  EXPECT_THROW(rows("a", "", R"({"HR":"eighty"})"), BadInput);
  EXPECT_THROW(rows("a", "", R"({"HR":80,"time":"soon"})"), BadInput);
}

// Ten minutes of a patient, a line each as POST /v1/observations takes it.
std::string patient_lines(const std::string& stream) {
  std::string lines;
  Patient patient(2, 0);
  for (Round round = patient.next(); round.minute < 10; round = patient.next()) {
    nlohmann::json values = nlohmann::json::object();
    for (std::size_t j = 0; j < kWardFeatures.size(); ++j)
      if (round.values[j]) values[kWardFeatures[j]] = *round.values[j];
    if (values.empty()) continue;
    nlohmann::json line = {{"time", 1.7e9 + 60 * round.minute}, {"values", values}};
    if (!stream.empty()) line["stream"] = stream;
    lines += line.dump() + "\n";
  }
  return lines;
}

class MqttBroker : public testing::Test {
 protected:
  void SetUp() override {
    if (!Broker::installed()) GTEST_SKIP() << "mosquitto and mosquitto-clients are not installed";
    broker_.emplace();
  }
  MqttSettings settings(const std::string& topic) const { return {broker_->url(), topic}; }

  std::optional<Broker> broker_;
};

TEST_F(MqttBroker, GivesTheBitsOfHttp) {
  Served by_mqtt, by_http;
  const MqttSource source(*by_mqtt.live, settings("ward/{stream}"));
  ASSERT_TRUE(holds([&] { return source.connected(); }));
  broker_->publish("ward/bed 1", patient_lines(""));
  const auto rows = by_http.live->intake().json(patient_lines("bed 1"));
  const std::size_t values = rows.size();
  by_http.live->submit_and_wait(rows);
  ASSERT_TRUE(holds([&] { return by_mqtt.live->counters().values == values; }))
      << by_mqtt.live->counters().values << " of " << values;
  EXPECT_EQ(by_mqtt.expected("bed 1"), by_http.expected("bed 1"));
}

TEST_F(MqttBroker, PutsPoisonAsideAndGoesOn) {
  Served served;
  const MqttSource source(*served.live, settings("ward/{stream}/{feature}"));
  ASSERT_TRUE(holds([&] { return source.connected(); }));
  broker_->publish("ward/bed 1/MAP", "seventy\n{\"value\":70,\"time\":1700000000}\n");
  ASSERT_TRUE(holds([&] { return served.live->counters().values == 1; }));
  const auto rejected = served.rejected("bed 1");
  ASSERT_EQ(rejected.size(), 1u);
  EXPECT_EQ(rejected[0].source, "mqtt");
  EXPECT_EQ(rejected[0].payload, "seventy");
  EXPECT_NE(rejected[0].detail.find("ward/bed 1/MAP"), std::string::npos);
}

// What the store has put aside by itself is not put aside again.
TEST_F(MqttBroker, AMisdatedValueIsKeptOnce) {
  Served served;
  const MqttSource source(*served.live, settings("ward/{stream}"));
  ASSERT_TRUE(holds([&] { return source.connected(); }));
  const std::string future = R"({"time":"2190-01-01","values":{"HR":80}})";
  broker_->publish("ward/bed 1",
                   future + "\n" + R"({"time":1700000000,"values":{"HR":80}})" + "\n");
  ASSERT_TRUE(holds([&] { return served.live->counters().values == 1; }));
  auto rejected = served.rejected("bed 1");
  ASSERT_EQ(rejected.size(), 1u);
  EXPECT_EQ(rejected[0].source, "observations");
  // Beside what cannot be read.
  broker_->publish("ward/bed 1", R"([{"time":"2190-01-01","values":{"HR":80,"MAP":"low"}},)"
                                 R"({"time":1700000060,"values":{"HR":80}}])"
                                 "\n");
  ASSERT_TRUE(holds([&] { return served.live->counters().values == 2; }));
  ASSERT_TRUE(holds([&] { return served.rejected("bed 1").size() >= 3; }));
  rejected = served.rejected("bed 1");
  ASSERT_EQ(rejected.size(), 3u);
  EXPECT_EQ(rejected[0].source, "mqtt");
  EXPECT_NE(rejected[0].detail.find("values.MAP"), std::string::npos) << rejected[0].detail;
  EXPECT_EQ(rejected[1].source, "observations");
}

TEST_F(MqttBroker, TakesWhatCameWhileItWasAway) {
  Served served;
  const auto here = [&] {
    auto source = std::make_unique<MqttSource>(*served.live, settings("ward/{stream}/{feature}"));
    EXPECT_TRUE(holds([&] { return source->connected(); }));
    return source;
  };
  here().reset();
  broker_->publish("ward/bed 1/HR", "{\"value\":80,\"time\":1700000000}\n");
  const auto source = here();
  EXPECT_TRUE(holds([&] { return served.live->counters().values == 1; }));
}

TEST_F(MqttBroker, TheSameMessageTwiceChangesNothing) {
  Served served;
  const MqttSource source(*served.live, settings("ward/{stream}/{feature}"));
  ASSERT_TRUE(holds([&] { return source.connected(); }));
  const std::string line = "{\"value\":80,\"time\":1700000000}\n";
  broker_->publish("ward/bed 1/HR", line);
  ASSERT_TRUE(holds([&] { return served.live->counters().values == 1; }));
  const std::string before = served.expected("bed 1");
  broker_->publish("ward/bed 1/HR", line + line);
  ASSERT_TRUE(holds([&] { return served.live->counters().unchanged == 2; }));
  EXPECT_EQ(served.expected("bed 1"), before);
}

TEST(Mqtt, RefusesAnAddressThatIsNone) {
  Served served;
  for (const char* url : {"", "http://host", "mqtt://", "mqtt://user@host", "127.0.0.1:1883"})
    EXPECT_THROW(MqttSource(*served.live, {url, "a/{stream}"}), Error) << url;
  EXPECT_THROW(MqttSource(*served.live, {"mqtt://127.0.0.1", "a/{what}"}), Error);
}

}  // namespace
}  // namespace edict::server

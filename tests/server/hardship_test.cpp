// What happens to a server that runs for years: clients that stall, a disk that fills, a clock that
// is set, a broker's worst day. Each is survived as its test says.
#include <sys/socket.h>

#include <chrono>
#include <thread>

#include "server/broker.h"
#include "server/server_program.h"
#include "server/waiting.h"

namespace edict::server {
namespace {

using namespace std::chrono_literals;

class HardshipTest : public ProgramTest {
 protected:
  json alarms() const { return json::parse(ask("GET", "/v1/alarms").body).at("alarms"); }
};

// Requests that never end hold no thread, and are shut out after their time.
TEST_F(HardshipTest, HalfARequestHarmsNobodyAndIsClosed) {
  ASSERT_TRUE(start("--request-seconds 1")) << folder_.read("err");
  std::vector<std::unique_ptr<Connection>> half;
  for (int i = 0; i < 200; ++i) {
    half.push_back(std::make_unique<Connection>(port_));
    half.back()->send(i % 2 ? "POST /v1/observations HTTP/1.1\r\nHost: localhost\r\nContent-Le"
                            : "POST /v1/observations HTTP/1.1\r\nHost: localhost\r\n"
                              "Content-Length: 1000\r\n\r\n{\"stream\":");
  }
  EXPECT_EQ(ask("POST", "/v1/observations", ndjson(rows_of(waves(), 0))).status, 200);
  for (const auto& one : half) {
    EXPECT_TRUE(one->closes());
    EXPECT_EQ(one->came().find(" 200 "), std::string::npos);
  }
  EXPECT_EQ(json::parse(ask("GET", "/v1/streams").body).at("total"), 1);
}

// A watcher that reads nothing is no reason to keep everything for it, nor to wait.
TEST_F(HardshipTest, AWatcherThatDoesNotReadCostsNothingAndIsClosed) {
  ASSERT_TRUE(start("--request-seconds 2")) << folder_.read("err");
  std::vector<std::unique_ptr<Connection>> stalled;
  for (int i = 0; i < 20; ++i) {
    stalled.push_back(std::make_unique<Connection>(port_));
    stalled.back()->receive_little();
    stalled.back()->send("GET /v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
  }
  const auto flood = [&](int from) {
    Connection connection(port_);
    for (int round = from; round < from + 150; ++round) {
      std::string body;
      for (int s = 0; s < 100; ++s)
        body += "{\"stream\":\"a stream with a long name " + std::to_string(s) +
                "\",\"time\":" + std::to_string(round) + ",\"values\":{\"x1\":0.5}}\n";
      ASSERT_EQ(connection.ask("POST", "/v1/observations", body).status, 200);
    }
  };
  flood(0);
  const double before = megabytes();
  flood(150);
#ifndef EDICT_SANITIZED  // which keeps what was freed
  EXPECT_LT(megabytes(), before + 16);
#else
  EXPECT_GT(megabytes(), before / 2);
#endif
  Connection reading(port_);
  reading.send("GET /v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
  ASSERT_TRUE(reading.until("event: hello"));
  EXPECT_EQ(ask("POST", "/v1/observations", ndjson(rows_of(waves(), 0))).status, 200);
  ASSERT_TRUE(reading.until("data: {\"stream\":\"" + waves().ids[0]));
  EXPECT_TRUE(holds([&] {
    const std::string metrics = ask("GET", "/metrics").body;
    const std::size_t at = metrics.find("\nedict_event_watchers ");
    return at != std::string::npos && std::atoi(metrics.c_str() + at + 22) == 1;
  })) << ask("GET", "/metrics").body;
}

// As a message: a line of POST /v1/observations without its stream.
std::string messages(std::size_t series) {
  std::string lines;
  for (const Row& row : rows_of(waves(), series))
    lines += "{\"time\":" + number(row.time.value) + ",\"values\":{\"" +
             waves().features[static_cast<std::size_t>(row.feature)] + "\":" + number(row.value) +
             "}}\n";
  return lines;
}

TEST_F(HardshipTest, KilledAgainAndAgainItTakesEveryMessageOfABroker) {
  if (!Broker::installed()) GTEST_SKIP() << "mosquitto and mosquitto-clients are not installed";
  const Broker broker;
  const std::string options = "--mqtt " + broker.url() + " --mqtt-topic 'waves/{stream}'";
  ASSERT_TRUE(start(options)) << folder_.read("err");
  // What it has subscribed to outlives it; only the first time must it be there before the others.
  ASSERT_TRUE(holds([&] {
    return folder_.read("err").find("MQTT: listening") != std::string::npos;
  })) << ask("GET", "/metrics").body;
  constexpr std::size_t kStreams = 20;
  std::thread sender([&] {
    for (std::size_t s = 0; s < kStreams; ++s)
      broker.publish("waves/" + waves().ids[s], messages(s));
  });
  for (int kills = 0; kills < 12; ++kills) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20 + 17 * (kills % 5)));
    stop(SIGKILL);
    ASSERT_TRUE(start(options)) << folder_.read("err");
  }
  sender.join();
  for (std::size_t s = 0; s < kStreams; ++s) {
    const std::size_t all = rows_of(waves(), s).size();
    const std::string where = "/v1/streams/" + waves().ids[s];
    EXPECT_TRUE(holds([&] {
      const Answer history = ask("GET", where + "/history?limit=1000");
      return history.status == 200 && json::parse(history.body).at("observations").size() == all;
    })) << waves().ids[s];
    EXPECT_EQ(json::parse(ask("GET", where + "/distribution?at=13").body)
                  .at("at")[0]
                  .at("features")
                  .at("x1")
                  .at("mean")
                  .get<double>(),
              predicted(*small_model(), waves(), s, {13})[0]);
  }
}

TEST_F(HardshipTest, ABrokerMayWantAPasswordAndSpeakTls) {
  if (!Broker::installed()) GTEST_SKIP() << "mosquitto and mosquitto-clients are not installed";
  const std::string folder = folder_.path().string();
  ASSERT_EQ(
      std::system(("cd '" + folder +
                   "' && openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem "
                   "-days 2 -subj /CN=broker -addext subjectAltName=IP:127.0.0.1 2>/dev/null && "
                   "mosquitto_passwd -b -c people edict secret && chmod 644 people key.pem && "
                   "printf secret >password && chmod 755 .")
                      .c_str()),
      0);
  const Broker broker("allow_anonymous false\npassword_file " + folder + "/people\ncertfile " +
                      folder + "/cert.pem\nkeyfile " + folder + "/key.pem\n");
  ASSERT_TRUE(start("--mqtt " + broker.url("mqtts") +
                    " --mqtt-ca cert.pem --mqtt-user edict --mqtt-password password "
                    "--mqtt-topic 'waves/{stream}'"))
      << folder_.read("err");
  ASSERT_TRUE(holds([&] {
    return folder_.read("err").find("MQTT: listening") != std::string::npos;
  })) << folder_.read("err");
  broker.publish("waves/a", "{\"time\":1,\"values\":{\"x1\":0.5}}\n",
                 "--cafile '" + folder + "/cert.pem' -u edict -P secret");
  EXPECT_TRUE(holds([&] { return ask("GET", "/v1/streams/a").status == 200; }));
}

#ifdef EDICT_FAULTS

// While nothing can be written nothing is acknowledged, what was is there, and questions are
// answered; with room again it goes on without a restart.
TEST_F(HardshipTest, AFullDiskIsToldAndLosesNothing) {
  const std::string full = (folder_ / "full").string();
  ASSERT_TRUE(start("", EDICT_SERVER, "LD_PRELOAD=" EDICT_FAULTS " EDICT_FULL='" + full + "'"))
      << folder_.read("err");
  const std::vector<Row> rows = rows_of(waves(), 0);
  const auto half = rows.begin() + static_cast<std::ptrdiff_t>(rows.size() / 2);
  ASSERT_EQ(ask("POST", "/v1/observations", ndjson({rows.begin(), half})).status, 200);
  folder_.write("full", "");
  for (int i = 0; i < 3; ++i) {
    const Answer refused = ask("POST", "/v1/observations", ndjson({half, rows.end()}));
    EXPECT_EQ(refused.status, 503) << refused.body;
    EXPECT_NE(refused.body.find("full"), std::string::npos) << refused.body;
  }
  const std::string where = "/v1/streams/" + waves().ids[0];
  EXPECT_EQ(json::parse(ask("GET", where + "/history?limit=1000").body).at("observations").size(),
            rows.size() / 2);
  EXPECT_EQ(ask("GET", where + "/distribution?ahead=1").status, 200);
  EXPECT_EQ(ask("GET", "/healthz").status, 503);
  std::filesystem::remove(folder_ / "full");
  ASSERT_EQ(ask("POST", "/v1/observations", ndjson({half, rows.end()})).status, 200);
  EXPECT_EQ(ask("GET", "/healthz").status, 200);
  const std::string told = ask("GET", where + "/distribution?at=13").body;
  const Bits bits = predicted(*small_model(), waves(), 0, {13});
  EXPECT_EQ(json::parse(told).at("at")[0].at("features").at("x1").at("mean").get<double>(),
            bits[0]);
  stop(SIGKILL);
  ASSERT_TRUE(start());
  EXPECT_EQ(ask("GET", where + "/distribution?at=13").body, told);
}

// The clock of the machine is set a day ahead, then two days back, while it runs and while it does
// not: no silence is made up and none is hidden.
TEST_F(HardshipTest, AClockThatIsSetChangesNoDuration) {
  const std::string environment =
      "LD_PRELOAD=" EDICT_FAULTS " EDICT_CLOCK='" + (folder_ / "clock").string() + "'";
  folder_.write("rules.json",
                R"({"rules":[{"name":"lost","kind":"silence","for":2,"priority":"low"}]})");
  folder_.write("clock", "0");
  const std::string options = "--rules rules.json --alarm-interval 0.1";
  ASSERT_TRUE(start(options, EDICT_SERVER, environment)) << folder_.read("err");
  const auto observe = [&](double time) {
    return ask("POST", "/v1/observations",
               R"({"stream":"bed","time":)" + number(time) + R"(,"values":{"x1":0.5}})")
        .status;
  };
  const auto age = [&] {
    return json::parse(ask("GET", "/v1/streams/bed").body).at("age").get<double>();
  };
  ASSERT_EQ(observe(1), 200);
  folder_.write("clock", "86400");
  std::this_thread::sleep_for(500ms);
  EXPECT_LT(age(), 30.0);
  EXPECT_TRUE(alarms().empty()) << alarms();
  folder_.write("clock", "-86400");
  ASSERT_EQ(observe(2), 200);
  EXPECT_TRUE(holds([&] { return alarms().size() == 1; })) << "the silence was not noticed";
  // Back again by a restart: what was received lies in the future then.
  stop();
  folder_.write("clock", "-172800");
  ASSERT_TRUE(start(options, EDICT_SERVER, environment)) << folder_.read("err");
  EXPECT_GE(age(), 0.0);
  EXPECT_LT(age(), 30.0);
  ASSERT_EQ(observe(3), 200);
  EXPECT_TRUE(holds([&] { return alarms().empty(); })) << alarms();
  EXPECT_TRUE(holds([&] { return alarms().size() == 1; })) << "the silence was not noticed";
}

#endif

}  // namespace
}  // namespace edict::server

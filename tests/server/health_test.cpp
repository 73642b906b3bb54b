// Whether the server says truly how it is.
#include "server/broker.h"
#include "server/server_program.h"
#include "server/waiting.h"

namespace edict::server {
namespace {

class HealthTest : public ProgramTest {
 protected:
  int post(double time = 1) const {
    return ask("POST", "/v1/observations",
               R"({"stream":"a","time":)" + number(time) + R"(,"values":{"x1":0.25}})")
        .status;
  }
  bool becomes(const char* path, int status) const {
    return holds([&] { return ask("GET", path).status == status; });
  }
  std::string detail() const {
    return json::parse(ask("GET", "/healthz").body).value("detail", "");
  }
};

TEST_F(HealthTest, ANewServerIsLiveAndReady) {
  ASSERT_TRUE(start()) << folder_.read("err");
  for (const char* path :
       {"/livez", "/readyz", "/healthz", "/v2/health/live", "/v2/health/ready"}) {
    const Answer answer = ask("GET", path);
    EXPECT_EQ(answer.status, 200) << path << answer.body;
    EXPECT_EQ(json::parse(answer.body).at("status"), "ok") << path;
  }
  EXPECT_EQ(json::parse(ask("GET", "/readyz").body).at("checks"), (json{{"store", "ok"}}));
  EXPECT_NE(ask("GET", "/metrics").body.find("\nedict_ready{part=\"store\"} 1\n"),
            std::string::npos);
}

#ifdef EDICT_FAULTS

// A server that gets no requests while it is not ready would never be ready again.
TEST_F(HealthTest, TheEndOfAFailureIsNoticedWithoutAWrite) {
  const std::string full = (folder_ / "full").string();
  ASSERT_TRUE(start("", EDICT_SERVER, "LD_PRELOAD=" EDICT_FAULTS " EDICT_FULL='" + full + "'"))
      << folder_.read("err");
  ASSERT_EQ(post(1), 200);
  folder_.write("full", "");
  ASSERT_EQ(post(2), 503);
  for (const Answer& answer :
       {ask("PUT", "/v1/streams/a", R"({"labels":{"bed":3}})"), ask("DELETE", "/v1/streams/a"),
        ask("DELETE", "/v1/streams/a/observations?at=1"),
        ask("PUT", "/v1/rules", R"({"rules":[]})"),
        ask("POST", "/v1/backup", json{{"to", (folder_ / "copy.db").string()}}.dump())}) {
    EXPECT_EQ(answer.status, 503) << answer.body;
    EXPECT_NE(answer.body.find("full"), std::string::npos) << answer.body;
  }
  EXPECT_FALSE(folder_.exists("copy.db"));
  EXPECT_EQ(ask("GET", "/readyz").status, 503);
  EXPECT_EQ(ask("GET", "/healthz").status, 503);
  EXPECT_EQ(ask("GET", "/livez").status, 200) << "a restart would not help";
  std::filesystem::remove(folder_ / "full");
  EXPECT_TRUE(becomes("/readyz", 200)) << ask("GET", "/readyz").body;
  EXPECT_EQ(ask("GET", "/healthz").status, 200);
}

// And a failure is known before a client meets it.
TEST_F(HealthTest, AFullDiskIsNoticedWithoutAWrite) {
  const std::string full = (folder_ / "full").string();
  ASSERT_TRUE(start("", EDICT_SERVER, "LD_PRELOAD=" EDICT_FAULTS " EDICT_FULL='" + full + "'"))
      << folder_.read("err");
  ASSERT_TRUE(becomes("/readyz", 200));
  folder_.write("full", "");
  EXPECT_TRUE(becomes("/readyz", 503));
}

#endif

TEST_F(HealthTest, AStoreThatIsRemovedTakesNothingMore) {
  ASSERT_TRUE(start("--store s.db")) << folder_.read("err");
  ASSERT_EQ(post(1), 200);
  std::filesystem::rename(folder_ / "s.db", folder_ / "moved");
  EXPECT_EQ(post(2), 503) << "it would be lost with the next start";
  EXPECT_EQ(ask("GET", "/healthz").status, 503);
  EXPECT_NE(detail().find("s.db was removed"), std::string::npos) << detail();
  folder_.write("s.db", "");
  EXPECT_EQ(post(3), 503) << "another file is not the store";
  EXPECT_EQ(ask("GET", "/livez").status, 200);
  std::filesystem::rename(folder_ / "moved", folder_ / "s.db");
  EXPECT_TRUE(becomes("/healthz", 200)) << detail();
  EXPECT_EQ(post(4), 200);
}

TEST_F(HealthTest, AStoreThatIsEmptiedIsNotReady) {
  ASSERT_TRUE(start("--store s.db")) << folder_.read("err");
  ASSERT_EQ(post(1), 200);
  // Before that everything is in the write-ahead log, and harm to the file is none.
  ASSERT_TRUE(holds([&] { return std::filesystem::file_size(folder_ / "s.db-wal") == 0; }));
  std::filesystem::resize_file(folder_ / "s.db", 0);
  EXPECT_TRUE(becomes("/healthz", 503));
  EXPECT_EQ(post(2), 503);
}

TEST_F(HealthTest, WithoutItsBrokerItIsNotReady) {
  if (!Broker::installed()) GTEST_SKIP() << "mosquitto and mosquitto-clients are not installed";
  auto broker = std::make_unique<Broker>();
  ASSERT_TRUE(start("--mqtt " + broker->url() + " --mqtt-topic 'waves/{stream}'"))
      << folder_.read("err");
  EXPECT_TRUE(becomes("/readyz", 200)) << ask("GET", "/readyz").body;
  broker.reset();
  EXPECT_TRUE(becomes("/readyz", 503));
  EXPECT_NE(detail().find("not connected"), std::string::npos) << detail();
  EXPECT_EQ(ask("GET", "/livez").status, 200);
  EXPECT_EQ(post(), 200) << "HTTP is taken all the same";
  EXPECT_NE(ask("GET", "/metrics").body.find("\nedict_ready{part=\"mqtt\"} 0\n"),
            std::string::npos);
}

}  // namespace
}  // namespace edict::server

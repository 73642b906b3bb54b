// SIGHUP: tokens, certificate and rules are read again while everything goes on.
#include <sys/stat.h>

#include <fstream>
#include <thread>

#include "front/server/http/tokens.h"
#include "server/server_program.h"
#include "server/waiting.h"

namespace edict::server {
namespace {

class ReloadTest : public ProgramTest {
 protected:
  void hang_up() const { kill(child_, SIGHUP); }
  bool says(const std::string& text) const {
    return holds([&] { return folder_.read("err").find(text) != std::string::npos; });
  }
};

TEST_F(ReloadTest, WithNothingToReadItGoesOn) {
  ASSERT_TRUE(start()) << folder_.read("err");
  hang_up();
  EXPECT_TRUE(says("nothing to read again")) << folder_.read("err");
  EXPECT_EQ(ask("GET", "/healthz").status, 200);
  EXPECT_EQ(stop(), 0);
}

TEST_F(ReloadTest, TokensAreReadAgain) {
  const NewToken anna = make_token("anna", "read"), otto = make_token("otto", "read");
  const auto status = [&](const NewToken& token) {
    return ask("GET", "/v1/streams", "", "Authorization: Bearer " + token.token + "\r\n").status;
  };
  folder_.write("tokens", anna.line + "\n");
  ASSERT_TRUE(start("--tokens tokens")) << folder_.read("err");
  Connection watch(port_);
  watch.send("GET /v1/events?token=" + anna.token + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
  ASSERT_TRUE(watch.until("event: hello"));
  EXPECT_EQ(status(otto), 401);
  folder_.write("tokens", otto.line + "\n");
  hang_up();
  EXPECT_TRUE(holds([&] { return status(otto) == 200; }));
  EXPECT_EQ(status(anna), 401);
  EXPECT_TRUE(watch.closes()) << "who may no longer read still watches";
  // What cannot be read leaves everything as it was.
  folder_.write("tokens", "otto read\n");
  hang_up();
  EXPECT_TRUE(says("tokens that were in force stay")) << folder_.read("err");
  EXPECT_EQ(status(otto), 200);
}

TEST_F(ReloadTest, RulesAreReadAgain) {
  const auto names = [&] {
    std::string all;
    const json answered = json::parse(ask("GET", "/v1/rules").body);
    for (const json& rule : answered.at("rules")) all += rule.at("name").get<std::string>() + ";";
    return all;
  };
  const std::string rule = "[[rule]]\nname = \"one\"\nkind = \"silence\"\nfor = 900\n";
  folder_.write("rules", rule);
  ASSERT_TRUE(start("--rules rules")) << folder_.read("err");
  EXPECT_EQ(names(), "one;");
  folder_.write("rules", rule + "[[rule]]\nname = \"two\"\nkind = \"doubt\"\n");
  hang_up();
  EXPECT_TRUE(holds([&] { return names() == "one;two;"; })) << names();
  folder_.write("rules", "[[rule]]\nname = \"three\"\n");
  hang_up();
  EXPECT_TRUE(says("rules that were in force stay")) << folder_.read("err");
  EXPECT_EQ(names(), "one;two;");
}

// Nothing is written into it a second time.
TEST_F(ReloadTest, APipeOfRulesStopsNothing) {
  ASSERT_EQ(mkfifo((folder_ / "rules").c_str(), 0600), 0);
  std::thread writes([&] {
    std::ofstream(folder_ / "rules") << "[[rule]]\nname = \"one\"\nkind = \"silence\"\n";
  });
  ASSERT_TRUE(start("--rules rules")) << folder_.read("err");
  writes.join();
  hang_up();
  EXPECT_TRUE(says("cannot be read again; the rules that were in force stay"))
      << folder_.read("err");
  EXPECT_EQ(stop(), 0);
}

TEST_F(ReloadTest, TheCertificateIsReadAgain) {
  const std::string in_folder = "cd '" + folder_.path().string() + "' && ";
  const auto make = [&](const std::string& name) {
    return std::system((in_folder + "openssl req -x509 -newkey rsa:2048 -nodes -keyout " + name +
                        ".key -out " + name + ".pem -days 2 -subj /CN=localhost 2>/dev/null")
                           .c_str());
  };
  ASSERT_EQ(make("first"), 0);
  ASSERT_EQ(make("second"), 0);
  const auto use = [&](const std::string& name) {
    folder_.write("cert.pem", folder_.read(name + ".pem"));
    folder_.write("key.pem", folder_.read(name + ".key"));
  };
  use("first");
  ASSERT_TRUE(start("--tls-cert cert.pem --tls-key key.pem")) << folder_.read("err");
  const auto trusted = [&](const std::string& name) {
    return std::system((in_folder + "curl -sf --cacert " + name +
                        ".pem --resolve localhost:" + std::to_string(port_) +
                        ":127.0.0.1 https://localhost:" + std::to_string(port_) +
                        "/healthz >answer")
                           .c_str()) == 0;
  };
  EXPECT_TRUE(trusted("first"));
  use("second");
  hang_up();
  EXPECT_TRUE(holds([&] { return trusted("second"); }));
  EXPECT_FALSE(trusted("first"));
  folder_.write("cert.pem", "nonsense");
  hang_up();
  EXPECT_TRUE(says("certificate and key that were in force stay")) << folder_.read("err");
  EXPECT_TRUE(trusted("second"));
}

}  // namespace
}  // namespace edict::server

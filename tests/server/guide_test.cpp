// docs/how-to/serve.md as a newcomer follows it: its commands answer, its rules are taken, and what
// it shows is what the server says.
#include <regex>

#include "base/files/read_file.h"
#include "server/server_program.h"

namespace edict::server {
namespace {

class GuideTest : public ProgramTest {
 protected:
  GuideTest() : guide_(read_file(EDICT_SOURCE_DIR "/docs/how-to/serve.md")) {
    // The guide's features.
    Dataset ward = waves();
    ward.features = {"HR", "MAP", "SpO2"};
    Config config = small_model()->config;
    save_model(Model::create(config, ward, split(ward, 0)), folder_ / "waves.model");
  }

  // What stands in the first block of a language, from a text on.
  std::string block(const std::string& language, const std::string& from) const {
    const std::size_t begin = guide_.find("```" + language + "\n", guide_.find(from));
    const std::size_t first = guide_.find('\n', begin) + 1;
    return guide_.substr(first, guide_.find("```", first) - first);
  }

  const std::string guide_;
};

TEST_F(GuideTest, ItsCommandsAnswer) {
  if (std::system("command -v curl >/dev/null") != 0) GTEST_SKIP() << "curl is not installed";
  ASSERT_TRUE(start()) << folder_.read("err");
  static const std::regex command(R"((?:^|\n)curl (.*?)(?: +#.*)?(?=\n))");
  std::size_t answered = 0;
  for (std::sregex_iterator it(guide_.begin(), guide_.end(), command), end; it != end; ++it) {
    std::string arguments = (*it)[1];
    arguments.replace(arguments.find("localhost:8080"), 14, "127.0.0.1:" + std::to_string(port_));
    const int status = std::system(("curl -sS --fail-with-body --max-time 2 -o '" +
                                    (folder_ / "said").string() + "' " + arguments)
                                       .c_str());
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    const bool endless = arguments.starts_with("-N");
    EXPECT_EQ(code, endless ? 28 : 0) << arguments << ": " << folder_.read("said");
    ++answered;
  }
  EXPECT_GE(answered, 6u);
}

TEST_F(GuideTest, ItsRulesAreTaken) {
  ASSERT_TRUE(start()) << folder_.read("err");
  const Answer answer =
      ask("PUT", "/v1/rules", block("toml", "## Alarms"), "Content-Type: application/toml\r\n");
  EXPECT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(json::parse(ask("GET", "/v1/rules").body).at("rules").size(), 4u);
}

TEST_F(GuideTest, ItsErrorIsWhatTheServerSays) {
  ASSERT_TRUE(start()) << folder_.read("err");
  EXPECT_EQ(json::parse(ask("DELETE", "/v1/streams/a/observations?at=1&feature=MAP").body),
            json::parse(block("json", "## Ask")));
}

// What it calls an option is one.
TEST_F(GuideTest, ItsOptionsAreThere) {
  const std::string asked =
      "'" EDICT_SERVER "' serve --help >'" + (folder_ / "help").string() + "'";
  ASSERT_EQ(std::system(asked.c_str()), 0);
  const std::string help = folder_.read("help");
  static const std::regex option(R"(--[a-z][a-z-]+)");
  for (std::sregex_iterator it(guide_.begin(), guide_.end(), option), end; it != end; ++it) {
    const std::string name = it->str();
    if (name == "--help" || name == "--scopes" || name == "--streams" || name == "--port" ||
        name == "--preset")
      continue;  // of other programs
    EXPECT_NE(help.find(name), std::string::npos) << name << " is no option";
  }
}

}  // namespace
}  // namespace edict::server

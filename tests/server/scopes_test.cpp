// What a token allows holds at every address, and what was done bears a name.
#include "front/server/http/routes/route.h"
#include "front/server/http/tokens.h"
#include "server/server_program.h"

namespace edict::server {
namespace {

class ScopesTest : public ProgramTest {
 protected:
  ScopesTest()
      : reader_(make_token("anna", "read")),
        writer_(make_token("otto", "read,write")),
        admin_(make_token("ida", "admin")) {
    folder_.write("tokens", reader_.line + "\n" + writer_.line + "\n" + admin_.line + "\n");
  }
  static std::string as(const NewToken& token) {
    return "Authorization: Bearer " + token.token + "\r\n";
  }
  std::vector<std::pair<std::string, std::string>> audit() const {
    std::vector<std::pair<std::string, std::string>> lines;
    const json answered = json::parse(ask("GET", "/v1/audit", "", as(reader_)).body);
    for (const json& line : answered.at("audit"))
      lines.emplace_back(line.at("what"), line.at("who"));
    return lines;
  }

  NewToken reader_, writer_, admin_;
};

TEST_F(ScopesTest, EveryAddressNeedsItsScope) {
  ASSERT_TRUE(start("--tokens tokens")) << folder_.read("err");
  for (const Route& route : routes()) {
    if (route.watches) continue;  // does not end
    const std::string method(route.method);
    std::string path(route.path);
    if (const std::size_t brace = path.find('{'); brace != path.npos)
      path.replace(brace, path.find('}') + 1 - brace, "7");
    SCOPED_TRACE(method + " " + path);
    const auto status = [&](const std::string& headers) {
      return ask(method, path, "", headers).status;
    };
    if (route.need == Need::nothing) {
      EXPECT_NE(status(""), 401);
      continue;
    }
    EXPECT_EQ(status(""), 401);
    EXPECT_EQ(status("Authorization: Bearer nonsense\r\n"), 401);
    EXPECT_EQ(status(as(reader_)) == 403, route.need > Need::read);
    EXPECT_EQ(status(as(writer_)) == 403, route.need > Need::write);
    EXPECT_NE(status(as(admin_)), 403);
  }
}

TEST_F(ScopesTest, TheEndOfASequenceRemovesAsDeleteDoes) {
  ASSERT_TRUE(start("--tokens tokens")) << folder_.read("err");
  const std::string request =
      R"({"parameters":{"sequence_id":42,"sequence_end":true},"inputs":[
          {"name":"time","datatype":"FP64","shape":[1],"data":[1.0]},
          {"name":"feature","datatype":"BYTES","shape":[1],"data":["x1"]},
          {"name":"value","datatype":"FP64","shape":[1],"data":[0.5]}]})";
  const std::string where = "/v2/models/waves/infer";
  std::string going_on = request;
  going_on.replace(going_on.find("true"), 4, "false");
  ASSERT_EQ(ask("POST", where, going_on, as(writer_)).status, 200);
  EXPECT_EQ(ask("POST", where, request, as(writer_)).status, 403);
  EXPECT_EQ(ask("GET", "/v1/streams/42", "", as(reader_)).status, 200);
  EXPECT_EQ(ask("POST", where, request, as(admin_)).status, 200);
  EXPECT_EQ(ask("GET", "/v1/streams/42", "", as(reader_)).status, 404);
  EXPECT_EQ(audit().at(0), std::pair(std::string("remove"), std::string("ida")));
}

TEST_F(ScopesTest, TheAuditNamesWho) {
  ASSERT_TRUE(start("--tokens tokens")) << folder_.read("err");
  EXPECT_EQ(ask("PUT", "/v1/streams/a", "{}", as(writer_)).status, 200);
  EXPECT_EQ(ask("DELETE", "/v1/streams/a", "", as(admin_)).status, 204);
  EXPECT_EQ(ask("PUT", "/v1/rules", "[]", as(admin_)).status, 200);
  const std::string copy = (folder_ / "copy.db").string();
  EXPECT_EQ(ask("POST", "/v1/backup", "{\"to\":\"" + copy + "\"}", as(admin_)).status, 200);
  EXPECT_EQ(audit(),
            (std::vector<std::pair<std::string, std::string>>{
                {"backup", "ida"}, {"rules", "ida"}, {"remove", "ida"}, {"describe", "otto"}}));
}

}  // namespace
}  // namespace edict::server

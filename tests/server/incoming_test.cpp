// What bodies, rules, tokens and addresses are taken for, and what is said of those that are none.

#include "base/json/json.h"
#include "front/server/http/api.h"
#include "front/server/http/tokens.h"
#include "server/live_folder.h"

namespace edict::server {
namespace {

class IncomingTest : public testing::Test {
 protected:
  IncomingTest() : clock_(*small_model(), "h"), intake_(*small_model(), clock_) {}

  template <class Read>
  std::vector<Problem> problems_of(const Read& read) const {
    try {
      read();
    } catch (const BadInput& e) {
      return e.problems();
    }
    ADD_FAILURE() << "nothing was wrong";
    return {};
  }

  StreamClock clock_;
  Intake intake_;
};

TEST_F(IncomingTest, JsonInItsForms) {
  const std::string one = R"({"stream":"a","time":1.5,"values":{"x1":2,"x3":null}})";
  for (const std::string& body : {one, one + "\n", "[" + one + "]", "\n" + one + "\n\n"}) {
    const auto rows = intake_.json(body);
    ASSERT_EQ(rows.size(), 1u) << body;
    EXPECT_EQ(rows[0].stream, "a");
    EXPECT_EQ(rows[0].time.value, 1.5);
    EXPECT_FALSE(rows[0].time.wall);
    EXPECT_EQ(rows[0].feature, 0);
    EXPECT_EQ(rows[0].value, 2.0);
  }
  EXPECT_EQ(intake_.json(one + "\n" + one).size(), 2u);
  EXPECT_TRUE(intake_.json("").empty());
  const auto dated =
      intake_.json(R"({"stream":"a","time":"2024-01-01T00:00:01Z","values":{"x1":1}})");
  EXPECT_TRUE(dated.at(0).time.wall);
  EXPECT_EQ(dated[0].time.value, 1704067201e6);
}

TEST_F(IncomingTest, EveryProblemIsToldWithItsLineAndField) {
  const auto found = problems_of([&] {
    intake_.json(
        "{\"stream\":\"a\",\"time\":1,\"values\":{\"x9\":1}}\n"
        "{\"stream\":\"\",\"time\":1,\"values\":{}}\n"
        "no json\n"
        "{\"stream\":\"a\",\"values\":{}}\n"
        "{\"stream\":\"a\",\"time\":1,\"values\":{\"x1\":\"high\"}}\n");
  });
  ASSERT_EQ(found.size(), 5u);
  const std::vector<std::string> fields{"values.x9", "stream", "", "time", "values.x1"};
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].line, i + 1);
    EXPECT_EQ(found[i].field, fields[i]);
  }
  const std::string many(300, '\n');
  std::string body;
  for (int i = 0; i < 300; ++i) body += "no\n";
  EXPECT_EQ(problems_of([&] { intake_.json("{}\n" + body); }).size(), 100u);
}

TEST_F(IncomingTest, TablesWideAndLong) {
  const auto wide = intake_.csv("id,time,x1,x2,label\n\"a, b\",1,2,,1\na,2,NA,4,1\n");
  ASSERT_EQ(wide.size(), 2u);
  EXPECT_EQ(wide[0].stream, "a, b");
  EXPECT_EQ(wide[1].feature, 1);
  const auto tall = intake_.csv("stream,time,feature,value\na,1,x2,3\n");
  ASSERT_EQ(tall.size(), 1u);
  EXPECT_EQ(tall[0].feature, 1);
  EXPECT_EQ(problems_of([&] { intake_.csv("id,time,x1,zz\na,1,2,3\n"); }).at(0).field, "zz");
  EXPECT_EQ(problems_of([&] { intake_.csv("id,time,x1\na,1,2\na,1\na,b,2\n"); }).size(), 2u);
  EXPECT_EQ(problems_of([&] { intake_.csv("time,x1\n1,2\n"); }).at(0).field, "stream");
  EXPECT_EQ(problems_of([&] { intake_.csv("id,time,x1\na,1,\"2\n"); }).size(), 1u);
}

TEST_F(IncomingTest, LineProtocol) {
  std::size_t ignored = 0;
  const auto read = [&](const std::string& body, const std::string& precision = "ns") {
    return intake_.line_protocol(body, precision, 5e6, ignored);
  };
  const auto rows = read(
      "vitals,stream=bed\\ 3,host=h x1=80,x2=71i,other=\"te,xt\" 1700000000000000000\n"
      "# comment\n"
      "x3,host=h value=t\n");
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].stream, "bed 3");
  EXPECT_EQ(rows[0].time.value, 1.7e15);
  EXPECT_EQ(rows[1].value, 71.0);
  EXPECT_EQ(rows[2].stream, "h");
  EXPECT_EQ(rows[2].feature, 2);
  EXPECT_EQ(rows[2].value, 1.0);
  EXPECT_EQ(rows[2].time.value, 5e6);  // now
  EXPECT_EQ(ignored, 1u);
  EXPECT_EQ(read("x x1=1 7", "s").at(0).time.value, 7e6);
  for (const std::string bad : {"x", "x, x1=1", "x x1", "x x1=", "x x1=1 noon", "x x1=\"a"})
    EXPECT_EQ(problems_of([&] { read(bad); }).size(), 1u) << bad;
  EXPECT_EQ(problems_of([&] { read("x x1=1", "m"); }).at(0).field, "precision");
  const StreamClock numbers(*small_model(), "");
  EXPECT_THROW(Intake(*small_model(), numbers).line_protocol("x x1=1", "", 0, ignored), BadInput);
}

TEST(RulesTest, TomlAndJsonAreTheSame) {
  const auto toml = read_rules(
      "[[rule]]\nname = \"low\"\nkind = \"crosses\"\nfeature = \"x2\"\nbelow = 0.5\nwithin = 2\n"
      "probability = 0.3\npriority = \"high\"\nstreams = \"bed-*\"\n",
      *small_model());
  ASSERT_EQ(toml.size(), 1u);
  EXPECT_TRUE(toml[0].applies_to("bed-3"));
  EXPECT_FALSE(toml[0].applies_to("lab-3"));
  const auto text = to_json(toml, *small_model()).dump();
  EXPECT_EQ(to_json(read_rules(text, *small_model()), *small_model()).dump(), text);
  try {
    read_rules(R"({"rules":[{"name":"a","kind":"crosses","feature":"zz","above":1,"below":2},
                            {"name":"a","kind":"silence","for":-1,"wat":1}]})",
               *small_model());
    ADD_FAILURE();
  } catch (const BadInput& e) {
    EXPECT_GE(e.problems().size(), 5u);
  }
  // The server's own alarms are called so.
  const std::string reserved = R"x({"rules":[{"name":"(fault)","kind":"silence"}]})x";
  EXPECT_THROW(read_rules(reserved, *small_model()), BadInput);
  EXPECT_THROW(read_rules("[[rule]\n", *small_model()), BadInput);
  EXPECT_THROW(read_rules("3", *small_model()), BadInput);
}

TEST(TokensTest, OnlyTheRightOneIsFound) {
  const NewToken anna = make_token("anna", "read"), otto = make_token("otto", "admin");
  const Tokens tokens = Tokens::parse("# who\n" + anna.line + "\n\n" + otto.line + "\n", "file");
  ASSERT_EQ(tokens.size(), 2u);
  ASSERT_NE(tokens.find(anna.token), nullptr);
  EXPECT_EQ(tokens.find(anna.token)->name, "anna");
  EXPECT_TRUE(tokens.find(anna.token)->may(Scope::read));
  EXPECT_FALSE(tokens.find(anna.token)->may(Scope::write));
  EXPECT_TRUE(tokens.find(otto.token)->may(Scope::write));
  EXPECT_EQ(tokens.find(anna.token + "x"), nullptr);
  EXPECT_EQ(tokens.find(""), nullptr);
  EXPECT_THROW(Tokens::parse("anna read\n", "file"), Error);
  EXPECT_THROW(Tokens::parse("# nobody\n", "file"), Error);
  EXPECT_EQ(anna.token.size(), 43u);
}

TEST(TargetTest, PercentSignsAndQueries) {
  const auto target = parse_target("/v1/streams/bed%203%2F4?features=a,b&x=1+2&features=c");
  ASSERT_TRUE(target);
  EXPECT_EQ(target->path, (std::vector<std::string>{"v1", "streams", "bed 3/4"}));
  EXPECT_EQ(target->query.at("features"), "a,b,c");
  EXPECT_EQ(target->query.at("x"), "1 2");
  for (const char* bad :
       {"/a%", "/a%2", "/%zz", "/%ff", "/a?x=%c3", "a", "", "//a", "/v1/streams//x", "/a//"})
    EXPECT_FALSE(parse_target(bad)) << bad;
  EXPECT_TRUE(parse_target("/")->path.empty());
  EXPECT_EQ(parse_target("/v1/")->path, std::vector<std::string>{"v1"});
}

TEST(OpenApi, IsJsonAndNamesEveryPath) {
  const auto document = nlohmann::json::parse(openapi_text());
  EXPECT_EQ(document.at("openapi"), "3.1.0");
  EXPECT_TRUE(document.at("paths").contains("/v1/observations"));
  EXPECT_TRUE(document.at("paths").at("/v1/streams/{id}").contains("put"));
}

}  // namespace
}  // namespace edict::server

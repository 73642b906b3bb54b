// Which files a server takes for its store: its own ones, one server each, and no others.
#include <sqlite3.h>
#include <sys/stat.h>

#include <fstream>

#include "server/server_program.h"
#include "server/waiting.h"

namespace edict::server {
namespace {

class StoreFileTest : public ProgramTest {
 protected:
  // It ends with exit code 2 and one line, which is returned.
  std::string refusal(const std::string& options) {
    EXPECT_FALSE(start(options));
    EXPECT_EQ(code_, 2);
    std::string said = folder_.read("err");
    EXPECT_EQ(std::ranges::count(said, '\n'), 1) << said;
    return said;
  }
  std::size_t n_files() const {
    const auto all = std::filesystem::directory_iterator(folder_.path());
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
  }
  Answer backup(const std::string& to) const {
    return ask("POST", "/v1/backup", json{{"to", to}}.dump());
  }
  bool post(double time) const {
    return ask("POST", "/v1/observations",
               R"({"stream":"a","time":)" + number(time) + R"(,"values":{"x1":0.25}})")
               .status == 200;
  }
};

TEST_F(StoreFileTest, AFileOfSomebodyElseIsRefusedAndLeftAlone) {
  folder_.write("out", "");
  folder_.write("err", "");
  folder_.write("letter", std::string(10000, 'a'));
  folder_.write("short", "dear");
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open((folder_ / "other.db").c_str(), &db), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(db, "CREATE TABLE birds (name TEXT); INSERT INTO birds VALUES ('wren')",
                         nullptr, nullptr, nullptr),
            SQLITE_OK);
  sqlite3_close(db);
  const std::size_t files = n_files();
  for (const std::string name : {"letter", "short", "other.db", "waves.model"}) {
    const std::string before = folder_.read(name);
    const std::string said = refusal("--store " + name);
    EXPECT_NE(said.find(name + ": is no store of edict"), std::string::npos) << said;
    EXPECT_EQ(folder_.read(name), before) << name;
    EXPECT_EQ(n_files(), files) << name;
  }
  ASSERT_EQ(mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  EXPECT_NE(refusal("--store pipe").find("is no store"), std::string::npos);
  EXPECT_NE(refusal("--store .").find("is no store"), std::string::npos);
}

TEST_F(StoreFileTest, ADamagedStoreIsRecognisedAndKept) {
  ASSERT_TRUE(start("--store s.db")) << folder_.read("err");
  ASSERT_EQ(ask("POST", "/v1/observations", ndjson(rows_of(waves(), 0))).status, 200);
  ASSERT_EQ(stop(), 0);
  {
    std::fstream file(folder_ / "s.db", std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(4096);
    file << std::string(20000, 'x');
  }
  ASSERT_TRUE(start("--store s.db")) << folder_.read("err");
  EXPECT_NE(folder_.read("err").find("s.db is damaged"), std::string::npos) << folder_.read("err");
  EXPECT_EQ(json::parse(ask("GET", "/v1/streams").body).at("total"), 0);
}

TEST_F(StoreFileTest, OneServerAFileWhateverItIsCalled) {
  ASSERT_TRUE(start("--store s.db")) << folder_.read("err");
  ASSERT_TRUE(post(1));
  std::filesystem::create_symlink("s.db", folder_ / "symbolic.db");
  std::filesystem::create_hard_link(folder_ / "s.db", folder_ / "hard.db");
  const pid_t first = child_;
  const std::uint16_t port = port_;
  for (const std::string name : {"s.db", "symbolic.db", "hard.db"}) {
    child_ = 0;
    EXPECT_NE(refusal("--store " + name).find("another server works on"), std::string::npos)
        << folder_.read("err");
  }
  child_ = first;
  port_ = port;
  EXPECT_TRUE(post(2));
  ASSERT_EQ(stop(), 0);
  // Through a link it is the same store.
  ASSERT_TRUE(start("--store symbolic.db")) << folder_.read("err");
  EXPECT_EQ(json::parse(ask("GET", "/v1/streams").body).at("total"), 1);
}

TEST_F(StoreFileTest, ABackupReplacesNothing) {
  ASSERT_TRUE(start("--store s.db")) << folder_.read("err");
  ASSERT_TRUE(post(1));
  const std::string copy = (folder_ / "copy").string();
  folder_.write("copy.part", "mine");
  EXPECT_EQ(backup(copy).status, 200);
  EXPECT_EQ(folder_.read("copy.part"), "mine");
  EXPECT_EQ(backup(copy).status, 422);
  std::filesystem::create_symlink("nowhere", folder_ / "dangling");
  EXPECT_EQ(backup((folder_ / "dangling").string()).status, 422);
  EXPECT_FALSE(folder_.exists("nowhere"));
  EXPECT_EQ(backup(copy + "2.part").status, 200);
  for (const std::string& name :
       {copy + std::string("\0.db", 4), copy + "\n.db", std::string(), copy + "/there"}) {
    const std::size_t files = n_files();
    const int status = backup(name).status;
    EXPECT_TRUE(status == 400 || status == 422) << status << name;
    EXPECT_EQ(n_files(), files) << name;
  }
  ASSERT_EQ(stop(), 0);
  ASSERT_TRUE(start("--store copy2.part")) << folder_.read("err");
  EXPECT_EQ(json::parse(ask("GET", "/v1/streams").body).at("total"), 1);
}

// Pages that were not read yet are found to be damaged when they are.
TEST_F(StoreFileTest, WithADamagedStoreItIsNotReady) {
  ASSERT_TRUE(start("--store s.db")) << folder_.read("err");
  std::string body;
  for (int e = 0; e < 3000; ++e)
    body += R"({"stream":"a","time":)" + number(e) + R"(,"values":{"x1":0.25}})" + "\n";
  ASSERT_EQ(ask("POST", "/v1/observations", body).status, 200);
  ASSERT_EQ(stop(), 0);
  ASSERT_TRUE(start("--store s.db")) << folder_.read("err");
  ASSERT_EQ(ask("GET", "/readyz").status, 200);
  {
    const auto size = static_cast<std::streamoff>(std::filesystem::file_size(folder_ / "s.db"));
    std::fstream file(folder_ / "s.db", std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(5 * 4096);
    file << std::string(static_cast<std::size_t>(size - 5 * 4096), 'x');
  }
  EXPECT_EQ(ask("GET", "/v1/streams/a/history?limit=100000").status, 503);
  EXPECT_EQ(ask("GET", "/readyz").status, 503);
  EXPECT_NE(ask("GET", "/healthz").body.find("damaged"), std::string::npos)
      << ask("GET", "/healthz").body;
}

TEST_F(StoreFileTest, AnOverwrittenStoreTakesNothingMore) {
  ASSERT_TRUE(start("--store s.db")) << folder_.read("err");
  ASSERT_TRUE(post(1));
  {
    std::fstream file(folder_ / "s.db", std::ios::in | std::ios::out | std::ios::binary);
    file << std::string(4096, 'x');
  }
  EXPECT_FALSE(post(2));
  EXPECT_TRUE(holds([&] { return ask("GET", "/readyz").status == 503; }));
}

// Plain numbers of another unit in the same store would be mixed with those that are there.
TEST_F(StoreFileTest, AnotherUnitOfTimeIsRefused) {
  ASSERT_TRUE(start("--store s.db --time-unit h")) << folder_.read("err");
  ASSERT_EQ(ask("POST", "/v1/observations",
                R"({"stream":"a","time":"2024-01-01T00:00:00Z","values":{"x1":1}})")
                .status,
            200);
  ASSERT_EQ(stop(), 0);
  const std::string said = refusal("--store s.db --time-unit min");
  EXPECT_NE(said.find("count in h"), std::string::npos) << said;
  EXPECT_NE(said.find("give --time-unit h"), std::string::npos) << said;
  ASSERT_TRUE(start("--store s.db --time-unit h")) << folder_.read("err");
  ASSERT_EQ(ask("DELETE", "/v1/streams/a").status, 204);
  ASSERT_EQ(stop(), 0);
  // Where nothing is left there is nothing to mix.
  EXPECT_TRUE(start("--store s.db --time-unit min")) << folder_.read("err");
}

}  // namespace
}  // namespace edict::server

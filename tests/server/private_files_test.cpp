// Data of patients and passwords are not readable by other users of the machine.
#include <sys/stat.h>

#include "front/server/http/masked_uri.h"
#include "server/server_program.h"
#include "server/waiting.h"

namespace edict::server {
namespace {

class PrivateFilesTest : public ProgramTest {
 protected:
  PrivateFilesTest() : before_(umask(022)) {}
  ~PrivateFilesTest() override { umask(before_); }

  int mode(const std::string& name) const {
    struct stat now {};
    return stat((folder_ / name).c_str(), &now) == 0 ? static_cast<int>(now.st_mode & 0777) : -1;
  }

 private:
  mode_t before_;
};

TEST_F(PrivateFilesTest, StoreAndBackupAreTheServersOwn) {
  ASSERT_TRUE(start("--store s.db")) << folder_.read("err");
  ASSERT_EQ(ask("POST", "/v1/observations", ndjson(rows_of(waves(), 0))).status, 200);
  const std::string copy = (folder_ / "copy.db").string();
  ASSERT_EQ(ask("POST", "/v1/backup", "{\"to\":\"" + copy + "\"}").status, 200);
  for (const char* name : {"s.db", "s.db-wal", "s.db-shm", "s.db.lock", "copy.db"})
    EXPECT_EQ(mode(name), 0600) << name;
  ASSERT_EQ(stop(), 0);
  // One that an earlier version made.
  ASSERT_EQ(chmod((folder_ / "s.db").c_str(), 0644), 0);
  ASSERT_TRUE(start("--store s.db")) << folder_.read("err");
  EXPECT_EQ(mode("s.db"), 0640);
  EXPECT_EQ(json::parse(ask("GET", "/v1/streams").body).at("total"), 1);
}

// As the unit for systemd gives one, and EDICT_OPTIONS another.
TEST_F(PrivateFilesTest, OfSeveralStoresTheLastCounts) {
  ASSERT_TRUE(start("--store s.db --store t.db")) << folder_.read("err");
  EXPECT_TRUE(folder_.exists("t.db"));
  EXPECT_FALSE(folder_.exists("s.db"));
}

TEST_F(PrivateFilesTest, APasswordIsShownNowhere) {
  EXPECT_EQ(masked_uri("postgresql://anna:secret@host:5432/db?sslmode=require"),
            "postgresql://anna:***@host:5432/db?sslmode=require");
  EXPECT_EQ(masked_uri("postgresql://anna:se@cr/et@host/db"), "postgresql://anna:***@host/db");
  EXPECT_EQ(masked_uri("postgresql://host/db?user=anna&password=secret&x=1"),
            "postgresql://host/db?user=anna&password=***&x=1");
  EXPECT_EQ(masked_uri("postgresql://anna@/db?host=/tmp"), "postgresql://anna@/db?host=/tmp");
  EXPECT_EQ(masked_uri("/var/lib/a:b@c.db"), "/var/lib/a:b@c.db");
  for (const std::string options : {"--store postgresql://anna:secret@127.0.0.1:1/db",
                                    "--store 'postgresql://anna:secret@[::1/db'",
                                    "--store 'postgresql://anna:secret@h/db?x=1'"}) {
    EXPECT_FALSE(start(options)) << options;
    EXPECT_EQ((folder_.read("out") + folder_.read("err")).find("secret"), std::string::npos)
        << folder_.read("err");
  }
  start("--mqtt mqtt://anna:secret@127.0.0.1:1 --mqtt-topic a");
  EXPECT_TRUE(holds([&] { return !folder_.read("err").empty(); }));
  EXPECT_EQ(folder_.read("err").find("secret"), std::string::npos) << folder_.read("err");
}

}  // namespace
}  // namespace edict::server

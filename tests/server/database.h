#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "temporary_folder.h"

namespace edict::server {

// Debian's PostgreSQL on a socket in a folder of its own, with its data there.
class Database {
 public:
  static bool installed() { return access((std::string(kPrograms) + "initdb").c_str(), X_OK) == 0; }

  Database() : data_((folder_ / "data").string()) {
    // It refuses to run as root.
    as_ = geteuid() == 0 ? "runuser -u postgres -- " : "";
    if (geteuid() == 0) {
      EXPECT_EQ(std::system(("chown postgres '" + folder_.path().string() + "'").c_str()), 0);
    }
    EXPECT_EQ(run("initdb -A trust -U edict --no-sync -D"), 0);
    started_ = start() == 0;
    EXPECT_TRUE(started_);
  }
  ~Database() {
    if (started_) stop();
  }
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  int start() const {
    return run("pg_ctl -w -o \"-F -k '" + folder_.path().string() +
               "' -c listen_addresses=\" start -D");
  }
  int stop() const { return run("pg_ctl -m immediate stop -D"); }
  int query(const std::string& sql) const {
    return run("psql -q -h '" + folder_.path().string() + "' -U edict -d postgres -c \"" + sql +
               "\"");
  }
  std::string uri() const { return "postgresql://edict@/postgres?host=" + folder_.path().string(); }
  const TemporaryFolder& folder() const { return folder_; }

 private:
  static constexpr const char* kPrograms = "/usr/lib/postgresql/15/bin/";

  // One of its programs; the folder of the data is its last argument.
  int run(const std::string& command) const {
    return std::system(("cd / && " + as_ + kPrograms + command + " '" + data_ + "' >'" +
                        (folder_ / "log").string() + "' 2>&1")
                           .c_str());
  }

  TemporaryFolder folder_;
  std::string data_, as_;
  bool started_ = false;
};

}  // namespace edict::server

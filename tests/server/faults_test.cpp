// What the live server promises when a disk fails while it starts, or when the power goes: what was
// answered with 200 is in the store.
#ifdef EDICT_FAULTS  // not with a sanitizer, whose runtime must be loaded first

#include "faults/power_cut.h"
#include "server/server_program.h"

namespace edict::server {
namespace {

class ServerFaults : public ProgramTest {
 protected:
  static bool everything() { return std::getenv("EDICT_EVERY_FAULT") != nullptr; }

  // How many values are kept in a store; whatever was put aside as damaged is not.
  static std::size_t kept(const std::string& path) {
    std::vector<std::string> notices;
    const auto store = open_sqlite(path, {}, notices);
    EXPECT_TRUE(notices.empty()) << notices.front();
    std::vector<std::int64_t> streams;
    store->each_stream([&](KeptStream&& stream) { streams.push_back(stream.id); });
    std::size_t count = 0;
    for (const std::int64_t stream : streams)
      count += store->values(stream, -1e300, 1e300, 100000).size();
    return count;
  }

  std::vector<std::string> lines(std::size_t count) const {
    std::vector<std::string> result;
    for (const Row& row : rows_of(waves(), 0)) result.push_back(ndjson({row}));
    result.resize(std::min(result.size(), count));
    return result;
  }
};

TEST_F(ServerFaults, WhatWasAnsweredOutlivesALossOfPower) {
  const TemporaryFolder records;
  const std::string journal = (records / "journal").string();
  const FallibleDisk::Files before = {{"waves.model", folder_.read("waves.model")}};
  ASSERT_TRUE(start("--store s.db", EDICT_SERVER,
                    "LD_PRELOAD=" EDICT_JOURNAL " EDICT_JOURNAL='" + journal + "'"))
      << folder_.read("err");
  std::vector<std::uintmax_t> answered;  // the size of the journal then
  for (const std::string& line : lines(12)) {
    ASSERT_EQ(ask("POST", "/v1/observations", line).status, 200);
    answered.push_back(std::filesystem::file_size(journal));
  }
  const std::size_t posts = answered.size();
  ASSERT_GE(posts, 8u);
  ASSERT_EQ(stop(), 0);
  const std::vector<JournalEntry> entries = read_journal(journal);
  ASSERT_GE(entries.size(), 3 * posts);

  FallibleDisk disk(before);
  std::map<FallibleDisk::Files, std::size_t> states;  // and how many answers had been given
  std::size_t promised = 0;
  for (const JournalEntry& entry : entries) {
    disk.follow(entry);
    while (promised < posts && answered[promised] <= entry.end) ++promised;
    for (FallibleDisk::Files& state : disk.possible()) {
      std::erase_if(state, [](const auto& file) { return !file.first.starts_with("s.db"); });
      state.erase("s.db-shm");  // made anew by the first that opens the store
      std::size_t& own = states[std::move(state)];
      own = std::max(own, promised);
    }
  }
  std::size_t number = 0, opened = 0;
  const std::size_t stride = everything() ? 1 : std::max<std::size_t>(1, states.size() / 40);
  for (const auto& [state, least] : states) {
    if (number++ % stride != 0) continue;
    const TemporaryFolder left;
    for (const auto& [name, bytes] : state) left.write(name, bytes);
    EXPECT_GE(kept((left / "s.db").string()), least) << "state " << number;
    ++opened;
    if (HasFailure()) break;
  }
  if (everything())
    std::printf("%zu entries, %zu states, %zu opened\n", entries.size(), states.size(), opened);
}

// It starts, or it ends with one line and the exit code 1; either way the store holds what it held.
TEST_F(ServerFaults, AStartThatFailsLeavesTheStoreAsItWas) {
  ASSERT_TRUE(start("--store s.db")) << folder_.read("err");
  const auto rows = lines(8);
  for (const std::string& line : rows) ASSERT_EQ(ask("POST", "/v1/observations", line).status, 200);
  stop(SIGKILL);  // what it has to recover from
  const std::string store = folder_.read("s.db"), log = folder_.read("s.db-wal");
  long all = 0;
  for (const std::string kind : {"open", "read", "write", "fsync", "ftruncate", "mmap", "full"})
    for (long number = 1;; number += everything() || kind == "open" ? 1 : 1 + number / 2) {
      std::filesystem::remove(folder_ / "s.db-shm");
      std::filesystem::remove(folder_ / "fired");
      folder_.write("s.db", store);
      folder_.write("s.db-wal", log);
      const std::string where = kind + " " + std::to_string(number);
      const bool started =
          start("--store s.db", EDICT_SERVER,
                "LD_PRELOAD=" EDICT_FAULTS " EDICT_FAULT_LOG=fired EDICT_FAULT=" + kind + ":" +
                    std::to_string(number));
      if (started) stop(SIGKILL);
      const std::string err = folder_.read("err");
      if (!started) {
        // A store that opens for reading alone looks like one that may not be written.
        const bool for_reading = err.find("readonly") != std::string::npos;
        EXPECT_EQ(code_, for_reading ? 2 : 1) << where << ": " << err;
        EXPECT_TRUE(err.starts_with("edict-server: ") && std::ranges::count(err, '\n') == 1)
            << where << ": " << err;
        EXPECT_EQ(err.find("unexpected"), std::string::npos) << where << ": " << err;
      }
      EXPECT_EQ(kept((folder_ / "s.db").string()), rows.size()) << where << ": " << err;
      if (!folder_.exists("fired")) break;
      ++all;
      ASSERT_FALSE(HasFailure());
    }
  EXPECT_GE(all, 10);
  if (everything()) std::printf("%ld faults\n", all);
}

}  // namespace
}  // namespace edict::server

#endif

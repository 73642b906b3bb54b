#include "base/files/claims.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <thread>
#include <vector>

#include "temporary_folder.h"

namespace edict {
namespace {

using namespace std::chrono_literals;

TEST(Claims, BelongToOneUntilTheyAreLetGo) {
  const TemporaryFolder folder;
  const Claims here(folder / "claims"), there(folder / "claims");
  {
    const auto claim = here.take("a");
    ASSERT_TRUE(claim);
    EXPECT_FALSE(there.take("a"));
    EXPECT_TRUE(there.take("b")) << "another piece of work";
  }
  EXPECT_TRUE(there.take("a"));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder / "claims"), {}), 0);
}

TEST(Claims, AreKeptByWhoeverLives) {
  const TemporaryFolder folder;
  const Claims claims(folder.path(), 300ms);
  const auto claim = claims.take("a");
  std::this_thread::sleep_for(900ms);
  EXPECT_FALSE(claims.take("a")) << "it was touched meanwhile";
}

void claim_and_die(const std::filesystem::path& folder) {
  const pid_t child = fork();
  if (child == 0) {
    const auto claim = Claims(folder).take("a");
    ::raise(SIGKILL);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
}

TEST(Claims, OfADeadProcessOfThisMachineAreTakenOverAtOnce) {
  const TemporaryFolder folder;
  claim_and_die(folder.path());
  const Claims claims(folder.path());
  const auto claim = claims.take("a");
  EXPECT_TRUE(claim);
  EXPECT_FALSE(claims.take("a")) << "whoever took it lives";
}

TEST(Claims, WithoutAnOwnerYetAreNotTaken) {
  const TemporaryFolder folder;
  folder.write("a.claim.0", "");
  EXPECT_FALSE(Claims(folder.path()).take("a"));
}

// A process that is killed touches nothing any more, whatever machine it was on.
TEST(Claims, OfADeadProcessElsewhereAreTakenOverByOne) {
  const TemporaryFolder folder;
  claim_and_die(folder.path());
  folder.write("a.claim.0", "elsewhere 1 another-machine\n");
  const Claims claims(folder.path(), 400ms);
  EXPECT_FALSE(claims.take("a")) << "it may still live";
  std::this_thread::sleep_for(600ms);
  std::atomic<int> takers = 0;
  std::vector<std::thread> threads;
  std::vector<std::optional<Claim>> held(8);
  for (auto& own : held)
    threads.emplace_back([&] {
      own = claims.take("a");
      takers += own.has_value();
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(takers, 1);
}

TEST(Claims, AllWorkIsDoneOnceByAnyNumberOfWorkers) {
  const TemporaryFolder folder;
  std::vector<std::atomic<int>> times(30);
  const auto worker = [&] {
    work_through(
        Claims(folder / "claims", 10s), times.size(),
        [](std::size_t i) { return "w" + std::to_string(i); },
        [&](std::size_t i) { return folder.exists(std::to_string(i)); },
        [&](std::size_t i) {
          ++times[i];
          std::this_thread::sleep_for(3ms);
          folder.write(std::to_string(i), "done");
        },
        nullptr);
  };
  std::thread a(worker), b(worker), c(worker);
  a.join(), b.join(), c.join();
  for (std::size_t i = 0; i < times.size(); ++i) EXPECT_EQ(times[i], 1) << i;
}

TEST(Claims, WaitingEndsWhenAsked) {
  const TemporaryFolder folder;
  const Claims claims(folder.path());
  const auto others = claims.take("0");
  const std::atomic<bool> stop = true;
  EXPECT_THROW(work_through(
                   claims, 1, [](std::size_t) { return "0"; }, [](std::size_t) { return false; },
                   [](std::size_t) {}, &stop),
               Interrupted);
}

}  // namespace
}  // namespace edict

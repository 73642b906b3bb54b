// Loops over a pool: every index once, whatever the threads, the nesting and the exceptions.
#include "base/threads/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <numeric>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/threads/interrupted.h"

namespace edict {
namespace {

class Pool : public testing::TestWithParam<std::size_t> {
 protected:
  ThreadPool pool_{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(Threads, Pool, testing::Values(1, 2, 3, 8),
                         [](const auto& threads) { return std::to_string(threads.param); });

// Long enough for the other threads to wake up and take an index.
void linger() { std::this_thread::sleep_for(std::chrono::microseconds(200)); }

TEST_P(Pool, RunsEveryIndexOnce) {
  EXPECT_EQ(pool_.size(), GetParam());
  for (const std::size_t count : {0u, 1u, 2u, 7u, 8u, 9u, 1000u}) {
    std::vector<int> calls(count);
    pool_.for_each(count, [&](std::size_t i, std::size_t worker) {
      ++calls[i];
      EXPECT_LT(worker, pool_.size());
    });
    EXPECT_EQ(calls, std::vector<int>(count, 1));
  }
}

TEST_P(Pool, OneWorkerIsOneThreadAtATime) {
  std::vector<std::atomic<int>> busy(pool_.size());
  std::atomic<int> shared = 0;
  pool_.for_each(100, [&](std::size_t, std::size_t worker) {
    shared += busy[worker].fetch_add(1) != 0;
    linger();
    --busy[worker];
  });
  EXPECT_EQ(shared, 0);
}

// Short rounds one after the other: a worker that wakes up late must neither miss its round nor run
// an index of the last one.
TEST_P(Pool, ManyShortRounds) {
  std::vector<std::size_t> sum(10);
  for (int round = 0; round < 5000; ++round)
    pool_.for_each(sum.size(), [&](std::size_t i, std::size_t) { sum[i] += i; });
  for (std::size_t i = 0; i < sum.size(); ++i) EXPECT_EQ(sum[i], 5000 * i);
}

TEST_P(Pool, ALoopInsideALoopRunsInItsOwnThread) {
  constexpr std::size_t kOuter = 12, kInner = 20;
  std::vector<int> calls(kOuter * kInner);
  pool_.for_each(kOuter, [&](std::size_t i, std::size_t outer_worker) {
    const auto thread = std::this_thread::get_id();
    linger();
    pool_.for_each(kInner, [&](std::size_t j, std::size_t worker) {
      EXPECT_EQ(std::this_thread::get_id(), thread);
      EXPECT_EQ(worker, outer_worker) << "scratch kept by worker would be shared";
      pool_.for_each(1, [&](std::size_t, std::size_t) { ++calls[i * kInner + j]; });
    });
  });
  EXPECT_EQ(calls, std::vector<int>(kOuter * kInner, 1));
}

TEST_P(Pool, ALoopInsideALoopOfOneRunsToo) {
  int calls = 0;
  pool_.for_each(1, [&](std::size_t, std::size_t) {
    pool_.for_each(3, [&](std::size_t, std::size_t) { ++calls; });
  });
  EXPECT_EQ(calls, 3);
}

TEST_P(Pool, AnotherPoolInsideALoopSharesItsThreads) {
  ThreadPool other(2);
  std::atomic<int> calls = 0;
  pool_.for_each(6, [&](std::size_t, std::size_t worker) {
    other.for_each(5, [&](std::size_t, std::size_t inner) {
      EXPECT_LT(inner, 2u);
      ++calls;
    });
    // The outer loop's place is known again.
    pool_.for_each(1, [&](std::size_t, std::size_t own) { EXPECT_EQ(own, worker); });
  });
  EXPECT_EQ(calls, 30);
}

TEST_P(Pool, TheLowestIndexThatThrowsIsToldAndThePoolGoesOn) {
  for (int round = 0; round < 50; ++round) {
    std::string told;
    try {
      pool_.for_each(64, [&](std::size_t i, std::size_t) {
        // The lower one is the later in time.
        if (i == 5) linger();
        if (i == 5 || i == 6 || i == 40) throw Error(std::to_string(i));
      });
    } catch (const Error& e) {
      told = e.what();
    }
    EXPECT_EQ(told, "5");
    std::atomic<int> calls = 0;
    pool_.for_each(64, [&](std::size_t, std::size_t) { ++calls; });
    EXPECT_EQ(calls, 64);
  }
}

TEST_P(Pool, IndicesThatHaveNotBegunAreLeftOutAfterAThrow) {
  std::atomic<std::size_t> begun = 0;
  EXPECT_THROW(pool_.for_each(100000,
                              [&](std::size_t, std::size_t) {
                                ++begun;
                                throw Error("at once");
                              }),
               Error);
  EXPECT_LE(begun, pool_.size());
}

TEST_P(Pool, AnInterruptionKeepsItsType) {
  std::atomic<bool> stop = false;
  std::atomic<int> finished = 0;
  EXPECT_THROW(pool_.for_each(1000,
                              [&](std::size_t i, std::size_t) {
                                if (i == 3) stop = true;
                                leave_if_stopped(&stop);
                                ++finished;
                              }),
               Interrupted);
  EXPECT_LT(finished, 1000);
}

TEST_P(Pool, AThrowInsideAnInnerLoopComesThroughBoth) {
  EXPECT_THROW(pool_.for_each(4,
                              [&](std::size_t, std::size_t) {
                                pool_.for_each(4, [](std::size_t j, std::size_t) {
                                  if (j == 2) throw Error("inner");
                                });
                              }),
               Error);
  int calls = 0;
  pool_.for_each(1, [&](std::size_t, std::size_t) { ++calls; });
  EXPECT_EQ(calls, 1);
}

TEST_P(Pool, ThreadsFromOutsideTakeTurns) {
  constexpr std::size_t kCallers = 4, kCount = 50;
  std::vector<std::vector<int>> calls(kCallers, std::vector<int>(kCount));
  std::vector<int> by_worker(pool_.size());  // not atomic: the promise is that it need not be
  std::vector<std::thread> callers;
  for (std::size_t caller = 0; caller < kCallers; ++caller)
    callers.emplace_back([&, caller] {
      for (int round = 0; round < 100; ++round)
        pool_.for_each(kCount, [&](std::size_t i, std::size_t worker) {
          ++calls[caller][i];
          ++by_worker[worker];
        });
    });
  for (std::thread& caller : callers) caller.join();
  for (const auto& own : calls) EXPECT_EQ(own, std::vector<int>(kCount, 100));
  EXPECT_EQ(std::accumulate(by_worker.begin(), by_worker.end(), 0),
            static_cast<int>(kCallers * kCount) * 100);
}

TEST(ThreadPool, IsMadeAndDestroyedWithoutEverRunning) {
  for (int i = 0; i < 200; ++i) ThreadPool pool(4);
}

TEST(ThreadPool, ZeroMeansAsManyAsTheMachineHas) {
  EXPECT_EQ(ThreadPool(0).size(), std::max(1u, std::thread::hardware_concurrency()));
}

// With several threads several workers take part: a pool that ran everything in its caller would
// pass the tests above.
TEST(ThreadPool, TheWorkIsShared) {
  ThreadPool pool(3);
  std::vector<int> indices(3);
  for (int round = 0; round < 100; ++round)
    pool.for_each(30, [&](std::size_t, std::size_t worker) {
      ++indices[worker];
      linger();
    });
  for (const int count : indices) EXPECT_GT(count, 0);
}

}  // namespace
}  // namespace edict

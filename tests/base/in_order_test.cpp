// Results leave in order whatever thread made them and however long it took.
#include "base/threads/in_order.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <vector>

#include "base/generator.h"

namespace edict {
namespace {

TEST(InOrder, EveryResultOnceAndInOrder) {
  for (const std::size_t threads : {1, 2, 5}) {
    ThreadPool pool(threads);
    std::vector<std::size_t> taken;
    std::atomic<std::size_t> made = 0;
    std::size_t furthest = 0;  // ahead of what was taken
    for_each_in_order(
        pool, 200,
        [&](std::size_t i) {
          // The first is the slowest: the others would run far ahead of it.
          std::this_thread::sleep_for(
              std::chrono::microseconds(i == 0 ? 20000 : Generator(1, "sleep", i).below(300)));
          ++made;
          return i;
        },
        [&](std::size_t result) {
          furthest = std::max(furthest, made - taken.size());
          taken.push_back(result);
        });
    ASSERT_EQ(taken.size(), 200u);
    for (std::size_t i = 0; i < taken.size(); ++i) EXPECT_EQ(taken[i], i);
    EXPECT_LE(furthest, 3 * threads) << "what is made and not taken is memory";
  }
}

TEST(InOrder, AnExceptionOfEitherSideEndsIt) {
  ThreadPool pool(3);
  const auto make = [](std::size_t i) {
    if (i == 40) throw std::runtime_error("made");
    return i;
  };
  std::size_t taken = 0;
  EXPECT_THROW(for_each_in_order(pool, 1000, make, [&](std::size_t) { ++taken; }),
               std::runtime_error);
  EXPECT_LE(taken, 40u);
  const auto take = [](std::size_t i) {
    if (i == 7) throw std::logic_error("taken");
  };
  EXPECT_THROW(for_each_in_order(
                   pool, 1000, [](std::size_t i) { return i; }, take),
               std::logic_error);
  // The pool is as good as before.
  taken = 0;
  for_each_in_order(
      pool, 9, [](std::size_t i) { return i; }, [&](std::size_t) { ++taken; });
  EXPECT_EQ(taken, 9u);
}

TEST(InOrder, NothingToDoIsDone) {
  ThreadPool pool(2);
  for_each_in_order(
      pool, 0, [](std::size_t i) { return i; }, [](std::size_t) { FAIL(); });
}

}  // namespace
}  // namespace edict

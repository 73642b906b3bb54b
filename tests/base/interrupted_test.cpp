#include "base/threads/interrupted.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace edict {
namespace {

TEST(Interrupted, IsThrownOnceTheFlagIsSet) {
  std::atomic<bool> stop = false;
  EXPECT_FALSE(stop_requested(&stop));
  EXPECT_NO_THROW(leave_if_stopped(&stop));
  stop = true;
  EXPECT_TRUE(stop_requested(&stop));
  EXPECT_THROW(leave_if_stopped(&stop), Interrupted);
}

TEST(Interrupted, WithoutAFlagNobodyAsks) {
  EXPECT_FALSE(stop_requested(nullptr));
  EXPECT_NO_THROW(leave_if_stopped(nullptr));
}

// Whoever handles errors must not take an interruption for one.
TEST(Interrupted, IsNoError) {
  try {
    throw Interrupted();
  } catch (const Error&) {
    FAIL();
  } catch (const std::exception& e) {
    EXPECT_STREQ(e.what(), "interrupted");
  }
}

}  // namespace
}  // namespace edict

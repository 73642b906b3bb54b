#include "front/cli/terminal/time_left.h"

#include <gtest/gtest.h>

namespace edict::cli {
namespace {

class TimeLeftTest : public testing::Test {
 protected:
  TimeLeft::Clock::time_point at(double second) const {
    return begin_ + std::chrono::duration_cast<TimeLeft::Clock::duration>(
                        std::chrono::duration<double>(second));
  }
  TimeLeft::Clock::time_point begin_ = TimeLeft::Clock::now();
  TimeLeft left_{begin_};
};

TEST_F(TimeLeftTest, IsUnknownUntilSomethingIsDone) {
  left_.start(0, begin_);
  EXPECT_FALSE(left_.at(at(5)));
  left_.reached(0, at(5));
  EXPECT_FALSE(left_.at(at(6)));
  left_.reached(0.25, at(10));
  EXPECT_NEAR(left_.at(at(10)).value(), 30, 1e-6);
}

// Where one step takes long, the guess used to grow with every second of it: 0.3 after 1.5 s, and
// then 10 s of silence, made minutes of the few seconds that were left.
TEST_F(TimeLeftTest, CountsDownWhileNothingIsReported) {
  left_.start(0, begin_);
  left_.reached(0.256, at(1.4));
  left_.reached(0.3, at(1.5));
  EXPECT_NEAR(left_.at(at(1.5)).value(), 3.5, 1e-6);
  EXPECT_NEAR(left_.at(at(3)).value(), 2, 1e-6);
  EXPECT_FALSE(left_.at(at(10))) << "it was wrong, and nothing better is known";
  left_.reached(0.9, at(10.8));
  EXPECT_NEAR(left_.at(at(10.8)).value(), 1.2, 1e-6);
}

TEST_F(TimeLeftTest, AResumedRunCountsFromWhereItBegins) {
  left_.start(0.8, begin_);
  left_.reached(0.9, at(4));
  EXPECT_NEAR(left_.at(at(4)).value(), 4, 1e-6);
  left_.reached(1.0, at(8));
  EXPECT_EQ(left_.at(at(8)), 0.0);
}

}  // namespace
}  // namespace edict::cli

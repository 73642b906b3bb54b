// A limit as it is written, and the probability that it asks for.
#include "ask/limit.h"

#include <gtest/gtest.h>

#include <limits>

#include "math/student_t.h"

namespace edict {
namespace {

TEST(Limit, IsANameASignAndANumber) {
  const auto typed = split_limit("lactate=2.50"), address = split_limit("lactate:2.50");
  ASSERT_TRUE(typed && address);
  EXPECT_EQ(typed->feature, "lactate");
  EXPECT_EQ(typed->value, "2.50");
  EXPECT_EQ(typed->number, 2.5);
  EXPECT_EQ(address->feature, typed->feature);
  EXPECT_EQ(address->number, typed->number);
  EXPECT_EQ(split_limit("a:b=-1e3")->feature, "a:b") << "the last sign divides";
  for (const char* wrong : {"", "lactate", "=2", "lactate=", "lactate=2.5x", "lactate=nan",
                            "lactate=1e999", "lactate= 2", "2.5"})
    EXPECT_FALSE(split_limit(wrong)) << wrong;
}

TEST(Limit, AsksForItsSideOfTheDistribution) {
  const Marginal standard{0, 1, 0, 1, std::numeric_limits<double>::infinity()};
  EXPECT_NEAR((Limit{0, 1.0, true}.probability(standard)), 1 - normal_cdf(1.0), 1e-15);
  EXPECT_NEAR((Limit{0, 1.0, false}.probability(standard)), normal_cdf(1.0), 1e-15);
}

}  // namespace
}  // namespace edict

#include "base/generator.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace edict {
namespace {

// The known answers of Philox4x32-10 that its authors publish with Random123.
TEST(Generator, IsTheOneThatItsAuthorsPublished) {
  using Block = Generator::Block;
  EXPECT_EQ(Generator::philox({0, 0, 0, 0}, {0, 0}),
            (Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(
      Generator::philox({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
      (Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(
      Generator::philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
      (Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Generator, TheSameKeyDrawsTheSameBits) {
  Generator a(7, "order", 1), b(7, "order", 1);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(a.bits(), b.bits());
}

// Keys that differ in one part only, neighbouring seeds and indices among them, share no draw:
// among 64,000 of 64 bits a chance match has probability 1e-10.
TEST(Generator, EveryPartOfTheKeyCounts) {
  std::set<std::uint64_t> seen;
  std::size_t drawn = 0;
  for (const std::uint64_t seed : {0u, 1u, 2u, 3u})
    for (const char* purpose : {"", "order", "thin", "holdout"})
      for (const std::uint64_t index :
           {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{1} << 32}) {
        Generator generator(seed, purpose, index);
        for (int i = 0; i < 1000; ++i, ++drawn) seen.insert(generator.bits());
      }
  EXPECT_EQ(seen.size(), drawn);
}

// For seeds 0 and 1 and neighbouring indices the draws are uncorrelated: the correlation of 10⁴
// pairs has a standard error of 0.01; four of them are allowed.
TEST(Generator, NeighbouringKeysAreUncorrelated) {
  for (const std::uint64_t seed : {0u, 1u})
    for (std::uint64_t index = 0; index < 8; ++index) {
      Generator a(seed, "series", index), b(seed, "series", index + 1),
          c(seed + 1, "series", index);
      double ab = 0, ac = 0;
      for (int i = 0; i < 10000; ++i) {
        const double x = a.normal();
        ab += x * b.normal(), ac += x * c.normal();
      }
      EXPECT_NEAR(ab / 10000, 0.0, 0.04) << seed << " " << index;
      EXPECT_NEAR(ac / 10000, 0.0, 0.04) << seed << " " << index;
    }
}

// 10⁵ draws: the standard error of a mean of unit variance is 0.0032; four of them are allowed.
TEST(Generator, MomentsOfUniformAndNormal) {
  Generator rng(1);
  const int n = 100000;
  double u = 0, u2 = 0, z = 0, z2 = 0, z4 = 0;
  for (int i = 0; i < n; ++i) {
    const double a = rng.uniform(), b = rng.normal();
    ASSERT_GE(a, 0.0);
    ASSERT_LT(a, 1.0);
    u += a, u2 += a * a, z += b, z2 += b * b, z4 += b * b * b * b;
  }
  EXPECT_NEAR(u / n, 0.5, 0.004);
  EXPECT_NEAR(u2 / n, 1.0 / 3.0, 0.004);
  EXPECT_NEAR(z / n, 0.0, 0.0128);
  EXPECT_NEAR(z2 / n, 1.0, 0.018);
  EXPECT_NEAR(z4 / n, 3.0, 0.13);
}

TEST(Generator, BelowCoversItsRangeEvenly) {
  Generator rng(3);
  std::vector<int> count(7);
  for (int i = 0; i < 70000; ++i) ++count[rng.below(7)];
  for (int c : count) EXPECT_NEAR(c, 10000, 400);  // four standard deviations
}

}  // namespace
}  // namespace edict

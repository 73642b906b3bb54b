#include "base/arena.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>

#include "base/generator.h"

namespace edict {
namespace {

template <class S>
class ArenaOf : public testing::Test {};
using Scalars = testing::Types<float, double, Index>;
TYPED_TEST_SUITE(ArenaOf, Scalars);

TYPED_TEST(ArenaOf, EveryBlockBeginsACacheLine) {
  Arena<TypeParam> arena;
  for (Index count : {1, 3, 16, 17, 0, 1000, 300000, 5})
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(arena.take(count)) % 64, 0u) << count;
}

TYPED_TEST(ArenaOf, BlocksDoNotOverlapAndKeepTheirValues) {
  Arena<TypeParam> arena;
  Generator rng(6);
  std::vector<std::pair<TypeParam*, Index>> blocks;
  for (int i = 0; i < 200; ++i) {
    const auto count = static_cast<Index>(rng.below(20000)) + (i == 50 ? 400000 : 0);
    blocks.push_back({arena.take(count), count});
    std::fill_n(blocks.back().first, count, static_cast<TypeParam>(i));
  }
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const auto [data, count] = blocks[i];
    EXPECT_EQ(std::count(data, data + count, static_cast<TypeParam>(i)), count);
  }
}

TYPED_TEST(ArenaOf, SecondPassUsesTheMemoryOfTheFirst) {
  Arena<TypeParam> arena;
  const auto pass = [&] {
    std::vector<TypeParam*> addresses;
    Generator rng(7);
    for (int i = 0; i < 100; ++i)
      addresses.push_back(arena.take(static_cast<Index>(rng.below(50000))));
    return addresses;
  };
  const auto first = pass();
  const std::size_t bytes = arena.bytes();
  for (int i = 0; i < 3; ++i) {
    arena.reset();
    EXPECT_EQ(arena.bytes(), 0u);
    EXPECT_EQ(pass(), first);
    EXPECT_EQ(arena.bytes(), bytes);
  }
}

// A smaller pass, in another order, stays inside memory that the larger pass left.
TYPED_TEST(ArenaOf, AShorterPassDoesNotGrow) {
  Arena<TypeParam> arena;
  constexpr Index kBlock = 8192;
  std::set<TypeParam*> first;
  for (int i = 0; i < 200; ++i) first.insert(arena.take(kBlock));
  arena.reset();
  for (int i = 0; i < 150; ++i) EXPECT_TRUE(first.contains(arena.take(kBlock))) << i;
}

TYPED_TEST(ArenaOf, BytesCountWhatWasTaken) {
  Arena<TypeParam> arena;
  arena.take(1);
  EXPECT_EQ(arena.bytes(), 64u);
  arena.take(static_cast<Index>(128 / sizeof(TypeParam)));
  EXPECT_EQ(arena.bytes(), 192u);
}

}  // namespace
}  // namespace edict

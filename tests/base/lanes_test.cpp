// Element-wise sweeps: every element once, in place too, and nothing beyond the array.
#include "base/lanes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace edict {
namespace {

template <class S>
class Sweep : public testing::Test {};
using Scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(Sweep, Scalars);

TYPED_TEST(Sweep, InPlaceTouchesEachElementOnceAndNoneBeyond) {
  for (Index n = 0; n <= 70; ++n) {
    std::vector<TypeParam> x(static_cast<std::size_t>(n) + 1);
    for (Index i = 0; i <= n; ++i) x[static_cast<std::size_t>(i)] = static_cast<TypeParam>(i);
    TypeParam* const data = x.data();
    sweep<TypeParam>(n, [=](auto lanes, Index i) {
      return
          [=, y = lanes.load(data + i) * TypeParam(2) + TypeParam(1)] { lanes.store(y, data + i); };
    });
    for (Index i = 0; i < n; ++i)
      ASSERT_EQ(data[i], static_cast<TypeParam>(2 * i + 1)) << i << " of " << n;
    ASSERT_EQ(data[n], static_cast<TypeParam>(n)) << n;
  }
}

TYPED_TEST(Sweep, CopiesAColumn) {
  for (Index n = 0; n <= 70; ++n) {
    std::vector<TypeParam> from(static_cast<std::size_t>(n), TypeParam(3)), to;
    to.assign(static_cast<std::size_t>(n) + 1, TypeParam(7));
    copy_column(n, from.data(), to.data());
    from.push_back(TypeParam(7));
    ASSERT_EQ(to, from) << n;
  }
}

// Loads and stores ask for no alignment, and a lane stays in its place.
TYPED_TEST(Sweep, RegistersGoToAnyAddressAndBack) {
  using L = Lanes<TypeParam>;
  static_assert(sizeof(typename L::Vector) == kVectorBytes);
  std::vector<TypeParam> from(static_cast<std::size_t>(3 * L::kCount)), to(from.size());
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<TypeParam>(i) / 3;
  for (Index shift = 0; shift < 2 * L::kCount; ++shift) {
    auto v = L::load(from.data() + shift);
    L::hold(v);
    L::store(v, to.data());
    for (Index i = 0; i < L::kCount; ++i) {
      ASSERT_EQ(to[static_cast<std::size_t>(i)], from[static_cast<std::size_t>(shift + i)]);
      ASSERT_EQ(v[i], from[static_cast<std::size_t>(shift + i)]);
    }
  }
}

// A body may read another array at the same place and choose by comparison.
TYPED_TEST(Sweep, BodiesMayChooseByComparison) {
  for (Index n = 0; n <= 40; ++n) {
    std::vector<TypeParam> a(static_cast<std::size_t>(n)), b(a.size()), larger(a.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
      a[i] = static_cast<TypeParam>((i * 7) % 11);
      b[i] = static_cast<TypeParam>((i * 5) % 13);
    }
    const TypeParam *const x = a.data(), *const y = b.data();
    TypeParam* const z = larger.data();
    sweep<TypeParam>(n, [=](auto lanes, Index i) {
      const auto u = lanes.load(x + i), v = lanes.load(y + i);
      const typename Lanes<TypeParam>::Vector m = u > v ? u : v;
      return [=] { lanes.store(m, z + i); };
    });
    for (std::size_t i = 0; i < a.size(); ++i) ASSERT_EQ(larger[i], std::max(a[i], b[i])) << i;
  }
}

}  // namespace
}  // namespace edict

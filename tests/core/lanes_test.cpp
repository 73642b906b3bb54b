// Element-wise sweeps: every element once, in place too, and nothing beyond the array.
#include "edict/core/lanes.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace edict

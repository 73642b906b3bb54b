#include "nn/segments.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace edict {
namespace {

Segments three() {
  Segments segments;
  segments.first = {0, 2, 2, 5};
  return segments;
}

TEST(Segments, MeansOfEachSetAndZeroOfAnEmptyOne) {
  const std::vector<double> x = {1, 3, 2, 8, 5};  // one row, five elements
  std::vector<double> mean(3), d_x(5);
  segment_mean(three(), 1, x.data(), mean.data());
  EXPECT_DOUBLE_EQ(mean[0], 2.0);
  EXPECT_DOUBLE_EQ(mean[1], 0.0);
  EXPECT_DOUBLE_EQ(mean[2], 5.0);
  const std::vector<double> d_mean = {4, 7, 6};
  segment_mean_backward(three(), 1, d_mean.data(), d_x.data());
  EXPECT_DOUBLE_EQ(d_x[0], 2.0);
  EXPECT_DOUBLE_EQ(d_x[4], 2.0);
}

TEST(Segments, SoftmaxSumsToOneInEachSetAndDoesNotOverflow) {
  std::vector<double> a = {1000, 1000 + std::log(3.0), -5, -5, -5};
  segment_softmax(three(), 1, a.data());
  EXPECT_NEAR(a[0], 0.25, 1e-12);
  EXPECT_NEAR(a[1], 0.75, 1e-12);
  for (std::size_t j = 2; j < 5; ++j) EXPECT_NEAR(a[j], 1.0 / 3.0, 1e-15);
}

TEST(Segments, SoftmaxGradientIgnoresWhatAllShare) {
  std::vector<double> a = {0.1, 0.4, 1.2, -0.3, 0.5}, d_a = {1, 1, 0, 1, 0};
  segment_softmax(three(), 1, a.data());
  segment_softmax_backward(three(), 1, a.data(), d_a.data());
  EXPECT_NEAR(d_a[0], 0.0, 1e-15);
  EXPECT_NEAR(d_a[1], 0.0, 1e-15);
  EXPECT_NEAR(d_a[3], a[3] * (1 - a[3]), 1e-15);
  EXPECT_NEAR(d_a[2], -a[2] * a[3], 1e-15);
}

}  // namespace
}  // namespace edict

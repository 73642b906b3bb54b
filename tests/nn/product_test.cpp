// Every product against plain loops, for sizes that leave every kind of remainder.
#include "edict/nn/product.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "edict/core/generator.h"
#include "edict/nn/small_product.h"

namespace edict {
namespace {

template <class S>
std::vector<S> random_values(Generator& rng, Index n) {
  std::vector<S> values(static_cast<std::size_t>(n));
  for (S& v : values) v = static_cast<S>(rng.uniform(-1, 1));
  return values;
}

// Σ of `depth` products of numbers below 1, in any order, is within depth · ε · depth of the exact.
template <class S>
double tolerance(Index depth) {
  const auto n = static_cast<double>(depth);
  return (n + 2) * (n + 2) * static_cast<double>(std::numeric_limits<S>::epsilon());
}

template <class S>
void check(Index out, Index in, Index cols) {
  SCOPED_TRACE(testing::Message() << out << " x " << in << ", " << cols << " columns");
  Generator rng(static_cast<std::uint64_t>(out * 10000 + in * 100 + cols));
  const auto w = random_values<S>(rng, out * in), x = random_values<S>(rng, in * cols),
             d_y = random_values<S>(rng, out * cols);

  std::vector<double> y(out * cols), d_x(in * cols), d_w(out * in);
  for (Index c = 0; c < cols; ++c)
    for (Index i = 0; i < out; ++i)
      for (Index j = 0; j < in; ++j) {
        y[c * out + i] += static_cast<double>(w[i * in + j]) * x[c * in + j];
        d_x[c * in + j] += static_cast<double>(w[i * in + j]) * d_y[c * out + i];
        d_w[i * in + j] += static_cast<double>(d_y[c * out + i]) * x[c * in + j];
      }
  const auto expect = [](const std::vector<S>& got, const std::vector<double>& want, double start,
                         double tol) {
    for (std::size_t i = 0; i < want.size(); ++i)
      ASSERT_NEAR(got[i], start + want[i], tol) << "entry " << i;
  };
  std::vector<S> transposed(out * in), result(out * cols);
  transpose_weights(w.data(), out, in, transposed.data());
  multiply_from_transposed(transposed.data(), out, in, x.data(), cols, result.data());
  expect(result, y, 0, tolerance<S>(in));
  multiply(w.data(), out, in, x.data(), cols, result.data());
  expect(result, y, 0, tolerance<S>(in));
  multiply_add(w.data(), out, in, x.data(), cols,
               (result.assign(out * cols, S(0.5)), result.data()));
  expect(result, y, 0.5, tolerance<S>(in));

  result.assign(in * cols, S(0.5));
  multiply_transposed_add(w.data(), out, in, d_y.data(), cols, result.data());
  expect(result, d_x, 0.5, tolerance<S>(out));
  multiply_transposed(w.data(), out, in, d_y.data(), cols, result.data());
  expect(result, d_x, 0, tolerance<S>(out));

  result.assign(out * in, S(0.5));
  accumulate_outer(d_y.data(), out, x.data(), in, cols, result.data());
  expect(result, d_w, 0.5, tolerance<S>(cols));
}

TEST(Product, EverySizeOfLanes) {
  for (Index n = 1; n <= 70; ++n) {
    check<float>(n, 5, 3);
    check<float>(3, n, 7);
    check<double>(n, n, 2);
  }
}

TEST(Product, EveryNumberOfColumns) {
  for (Index cols = 0; cols <= 70; ++cols) {
    check<float>(50, 50, cols);
    check<double>(9, 17, cols);
  }
}

TEST(Product, ASingleColumnOfEverySize) {
  for (Index n = 1; n <= 140; ++n) {
    check<float>(n, 6, 1);
    check<double>(6, n, 1);
  }
}

TEST(Product, SizesOfTheCellsAndBeyondTheSmall) {
  check<float>(100, 50, 64);
  check<float>(150, 25, 16);
  check<float>(384, 128, 13);
  check<float>(513, 515, 5);
}

TEST(Product, AColumnDoesNotDependOnItsNeighbours) {
  Generator rng(1);
  const Index out = 50, in = 33, cols = 29;
  const auto w = random_values<float>(rng, out * in), x = random_values<float>(rng, in * cols);
  std::vector<float> together(out * cols), alone(out);
  multiply_from_transposed(w.data(), out, in, x.data(), cols, together.data());
  for (Index c = 0; c < cols; ++c) {
    multiply_from_transposed(w.data(), out, in, x.data() + c * in, 1, alone.data());
    for (Index i = 0; i < out; ++i) EXPECT_EQ(alone[i], together[c * out + i]);
  }
}

// The kernel computes whole vectors, but reads and writes only what belongs to it: the operands are
// exact-size allocations (for the address sanitizer), and the rows between blocks of C stay.
TEST(Product, BlocksOfAWiderMatrixLeaveTheRestAlone) {
  Generator rng(2);
  for (Index lanes = 1; lanes <= 40; ++lanes) {
    const Index depth = 6, cols = 5, step = lanes + 3;
    const auto a = random_values<float>(rng, depth * lanes),
               b = random_values<float>(rng, depth * cols);
    std::vector<float> c(cols * step, 9.0f);
    small_multiply<false, float>({a.data(), lanes, b.data(), 1, depth, depth}, lanes, cols,
                                 c.data(), step);
    for (Index q = 0; q < cols; ++q)
      for (Index p = 0; p < step; ++p) {
        double want = p < lanes ? 0.0 : 9.0;
        for (Index k = 0; k < depth && p < lanes; ++k)
          want += static_cast<double>(a[k * lanes + p]) * b[q * depth + k];
        EXPECT_NEAR(c[q * step + p], want, tolerance<float>(depth)) << lanes << ": " << p;
      }
  }
}

}  // namespace
}  // namespace edict

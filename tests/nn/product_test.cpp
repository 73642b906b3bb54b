// Every product against plain loops, for sizes that leave every kind of remainder.
#include "nn/product.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "base/generator.h"
#include "nn/small_product.h"

namespace edict {
namespace {

template <class S>
std::vector<S> random_values(Generator& rng, Index n) {
  std::vector<S> values(static_cast<std::size_t>(n));
  for (S& v : values) v = static_cast<S>(rng.uniform(-1, 1));
  return values;
}

// A sum of products in double, and the sum of their sizes, which bounds what rounding can do to it.
struct Sum {
  double value = 0, size = 0;

  void add(double a, double b) {
    value += a * b;
    size += std::abs(a * b);
  }
};

// n products added to a start in any order, each product and each addition rounded once, end within
// (n + 1) · ε/2 · (Σ|a||b| + |start|) of the exact sum; the expected value, where it is computed in
// the same precision, within the same again.
template <class S>
void expect_near(double got, const Sum& want, double start, Index n) {
  const double tolerance = static_cast<double>(n + 1) *
                           static_cast<double>(std::numeric_limits<S>::epsilon()) *
                           (want.size + std::abs(start));
  ASSERT_NEAR(got, start + want.value, tolerance);
}

template <class S>
void check(Index out, Index in, Index cols) {
  SCOPED_TRACE(testing::Message() << out << " x " << in << ", " << cols << " columns");
  Generator rng(static_cast<std::uint64_t>(out * 10000 + in * 100 + cols));
  const auto w = random_values<S>(rng, out * in), x = random_values<S>(rng, in * cols),
             d_y = random_values<S>(rng, out * cols);

  std::vector<Sum> y(out * cols), d_x(in * cols), d_w(out * in);
  for (Index c = 0; c < cols; ++c)
    for (Index i = 0; i < out; ++i)
      for (Index j = 0; j < in; ++j) {
        y[c * out + i].add(w[i * in + j], x[c * in + j]);
        d_x[c * in + j].add(w[i * in + j], d_y[c * out + i]);
        d_w[i * in + j].add(d_y[c * out + i], x[c * in + j]);
      }
  const auto expect = [](const std::vector<S>& got, const std::vector<Sum>& want, double start,
                         Index depth) {
    for (std::size_t i = 0; i < want.size(); ++i) {
      SCOPED_TRACE(i);
      expect_near<S>(got[i], want[i], start, depth);
    }
  };
  std::vector<S> transposed(out * in), result(out * cols);
  transpose_weights(w.data(), out, in, transposed.data());
  multiply_from_transposed(transposed.data(), out, in, x.data(), cols, result.data());
  expect(result, y, 0, in);
  multiply(w.data(), out, in, x.data(), cols, result.data());
  expect(result, y, 0, in);
  multiply_add(w.data(), out, in, x.data(), cols,
               (result.assign(out * cols, S(0.5)), result.data()));
  expect(result, y, 0.5, in);

  result.assign(in * cols, S(0.5));
  multiply_transposed_add(w.data(), out, in, d_y.data(), cols, result.data());
  expect(result, d_x, 0.5, out);
  multiply_transposed(w.data(), out, in, d_y.data(), cols, result.data());
  expect(result, d_x, 0, out);

  result.assign(out * in, S(0.5));
  accumulate_outer(d_y.data(), out, x.data(), in, cols, result.data());
  expect(result, d_w, 0.5, cols);
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
        if (p >= lanes) {
          EXPECT_EQ(c[q * step + p], 9.0f) << lanes << ": " << p;
          continue;
        }
        Sum want;
        for (Index k = 0; k < depth; ++k) want.add(a[k * lanes + p], b[q * depth + k]);
        expect_near<float>(c[q * step + p], want, 0, depth);
      }
  }
}

}  // namespace
}  // namespace edict

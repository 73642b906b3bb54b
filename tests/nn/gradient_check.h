// Checks a layer's backward pass: the loss is c·y for random c, so that its gradient by y is c.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>

#include "base/generator.h"
#include "nn/parameters.h"

namespace edict {

inline Vector<double> random_vector(Generator& rng, Index n) {
  Vector<double> v(n);
  for (Index i = 0; i < n; ++i) v[i] = rng.normal();
  return v;
}

// y of the layer as a function of parameters and input.
using LayerFunction = std::function<Vector<double>(const Vector<double>&, const Vector<double>&)>;

inline double five_point(const std::function<double(double)>& f) {
  const double e = 1e-4;
  return (8 * (f(e) - f(-e)) - (f(2 * e) - f(-2 * e))) / (12 * e);
}

// d_x and grads are what backward gave for d_y = c; grads began at `grads_before`, to see that
// backward adds to it.
inline void expect_gradients(const LayerFunction& forward, const Vector<double>& params,
                             const Vector<double>& x, const Vector<double>& c,
                             const Vector<double>& d_x, const Vector<double>& grads,
                             double grads_before) {
  for (Index i = 0; i < x.size(); ++i) {
    Vector<double> moved = x;
    const double expected = five_point([&](double offset) {
      moved[i] = x[i] + offset;
      return forward(params, moved).dot(c);
    });
    EXPECT_NEAR(d_x[i], expected, 1e-9 * (1 + std::abs(expected))) << "input " << i;
  }
  for (Index i = 0; i < params.size(); ++i) {
    Vector<double> moved = params;
    const double expected = five_point([&](double offset) {
      moved[i] = params[i] + offset;
      return forward(moved, x).dot(c);
    });
    EXPECT_NEAR(grads[i] - grads_before, expected, 1e-9 * (1 + std::abs(expected)))
        << "parameter " << i;
  }
}

inline void expect_equal(const Vector<double>& actual, const Vector<double>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (Index i = 0; i < actual.size(); ++i)
    EXPECT_NEAR(actual[i], expected[i], 1e-13 * (1 + std::abs(expected[i]))) << "output " << i;
}

// Entry (row, column) of the named tensor, seen as a matrix with `columns` columns.
class NamedWeights {
 public:
  NamedWeights(const ParameterLayout& layout, const Vector<double>& params)
      : layout_(layout), params_(params) {}

  double operator()(const std::string& name, Index row, Index column = 0) const {
    for (const Tensor& tensor : layout_.tensors())
      if (tensor.name == name) {
        const Index columns = tensor.shape.size() == 1 ? 1 : tensor.size / tensor.shape[0];
        return params_[tensor.offset + row * columns + column];
      }
    throw std::out_of_range("no tensor " + name);
  }

 private:
  const ParameterLayout& layout_;
  const Vector<double>& params_;
};

}  // namespace edict

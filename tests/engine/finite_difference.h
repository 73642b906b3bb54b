// Gradients of a whole loss against five-point central differences in double.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/generator.h"
#include "nn/parameters.h"
#include "stride.h"

namespace edict {

// Initial values moved a little, so that nothing starts at a symmetric or flat place.
template <class S>
Vector<S> moved_parameters(const ParameterLayout& layout, std::uint64_t seed) {
  Vector<S> params = layout.initial<S>(seed);
  Generator rng(seed, "moved");
  for (Index i = 0; i < params.size(); ++i) params[i] += static_cast<S>(0.2 * rng.normal());
  return params;
}

// loss(params, grads) returns the loss and writes its gradient. The largest error of any entry is
// held against the largest gradient of its tensor, as a single entry may be zero.
template <class Loss>
void expect_gradients(const ParameterLayout& layout, Vector<double> params, const Loss& loss,
                      double tolerance = 1e-6) {
  Vector<double> grads, unused;
  loss(params, grads);
  double overall = 0;
  for (const Tensor& tensor : layout.tensors()) {
    double largest = 1e-3, error = 0;
    for (Index i = tensor.offset; i < tensor.offset + tensor.size; i += kStride) {
      const double x = params[i], step = 1e-5;
      const auto at = [&](double offset) {
        params[i] = x + offset;
        return loss(params, unused);
      };
      const double numeric =
          (8 * (at(step) - at(-step)) - (at(2 * step) - at(-2 * step))) / (12 * step);
      params[i] = x;
      largest = std::max(largest, std::abs(numeric));
      error = std::max(error, std::abs(numeric - grads[i]));
    }
    EXPECT_LT(error / largest, tolerance) << tensor.name;
    overall = std::max(overall, largest);
  }
  EXPECT_GT(overall, 2e-3) << "the loss hardly depends on any parameter";
}

}  // namespace edict

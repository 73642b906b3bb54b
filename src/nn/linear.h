// y = W x + b with PyTorch's [out, in] weights.
#pragma once

#include <string>

#include "nn/parameters.h"
#include "nn/product.h"

namespace edict {

class Linear {
 public:
  Linear(ParameterLayout& layout, const std::string& name, Index in, Index out, double bias = kBias)
      : in_(in),
        out_(out),
        weight_(layout.add(name + ".weight", {out, in}, Start::xavier(out, in))),
        bias_(layout.add(name + ".bias", {out}, Start::constant(bias))) {}

  static constexpr double kBias = 0.05;

  Index in() const { return in_; }
  Index out() const { return out_; }

  // x: in × w, y: out × w.
  template <class S>
  void forward(const S* params, Index w, const S* x, S* y) const {
    spread_bias(params + bias_, out_, w, y);
    multiply_add(params + weight_, out_, in_, x, w, y);
  }

  template <class S>
  void transpose(const S* params, S* transposed) const {
    transpose_weights(params + weight_, out_, in_, transposed + weight_);
  }

  // The same from transposed weights: a column's bits do not depend on how many there are.
  template <class S>
  void forward(Transposed<S> params, Index w, const S* x, S* y) const {
    spread_bias(params.values + bias_, out_, w, y);
    multiply_from_transposed_add(params.values + weight_, out_, in_, x, w, y);
  }

  // d_x is written.
  template <class S>
  void backward(const S* params, Index w, const S* x, const S* d_y, S* d_x, S* grads) const {
    backward_weights(w, x, d_y, grads);
    multiply_transposed(params + weight_, out_, in_, d_y, w, d_x);
  }

  // For a first layer, whose input needs no gradient.
  template <class S>
  void backward_weights(Index w, const S* x, const S* d_y, S* grads) const {
    accumulate_bias(d_y, out_, w, grads + bias_);
    accumulate_outer(d_y, out_, x, in_, w, grads + weight_);
  }

 private:
  Index in_, out_;
  Index weight_, bias_;
};

}  // namespace edict

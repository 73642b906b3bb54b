// Several two-layer networks H → P → out_k that read the same input. Their first layers are stacked
// into one product:
//
//          ┌ W_0 ┐               ┌ a_0 ┐            y_0 = V_0 a_0 + c_0
//   relu ( │  ⋮  │ · h + b ) =   │  ⋮  │  K·P × w   ⋮
//          └ W_K ┘               └ a_K ┘            y_K = V_K a_K + c_K
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "math/relu.h"
#include "nn/linear.h"
#include "nn/small_product.h"

namespace edict {

class MlpBank {
 public:
  struct Network {
    std::string name;
    Index out;
  };

  MlpBank(ParameterLayout& layout, const std::string& name, Index in, Index width,
          const std::vector<Network>& networks)
      : in_(in), width_(width) {
    for (const Network& net : networks) {
      const Index at =
          layout.add(name + "." + net.name + ".0.weight", {width, in}, Start::xavier(width, in));
      if (outs_.empty()) first_weight_ = at;
      outs_.push_back(net.out);
      rows_ += net.out;
    }
    for (const Network& net : networks) {
      const Index at =
          layout.add(name + "." + net.name + ".0.bias", {width}, Start::constant(Linear::kBias));
      if (&net == &networks.front()) first_bias_ = at;
    }
    for (const Network& net : networks) {
      second_weight_.push_back(layout.add(name + "." + net.name + ".1.weight", {net.out, width},
                                          Start::xavier(net.out, width)));
      second_bias_.push_back(
          layout.add(name + "." + net.name + ".1.bias", {net.out}, Start::constant(Linear::kBias)));
    }
  }

  Index rows() const { return rows_; }  // all outputs together
  Index stacked() const { return width_ * static_cast<Index>(outs_.size()); }  // K·P

  template <class S>
  void transpose(const S* params, S* transposed) const {
    transpose_weights(params + first_weight_, stacked(), in_, transposed + first_weight_);
    for (std::size_t k = 0; k < outs_.size(); ++k)
      transpose_weights(params + second_weight_[k], outs_[k], width_,
                        transposed + second_weight_[k]);
  }

  // h: H × w; a: K·P × w (kept for backward); y: rows × w.
  template <class S>
  void forward(Transposed<S> transposed, Index w, const S* h, S* a, S* y) const {
    const Index n = stacked();
    const S* const params = transposed.values;
    multiply_from_transposed(params + first_weight_, n, in_, h, w, a);
    for (Index column = 0; column < w; ++column)
      for (Index i = 0; i < n; ++i)
        a[column * n + i] = relu(a[column * n + i] + params[first_bias_ + i]);
    Index row = 0;
    for (std::size_t k = 0; k < outs_.size(); ++k) {
      for (Index column = 0; column < w; ++column)
        std::copy_n(params + second_bias_[k], outs_[k], y + column * rows_ + row);
      small_multiply<true, S>({params + second_weight_[k], outs_[k], hidden(a, k), 1, n, width_},
                              outs_[k], w, y + row, rows_);
      row += outs_[k];
    }
  }

  // d_h += …; `a` is used up. d_a: scratch, K·P × w.
  template <class S>
  void backward(const S* params, Index w, const S* h, const S* a, const S* d_y, S* d_a, S* d_h,
                S* grads) const {
    const Index n = stacked();
    Index row = 0;
    for (std::size_t k = 0; k < outs_.size(); ++k) {
      const S* const d_out = d_y + row;
      for (Index column = 0; column < w; ++column)
        for (Index i = 0; i < outs_[k]; ++i)
          grads[second_bias_[k] + i] += d_out[column * rows_ + i];
      small_multiply<true, S>({hidden(a, k), n, d_out, rows_, 1, w}, width_, outs_[k],
                              grads + second_weight_[k], width_);
      small_multiply<false, S>({params + second_weight_[k], width_, d_out, 1, rows_, outs_[k]},
                               width_, w, hidden(d_a, k), n);
      row += outs_[k];
    }
    for (Index i = 0; i < n * w; ++i) d_a[i] = a[i] > S(0) ? d_a[i] : S(0);
    accumulate_bias(d_a, n, w, grads + first_bias_);
    accumulate_outer(d_a, n, h, in_, w, grads + first_weight_);
    multiply_transposed_add(params + first_weight_, n, in_, d_a, w, d_h);
  }

 private:
  // Network k's rows of the stack.
  template <class S>
  S* hidden(S* a, std::size_t k) const {
    return a + static_cast<Index>(k) * width_;
  }

  Index in_, width_;
  Index rows_ = 0;
  std::vector<Index> outs_;
  Index first_weight_ = 0, first_bias_ = 0;
  std::vector<Index> second_weight_, second_bias_;
};

}  // namespace edict

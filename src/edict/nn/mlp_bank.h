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

#include "edict/nn/linear.h"

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

  // h: H × w; a: K·P × w (kept for backward); y: rows × w.
  template <class S>
  void forward(const S* params, Index w, const S* h, S* a, S* y) const {
    const Index n = stacked();
    multiply(params + first_weight_, n, in_, h, w, a);
    for (Index column = 0; column < w; ++column)
      for (Index i = 0; i < n; ++i) {
        const S v = a[column * n + i] + params[first_bias_ + i];
        a[column * n + i] = v > S(0) ? v : S(0);
      }
    Index row = 0;
    for (std::size_t k = 0; k < outs_.size(); ++k) {
      Strided<S> out(y + row, outs_[k], w, Eigen::OuterStride<>(rows_));
      out.noalias() = weight(params, second_weight_[k], outs_[k], width_) * hidden(a, k, w);
      out.colwise() += bias(params, second_bias_[k], outs_[k]);
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
      ConstStrided<S> d_out(d_y + row, outs_[k], w, Eigen::OuterStride<>(rows_));
      bias(grads, second_bias_[k], outs_[k]) += d_out.rowwise().sum();
      weight(grads, second_weight_[k], outs_[k], width_).noalias() +=
          d_out * hidden(a, k, w).transpose();
      Strided<S>(d_a + static_cast<Index>(k) * width_, width_, w, Eigen::OuterStride<>(n))
          .noalias() = weight(params, second_weight_[k], outs_[k], width_).transpose() * d_out;
      row += outs_[k];
    }
    for (Index i = 0; i < n * w; ++i) d_a[i] = a[i] > S(0) ? d_a[i] : S(0);
    accumulate_bias(d_a, n, w, grads + first_bias_);
    accumulate_outer(d_a, n, h, in_, w, grads + first_weight_);
    multiply_transposed_add(params + first_weight_, n, in_, d_a, w, d_h);
  }

 private:
  template <class S>
  using Strided = Eigen::Map<Matrix<S>, 0, Eigen::OuterStride<>>;
  template <class S>
  using ConstStrided = Eigen::Map<const Matrix<S>, 0, Eigen::OuterStride<>>;

  template <class S>
  ConstStrided<S> hidden(const S* a, std::size_t k, Index w) const {
    return {a + static_cast<Index>(k) * width_, width_, w, Eigen::OuterStride<>(stacked())};
  }

  Index in_, width_;
  Index rows_ = 0;
  std::vector<Index> outs_;
  Index first_weight_ = 0, first_bias_ = 0;
  std::vector<Index> second_weight_, second_bias_;
};

}  // namespace edict

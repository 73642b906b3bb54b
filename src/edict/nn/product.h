// The products that every layer is made of. Weights are row-major [out, in] as in PyTorch, and
// activations are column-major with one series a column.
#pragma once

#include "edict/core/types.h"
#include "edict/nn/small_product.h"

namespace edict {

template <class S>
using ConstWeights = Eigen::Map<const WeightMatrix<S>>;
template <class S>
using ConstColumns = Eigen::Map<const Matrix<S>>;
template <class S>
using Columns = Eigen::Map<Matrix<S>>;

// Parameters as a forward pass reads them: each weight matrix (or stack of them) transposed in its
// place, the rest as registered. A walk turns them once and multiplies by them thousands of times.
template <class S>
struct Turned {
  const S* values;
};

// Weights beyond this many entries outgrow the second-level cache; there Eigen's blocking wins.
constexpr Index kSmallWeights = Index{1} << 18;

// y = W x.
template <class S>
void multiply(const S* w, Index out, Index in, const S* x, Index cols, S* y) {
  Columns<S>(y, out, cols).noalias() = ConstWeights<S>(w, out, in) * ConstColumns<S>(x, in, cols);
}

// y += W x.
template <class S>
void multiply_add(const S* w, Index out, Index in, const S* x, Index cols, S* y) {
  Columns<S>(y, out, cols).noalias() += ConstWeights<S>(w, out, in) * ConstColumns<S>(x, in, cols);
}

// d_x = Wᵀ d_y.
template <class S>
void multiply_transposed(const S* w, Index out, Index in, const S* d_y, Index cols, S* d_x) {
  if (out * in <= kSmallWeights)
    small_multiply<false, S>({w, in, d_y, 1, out, out}, in, cols, d_x, in);
  else
    Columns<S>(d_x, in, cols).noalias() =
        ConstWeights<S>(w, out, in).transpose() * ConstColumns<S>(d_y, out, cols);
}

// d_x += Wᵀ d_y.
template <class S>
void multiply_transposed_add(const S* w, Index out, Index in, const S* d_y, Index cols, S* d_x) {
  if (out * in <= kSmallWeights)
    small_multiply<true, S>({w, in, d_y, 1, out, out}, in, cols, d_x, in);
  else
    Columns<S>(d_x, in, cols).noalias() +=
        ConstWeights<S>(w, out, in).transpose() * ConstColumns<S>(d_y, out, cols);
}

// Wᵀ, in × out, for multiply_turned.
template <class S>
void turn_weights(const S* w, Index out, Index in, S* turned) {
  Eigen::Map<WeightMatrix<S>>(turned, in, out) = ConstWeights<S>(w, out, in).transpose();
}

// y = W x from Wᵀ: neighbouring outputs lie side by side, so that the product needs no packing.
template <class S>
void multiply_turned(const S* turned, Index out, Index in, const S* x, Index cols, S* y) {
  multiply_transposed(turned, in, out, x, cols, y);
}

// d_W += d_y xᵀ.
template <class S>
void accumulate_outer(const S* d_y, Index out, const S* x, Index in, Index cols, S* d_w) {
  if (out * in <= kSmallWeights)
    small_multiply<true, S>({x, in, d_y, out, 1, cols}, in, out, d_w, in);
  else
    Eigen::Map<WeightMatrix<S>>(d_w, out, in).noalias() +=
        ConstColumns<S>(d_y, out, cols) * ConstColumns<S>(x, in, cols).transpose();
}

// d_b += Σ d_y over the columns.
template <class S>
void accumulate_bias(const S* d_y, Index out, Index cols, S* d_b) {
  for (Index column = 0; column < cols; ++column)
    for (Index i = 0; i < out; ++i) d_b[i] += d_y[column * out + i];
}

}  // namespace edict

// The four products that every layer is made of. Weights are row-major [out, in] as in PyTorch, and
// activations are column-major with one series a column.
#pragma once

#include "edict/core/types.h"

namespace edict {

template <class S>
using ConstWeights = Eigen::Map<const WeightMatrix<S>>;
template <class S>
using ConstColumns = Eigen::Map<const Matrix<S>>;
template <class S>
using Columns = Eigen::Map<Matrix<S>>;

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
  Columns<S>(d_x, in, cols).noalias() =
      ConstWeights<S>(w, out, in).transpose() * ConstColumns<S>(d_y, out, cols);
}

// d_x += Wᵀ d_y.
template <class S>
void multiply_transposed_add(const S* w, Index out, Index in, const S* d_y, Index cols, S* d_x) {
  Columns<S>(d_x, in, cols).noalias() +=
      ConstWeights<S>(w, out, in).transpose() * ConstColumns<S>(d_y, out, cols);
}

// d_W += d_y xᵀ.
template <class S>
void accumulate_outer(const S* d_y, Index out, const S* x, Index in, Index cols, S* d_w) {
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

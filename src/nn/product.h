// The products that every layer is made of. Weights are row-major [out, in] as in PyTorch, and
// activations are column-major with one series a column. For float and double; compiled once, in
// product.cpp, because Eigen's kernels take a compiler seconds wherever they are seen.
#pragma once

#include "base/types.h"

namespace edict {

// Parameters as a forward pass reads them: each weight matrix (or stack of them) transposed in its
// place, the rest as registered. A pass transposes them once and multiplies by them thousands of
// times.
template <class S>
struct Transposed {
  const S* values;
};

// y = W x.
template <class S>
void multiply(const S* w, Index out, Index in, const S* x, Index cols, S* y);

// y += W x.
template <class S>
void multiply_add(const S* w, Index out, Index in, const S* x, Index cols, S* y);

// d_x = Wᵀ d_y.
template <class S>
void multiply_transposed(const S* w, Index out, Index in, const S* d_y, Index cols, S* d_x);

// d_x += Wᵀ d_y.
template <class S>
void multiply_transposed_add(const S* w, Index out, Index in, const S* d_y, Index cols, S* d_x);

// d_W += d_y xᵀ.
template <class S>
void accumulate_outer(const S* d_y, Index out, const S* x, Index in, Index cols, S* d_w);

// Wᵀ, in × out, for multiply_from_transposed.
template <class S>
void transpose_weights(const S* w, Index out, Index in, S* transposed) {
  for (Index i = 0; i < in; ++i)
    for (Index o = 0; o < out; ++o) transposed[i * out + o] = w[o * in + i];
}

// y = W x from Wᵀ: neighbouring outputs lie side by side, so that the product needs no packing.
template <class S>
void multiply_from_transposed(const S* transposed, Index out, Index in, const S* x, Index cols,
                              S* y) {
  multiply_transposed(transposed, in, out, x, cols, y);
}

// y += W x from Wᵀ.
template <class S>
void multiply_from_transposed_add(const S* transposed, Index out, Index in, const S* x, Index cols,
                                  S* y) {
  multiply_transposed_add(transposed, in, out, x, cols, y);
}

// y = b in every column.
template <class S>
void spread_bias(const S* b, Index out, Index cols, S* y) {
  for (Index column = 0; column < cols; ++column)
    for (Index i = 0; i < out; ++i) y[column * out + i] = b[i];
}

// d_b += Σ d_y over the columns.
template <class S>
void accumulate_bias(const S* d_y, Index out, Index cols, S* d_b) {
  for (Index column = 0; column < cols; ++column)
    for (Index i = 0; i < out; ++i) d_b[i] += d_y[column * out + i];
}

}  // namespace edict

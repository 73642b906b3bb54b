#include "nn/product.h"

#include "base/eigen.h"
#include "nn/small_product.h"

namespace edict {
namespace {

template <class S>
using Weights = Eigen::Map<Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;
template <class S>
using ConstWeights =
    Eigen::Map<const Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;
template <class S>
using Columns = Eigen::Map<Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic>>;
template <class S>
using ConstColumns = Eigen::Map<const Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic>>;

// Weights beyond this many entries outgrow the second-level cache; there Eigen's blocking wins.
constexpr Index kSmallWeights = Index{1} << 18;

}  // namespace

template <class S>
void multiply(const S* w, Index out, Index in, const S* x, Index cols, S* y) {
  Columns<S>(y, out, cols).noalias() = ConstWeights<S>(w, out, in) * ConstColumns<S>(x, in, cols);
}

template <class S>
void multiply_add(const S* w, Index out, Index in, const S* x, Index cols, S* y) {
  Columns<S>(y, out, cols).noalias() += ConstWeights<S>(w, out, in) * ConstColumns<S>(x, in, cols);
}

template <class S>
void multiply_transposed(const S* w, Index out, Index in, const S* d_y, Index cols, S* d_x) {
  if (out * in <= kSmallWeights)
    small_multiply<false, S>({w, in, d_y, 1, out, out}, in, cols, d_x, in);
  else
    Columns<S>(d_x, in, cols).noalias() =
        ConstWeights<S>(w, out, in).transpose() * ConstColumns<S>(d_y, out, cols);
}

template <class S>
void multiply_transposed_add(const S* w, Index out, Index in, const S* d_y, Index cols, S* d_x) {
  if (out * in <= kSmallWeights)
    small_multiply<true, S>({w, in, d_y, 1, out, out}, in, cols, d_x, in);
  else
    Columns<S>(d_x, in, cols).noalias() +=
        ConstWeights<S>(w, out, in).transpose() * ConstColumns<S>(d_y, out, cols);
}

template <class S>
void accumulate_outer(const S* d_y, Index out, const S* x, Index in, Index cols, S* d_w) {
  if (out * in <= kSmallWeights)
    small_multiply<true, S>({x, in, d_y, out, 1, cols}, in, out, d_w, in);
  else
    Weights<S>(d_w, out, in).noalias() +=
        ConstColumns<S>(d_y, out, cols) * ConstColumns<S>(x, in, cols).transpose();
}

#define EDICT_INSTANTIATE(S)                                                          \
  template void multiply(const S*, Index, Index, const S*, Index, S*);                \
  template void multiply_add(const S*, Index, Index, const S*, Index, S*);            \
  template void multiply_transposed(const S*, Index, Index, const S*, Index, S*);     \
  template void multiply_transposed_add(const S*, Index, Index, const S*, Index, S*); \
  template void accumulate_outer(const S*, Index, const S*, Index, Index, S*);
EDICT_INSTANTIATE(float)
EDICT_INSTANTIATE(double)
#undef EDICT_INSTANTIATE

}  // namespace edict

// Matrix aliases. A matrix is column-major and a column is one series, so that a chunk of series
// is a matrix whose first n columns are the ones still running.
#pragma once

#include "base/eigen.h"

namespace edict {

using Index = Eigen::Index;

template <class Scalar>
using Matrix = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>;
template <class Scalar>
using Vector = Eigen::Matrix<Scalar, Eigen::Dynamic, 1>;
template <class Scalar>
using RowVector = Eigen::Matrix<Scalar, 1, Eigen::Dynamic>;

// Weights keep PyTorch's [out, in] row-major layout.
template <class Scalar>
using WeightMatrix = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

template <class Scalar>
using MatrixRef = Eigen::Ref<Matrix<Scalar>>;
template <class Scalar>
using ConstMatrixRef = Eigen::Ref<const Matrix<Scalar>>;

}  // namespace edict

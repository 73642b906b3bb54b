// A matrix that could not be resized is empty, and is freed once.
#include "base/eigen.h"

#include <gtest/gtest.h>

#include <new>

// With the address sanitizer, asking for too much shall throw there too.
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }

namespace edict {
namespace {

// More than any machine has, and still a number of bytes that can be asked for.
constexpr Eigen::Index kTooMany = Eigen::Index{1} << 44;

template <class Matrix>
void expect_empty_and_usable(Matrix matrix, Eigen::Index rows, Eigen::Index cols) {
  EXPECT_THROW(matrix.resize(rows, cols), std::bad_alloc);
  EXPECT_EQ(matrix.size(), 0);
  matrix.resize(rows > 3 ? 3 : rows, cols > 3 ? 3 : cols);
  matrix.setOnes();
  EXPECT_EQ(matrix.sum(), static_cast<typename Matrix::Scalar>(matrix.size()));
}

TEST(Eigen, WhatCannotBeResizedIsEmpty) {
  expect_empty_and_usable(Eigen::MatrixXf(Eigen::MatrixXf::Ones(3, 5)), 4, kTooMany);
  expect_empty_and_usable(Eigen::VectorXd(Eigen::VectorXd::Ones(7)), kTooMany, 1);
  expect_empty_and_usable(Eigen::RowVectorXf(Eigen::RowVectorXf::Ones(7)), 1, kTooMany);
  using Rows = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  expect_empty_and_usable(Rows(Rows::Ones(3, 5)), kTooMany, 4);
}

TEST(Eigen, WhatCannotGrowKeepsItsValues) {
  Eigen::VectorXf values = Eigen::VectorXf::Ones(5);
  EXPECT_THROW(values.conservativeResize(kTooMany), std::bad_alloc);
  EXPECT_EQ(values.size(), 5);
  EXPECT_EQ(values.sum(), 5);
}

}  // namespace
}  // namespace edict

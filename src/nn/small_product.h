// One product kernel for matrices that fit in the cache: the weights of a cell times a chunk of
// columns, and their gradients. Eigen packs both operands on every call, which at these sizes costs
// as much as a fifth of the product; here nothing is copied. All products have the form
//
//   C[p, q] (+)= Σ_k A[p, k] B[k, q]        p < lanes, q < columns, k < depth
//
// where A and C are contiguous along p, so that a vector register holds neighbouring p:
//
//                 ┌─ q ─┐              a tile of V vectors × Q columns of C stays in registers
//   A: p │ k ──▶  C tile               while k runs: V loads of A, Q broadcasts of B and
//                                      V·Q multiply-adds for each k
//
// The sum over k runs in order for every element, so a result depends neither on the tiling nor on
// the number of columns.
#pragma once

#include "base/types.h"

namespace edict {

// Column k of A starts at a + k·step; element B[k, q] is b[k·down + q·across].
template <class S>
struct ProductOperands {
  const S* a;
  Index step;
  const S* b;
  Index down, across;
  Index depth;
};

// C (+)= A B with the columns of C c_step apart; for float and double.
template <bool kAdd, class S>
void small_multiply(const ProductOperands<S>& o, Index lanes, Index columns, S* c, Index c_step);

}  // namespace edict

// Rows of some columns of a matrix (`stride` apart) side by side, and back.
#pragma once

#include <span>

#include "base/lanes.h"
#include "base/types.h"
#include "nn/product.h"

namespace edict {

template <class S>
void gather(const S* from, Index stride, std::span<const Index> places, Index rows, S* to) {
  for (const Index place : places) {
    copy_column(rows, from + place * stride, to);
    to += rows;
  }
}

template <class S>
void scatter(const S* from, std::span<const Index> places, Index rows, S* to, Index stride) {
  for (const Index place : places) {
    copy_column(rows, from, to + place * stride);
    from += rows;
  }
}

template <class S>
void scatter_add(const S* from, std::span<const Index> places, Index rows, S* to, Index stride) {
  for (const Index place : places) {
    advance(rows, to + place * stride, S(1), from, to + place * stride);
    from += rows;
  }
}

}  // namespace edict

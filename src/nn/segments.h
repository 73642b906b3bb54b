// Means and softmaxes over sets of different sizes whose elements lie one after the other: set s is
// the columns [first[s], first[s+1]). An empty set has mean 0.
#pragma once

#include <algorithm>
#include <vector>

#include "base/types.h"
#include "math/activation.h"

namespace edict {

struct Segments {
  std::vector<Index> first{0};

  Index sets() const { return static_cast<Index>(first.size()) - 1; }
  Index elements() const { return first.back(); }
  Index size(Index s) const { return first[s + 1] - first[s]; }
};

// x: n × elements, mean: n × sets.
template <class S>
void segment_mean(const Segments& segments, Index n, const S* x, S* mean) {
  for (Index s = 0; s < segments.sets(); ++s) {
    S* const out = mean + s * n;
    std::fill_n(out, n, S(0));
    for (Index j = segments.first[s]; j < segments.first[s + 1]; ++j)
      for (Index i = 0; i < n; ++i) out[i] += x[j * n + i];
    const S share = S(1) / static_cast<S>(std::max<Index>(1, segments.size(s)));
    for (Index i = 0; i < n; ++i) out[i] *= share;
  }
}

// d_x is written.
template <class S>
void segment_mean_backward(const Segments& segments, Index n, const S* d_mean, S* d_x) {
  for (Index s = 0; s < segments.sets(); ++s) {
    const S share = S(1) / static_cast<S>(std::max<Index>(1, segments.size(s)));
    for (Index j = segments.first[s]; j < segments.first[s + 1]; ++j)
      for (Index i = 0; i < n; ++i) d_x[j * n + i] = share * d_mean[s * n + i];
  }
}

// In place; a: rows × elements, each row of each set sums to 1.
template <class S>
void segment_softmax(const Segments& segments, Index rows, S* a) {
  for (Index s = 0; s < segments.sets(); ++s) {
    S* const set = a + segments.first[s] * rows;
    const Index end = segments.size(s) * rows;
    for (Index row = 0; row < rows && end > 0; ++row) {
      S top = set[row];
      for (Index i = row; i < end; i += rows) top = std::max(top, set[i]);
      for (Index i = row; i < end; i += rows) set[i] -= top;
    }
    exp_inplace(set, end);
    for (Index row = 0; row < rows; ++row) {
      S sum = 0;
      for (Index i = row; i < end; i += rows) sum += set[i];
      for (Index i = row; i < end; i += rows) set[i] /= sum;
    }
  }
}

// d_a of the softmax becomes that of its argument: a∘(d_a − Σ a d_a).
template <class S>
void segment_softmax_backward(const Segments& segments, Index rows, const S* a, S* d_a) {
  for (Index s = 0; s < segments.sets(); ++s) {
    const S* const p = a + segments.first[s] * rows;
    S* const d = d_a + segments.first[s] * rows;
    const Index end = segments.size(s) * rows;
    for (Index row = 0; row < rows; ++row) {
      S mean = 0;
      for (Index i = row; i < end; i += rows) mean += p[i] * d[i];
      for (Index i = row; i < end; i += rows) d[i] = p[i] * (d[i] - mean);
    }
  }
}

}  // namespace edict

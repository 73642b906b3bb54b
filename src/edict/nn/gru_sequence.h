// A GRU over sequences of different lengths, stepped together. Columns are packed step by step,
// longest sequence first, so that the sequences still running are always a prefix and nothing is
// padded:
//
//   sequence 0   ■ ■ ■ ■       columns: step 0 │ step 1 │ step 2 │ step 3
//   sequence 1   ■ ■                    0 1 2  │ 0 1    │ 0      │ 0
//   sequence 2   ■
//
// What depends on the input alone, W_ih x, is one product over all columns.
#pragma once

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "edict/nn/gru_cell.h"

namespace edict {

class Packing {
 public:
  Packing() : first_{0} {}

  // lengths[s] of sequence s, in the caller's order.
  explicit Packing(const std::vector<Index>& lengths)
      : order_(lengths.size()), rank_(lengths.size()), length_(lengths) {
    std::iota(order_.begin(), order_.end(), Index{0});
    std::stable_sort(order_.begin(), order_.end(),
                     [&](Index a, Index b) { return lengths[a] > lengths[b]; });
    for (std::size_t i = 0; i < order_.size(); ++i) rank_[order_[i]] = static_cast<Index>(i);
    first_ = {0};
    Index active = static_cast<Index>(order_.size());
    for (Index t = 0;; ++t) {
      while (active > 0 && lengths[order_[active - 1]] <= t) --active;
      if (active == 0) break;
      first_.push_back(first_.back() + active);
    }
  }

  Index sequences() const { return static_cast<Index>(order_.size()); }
  Index length(Index s) const { return length_[s]; }
  Index steps() const { return static_cast<Index>(first_.size()) - 1; }
  Index columns() const { return first_.back(); }
  Index first(Index t) const { return first_[t]; }
  Index active(Index t) const { return first_[t + 1] - first_[t]; }
  Index column(Index s, Index t) const { return first_[t] + rank_[s]; }

 private:
  std::vector<Index> order_, rank_, length_, first_;
};

class GruSequence {
 public:
  template <class S>
  struct Cache {
    std::vector<GruCell::Cache<S>> step;
    const S* x;      // input × columns
    const S* decay;  // H × columns or null
    const S* start;  // H × columns: the state each step starts from, after its decay
    const S* h;      // H × columns: the state each step ends with
  };

  GruSequence(ParameterLayout& layout, const std::string& name, Index input, Index hidden)
      : cell_(layout, name, input, hidden) {}

  Index hidden() const { return cell_.hidden(); }

  // From h = 0: h_t = GRU(x_t, γ_t∘h_{t−1}); without decay γ = 1. x, decay and h must outlive the
  // cache.
  template <class S>
  void forward(const S* params, const Packing& packing, const S* x, const S* decay, Arena<S>& arena,
               Cache<S>& c, S* h) const {
    const Index n = hidden();
    S* const start = arena.take(n * packing.columns());
    S* const gi = arena.take(3 * n * packing.columns());
    c = {{}, x, decay, start, h};
    multiply(params + cell_.input_weights(), 3 * n, cell_.input(), x, packing.columns(), gi);
    for (Index t = 0; t < packing.steps(); ++t) {
      const Index w = packing.active(t), at = packing.first(t) * n;
      if (t == 0)
        std::fill_n(start, n * w, S(0));
      else
        std::copy_n(h + packing.first(t - 1) * n, n * w, start + at);
      if (decay)
        for (Index i = 0; i < n * w; ++i) start[at + i] *= decay[at + i];
      c.step.push_back(cell_.cache(arena, static_cast<const S*>(start + at), w));
      cell_.forward(params, w, gi + 3 * at, c.step.back(), h + at);
    }
  }

  // d_h: H × columns, of what was read from each state; used up. d_x and, with decay, d_decay are
  // written.
  template <class S>
  void backward(const S* params, const Packing& packing, S* d_h, const Cache<S>& c, Arena<S>& arena,
                S* d_x, S* d_decay, S* grads) const {
    const Index n = hidden(), columns = packing.columns();
    S* const d_gi = arena.take(3 * n * columns);
    S* const d_start = arena.take(n * packing.sequences());
    S* const d_gh = arena.take(3 * n * packing.sequences());
    for (Index t = packing.steps(); t-- > 0;) {
      const Index w = packing.active(t), at = packing.first(t) * n;
      cell_.backward(params, w, d_h + at, c.step[t], d_start, d_gh, grads);
      std::copy_n(c.step[t].rzn, 3 * n * w, d_gi + 3 * at);
      S* const d_before = t > 0 ? d_h + packing.first(t - 1) * n : nullptr;
      const S* const before = t > 0 ? c.h + packing.first(t - 1) * n : nullptr;
      if (c.decay)  // start = γ∘h_{t−1}
        for (Index i = 0; i < n * w; ++i) {
          d_decay[at + i] = before ? d_start[i] * before[i] : S(0);
          d_start[i] *= c.decay[at + i];
        }
      if (d_before)
        for (Index i = 0; i < n * w; ++i) d_before[i] += d_start[i];
    }
    const Index weights = cell_.input_weights();
    accumulate_outer(d_gi, 3 * n, c.x, cell_.input(), columns, grads + weights);  // gi = W_ih x
    multiply_transposed(params + weights, 3 * n, cell_.input(), d_gi, columns, d_x);
  }

  // The state each sequence ends with, H × sequences in the caller's order; 0 for an empty one.
  template <class S>
  void last(const Packing& packing, const S* h, S* out) const {
    const Index n = hidden();
    for (Index s = 0; s < packing.sequences(); ++s)
      if (packing.length(s) > 0)
        std::copy_n(h + packing.column(s, packing.length(s) - 1) * n, n, out + s * n);
      else
        std::fill_n(out + s * n, n, S(0));
  }

  // d_h += ….
  template <class S>
  void last_backward(const Packing& packing, const S* d_out, S* d_h) const {
    const Index n = hidden();
    for (Index s = 0; s < packing.sequences(); ++s)
      if (packing.length(s) > 0) {
        S* const d = d_h + packing.column(s, packing.length(s) - 1) * n;
        for (Index i = 0; i < n; ++i) d[i] += d_out[s * n + i];
      }
  }

 private:
  GruCell cell_;
};

}  // namespace edict

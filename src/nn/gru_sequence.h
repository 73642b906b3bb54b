// The GRU of Cho et al. (2014), which GRU-D and IPN were published with, over sequences of
// different lengths, stepped together:
//
//   r = σ(W_r x + U_r h + b_r)           z = σ(W_z x + U_z h + b_z)
//   n = tanh(W_n x + U_n (r∘h) + b_n)    h' = (1 − z)∘n + z∘h
//
// The reset gate acts on h before the product; PyTorch's (gru_cell.h) acts after it. Stacked in the
// order r, z, n, the gates are the first 2H rows of W, U and b.
//
// Columns are packed step by step, longest sequence first, so that the sequences still running are
// always a prefix and nothing is padded:
//
//   sequence 0   ■ ■ ■ ■       columns: step 0 │ step 1 │ step 2 │ step 3
//   sequence 1   ■ ■                    0 1 2  │ 0 1    │ 0      │ 0
//   sequence 2   ■
//
// What depends on the input alone, W x + b, is computed for all columns at once. The gradients of
// the weights are added step by step, while the step's columns are in the cache.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "base/arena.h"
#include "math/activation.h"
#include "nn/parameters.h"
#include "nn/product.h"
#include "nn/reset_gate.h"

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
    const S* x;      // input × columns
    const S* decay;  // H × columns or null
    S* start;        // H × columns: the state each step starts from, after its decay
    S* rz;           // 2H × columns, [r ; z]; after backward the gradient of what σ was given
    S* n;            // H × columns; after backward the gradient of what tanh was given
    S* r_h;          // H × columns: r∘start
    S* h;            // H × columns: the state each step ends with
  };

  GruSequence(ParameterLayout& layout, const std::string& name, Index input, Index hidden)
      : input_(input), hidden_(hidden) {
    const Start start = Start::uniform(1.0 / std::sqrt(static_cast<double>(hidden)));
    const Index w = layout.add(name + ".w", {3 * hidden, input}, start);
    const Index u = layout.add(name + ".u", {3 * hidden, hidden}, start);
    const Index b = layout.add(name + ".b", {3 * hidden}, start);
    rz_ = {2 * hidden, w, u, b};
    n_ = {hidden, w + 2 * hidden * input, u + 2 * hidden * hidden, b + 2 * hidden};
  }

  Index hidden() const { return hidden_; }

  // From h = 0: h_t = GRU(x_t, γ_t∘h_{t−1}); without decay γ = 1. x, decay and h must outlive the
  // cache.
  template <class S>
  void forward(const S* params, const Packing& packing, const S* x, const S* decay, Arena<S>& arena,
               Cache<S>& c, S* h) const {
    const Index n = hidden_, columns = packing.columns();
    c = {x,
         decay,
         arena.take(n * columns),
         arena.take(2 * n * columns),
         arena.take(n * columns),
         arena.take(n * columns),
         h};
    read_input(params, rz_, columns, x, c.rz);
    read_input(params, n_, columns, x, c.n);
    S* const u_rz = arena.take(2 * n * n);  // transposed once, multiplied by at every step
    S* const u_n = arena.take(n * n);
    transpose_weights(params + rz_.u, 2 * n, n, u_rz);
    transpose_weights(params + n_.u, n, n, u_n);
    for (Index t = 0; t < packing.steps(); ++t) {
      const Index w = packing.active(t), at = packing.first(t) * n;
      if (t == 0)
        std::fill_n(c.start, n * w, S(0));
      else
        std::copy_n(h + packing.first(t - 1) * n, n * w, c.start + at);
      if (decay)
        for (Index i = 0; i < n * w; ++i) c.start[at + i] *= decay[at + i];
      step(u_rz, u_n, packing.first(t), w, c);
    }
  }

  // d_h: H × columns, of what was read from each state; used up. d_x and, with decay, d_decay are
  // written.
  template <class S>
  void backward(const S* params, const Packing& packing, S* d_h, const Cache<S>& c, Arena<S>& arena,
                S* d_x, S* d_decay, S* grads) const {
    const Index n = hidden_, columns = packing.columns();
    S* const d_start = arena.take(n * packing.sequences());
    S* const d_rh = arena.take(n * packing.sequences());
    for (Index t = packing.steps(); t-- > 0;) {
      const Index w = packing.active(t), at = packing.first(t) * n;
      step_backward(params, packing.first(t), w, d_h + at, c, d_rh, d_start, grads);
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
    multiply_transposed(params + rz_.w, rz_.count, input_, c.rz, columns, d_x);
    multiply_transposed_add(params + n_.w, n_.count, input_, c.n, columns, d_x);
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
  // Rows of W, U and b that are multiplied together, as offsets into the parameters.
  struct Rows {
    Index count, w, u, b;
  };

  // y = W x + b; a step adds U h to it.
  template <class S>
  void read_input(const S* params, const Rows& rows, Index columns, const S* x, S* y) const {
    spread_bias(params + rows.b, rows.count, columns, y);
    multiply_add(params + rows.w, rows.count, input_, x, columns, y);
  }

  // Of y = W x + U h + b, w columns.
  template <class S>
  void backward_weights(const Rows& rows, Index w, const S* x, const S* h, const S* d_y,
                        S* grads) const {
    accumulate_bias(d_y, rows.count, w, grads + rows.b);
    accumulate_outer(d_y, rows.count, x, input_, w, grads + rows.w);
    accumulate_outer(d_y, rows.count, h, hidden_, w, grads + rows.u);
  }

  // w columns from `first` on; rz and n hold W x + b on entry. The recurrent weights are
  // transposed.
  template <class S>
  void step(const S* u_rz, const S* u_n, Index first, Index w, const Cache<S>& c) const {
    const Index size = hidden_, at = first * size;
    const S* const start = c.start + at;
    S* const rz = c.rz + 2 * at;
    S* const n = c.n + at;
    multiply_from_transposed_add(u_rz, 2 * size, size, start, w, rz);
    reset_forward(size, w, start, rz, c.r_h + at);
    multiply_from_transposed_add(u_n, size, size, c.r_h + at, w, n);
    tanh_inplace(n, size * w);
    for (Index column = 0; column < w; ++column)
      update(size, rz + (2 * column + 1) * size, n + column * size, start + column * size,
             c.h + at + column * size);
  }

  // d_start is written; d_rh: scratch, H × w.
  template <class S>
  void step_backward(const S* params, Index first, Index w, const S* d_h, const Cache<S>& c,
                     S* d_rh, S* d_start, S* grads) const {
    const Index size = hidden_, at = first * size;
    const S* const x = c.x + first * input_;
    const S* const start = c.start + at;
    S* const rz = c.rz + 2 * at;
    S* const n = c.n + at;
    for (Index column = 0; column < w; ++column)
      update_back(size, d_h + column * size, start + column * size, rz + (2 * column + 1) * size,
                  n + column * size, d_start + column * size);
    backward_weights(n_, w, x, c.r_h + at, n, grads);
    multiply_transposed(params + n_.u, size, size, n, w, d_rh);
    reset_backward(size, w, d_rh, start, rz, d_start);
    backward_weights(rz_, w, x, start, rz, grads);
    multiply_transposed_add(params + rz_.u, 2 * size, size, rz, w, d_start);
  }

  // h' = (1 − z)∘n + z∘h, one column. Parameters that do not overlap, so that the loops are
  // vectorised, here and below.
  template <class S>
  static void update(Index size, const S* __restrict z, const S* __restrict n,
                     const S* __restrict h, S* __restrict h_next) {
    for (Index i = 0; i < size; ++i) h_next[i] = n[i] + z[i] * (h[i] - n[i]);
  }

  // z and n become the gradients of their pre-activations; d_h is written.
  template <class S>
  static void update_back(Index size, const S* __restrict d, const S* __restrict h, S* __restrict z,
                          S* __restrict n, S* __restrict d_h) {
    for (Index i = 0; i < size; ++i) {
      const S d_n = d[i] * (S(1) - z[i]) * (S(1) - n[i] * n[i]);
      d_h[i] = d[i] * z[i];
      z[i] = d[i] * (h[i] - n[i]) * z[i] * (S(1) - z[i]);
      n[i] = d_n;
    }
  }

  Index input_, hidden_;
  Rows rz_, n_;  // the gates; the candidate
};

}  // namespace edict

// The interpolation layer of IPN (Shukla & Marlin 2019): irregular observations of D channels
// become three numbers a channel at each of K reference points r. With w_j = exp(−α (r − t_j)²)
// over the channel's observations:
//
//   smooth σ = Σ w_j x_j / Σ w_j     intensity λ = Σ w_j     sharp γ: as σ, with κα for α
//   mixed  χ_d = Σ_d' ρ_d'd s_d' (σ_d' − μ_d') + μ_d,  s = λ/Σ λ over the channels, μ the mean of σ
//
// and what leaves is [χ | λ | γ − χ] (χ smooth and across channels, γ − χ transient). α > 0 is a
// softplus, ρ starts as the identity. A channel without observations has σ = γ = λ = 0.
//
// The kernels' only parameter is α, so forward also keeps dσ/dα, dlnλ/dα and dγ/dα of every point,
// and backward never looks at the observations again.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "base/arena.h"
#include "math/activation.h"
#include "math/special.h"
#include "nn/parameters.h"
#include "nn/product.h"

namespace edict {

class Interpolation {
 public:
  // Each K × D, a channel a column.
  template <class S>
  struct Cache {
    Index points;
    S *sigma, *log_lambda, *gamma;        // ln λ is meaningless where nothing was observed
    S *sigma_a, *log_lambda_a, *gamma_a;  // derivatives by α
    S *share, *unmixed, *chi;             // s, s∘(σ − μ), χ
    S* mu;                                // D
    bool* observed;                       // D
  };

  static constexpr int kSharper = 10;  // κ, as published

  Interpolation(ParameterLayout& layout, const std::string& name, Index channels)
      : channels_(channels),
        bandwidth_(layout.add(name + ".bandwidth", {channels}, Start::constant(0.0))),
        mixing_(layout.add(name + ".mixing", {channels, channels}, Start::identity())) {}

  Index channels() const { return channels_; }

  template <class S>
  Cache<S> cache(Arena<S>& arena, Arena<bool>& flags, Index points) const {
    const Index n = points * channels_;
    S* const block = arena.take(9 * n + channels_);
    return {points,        block,         block + n,     block + 2 * n,
            block + 3 * n, block + 4 * n, block + 5 * n, block + 6 * n,
            block + 7 * n, block + 8 * n, block + 9 * n, flags.take(channels_)};
  }

  // Observations of channel d: [first[d], first[d+1]) of t and x. r: K reference points.
  template <class S>
  void forward(const S* params, const S* r, const Index* first, const S* t, const S* x,
               const Cache<S>& c) const {
    for (Index d = 0; d < channels_; ++d) {
      c.observed[d] = first[d + 1] > first[d];
      if (c.observed[d])
        interpolate(softplus(params[bandwidth_ + d]), r, first[d + 1] - first[d], t + first[d],
                    x + first[d], d, c);
      else
        for (S* part : {c.sigma, c.log_lambda, c.gamma, c.sigma_a, c.log_lambda_a, c.gamma_a})
          std::fill_n(part + d * c.points, c.points, S(0));
    }
    mix(params, c);
  }

  // y: 3D, what leaves at point k.
  template <class S>
  void read(const Cache<S>& c, Index k, S* y) const {
    for (Index d = 0; d < channels_; ++d) {
      const Index i = d * c.points + k;
      y[d] = c.chi[i];
      y[channels_ + d] = c.observed[d] ? std::exp(c.log_lambda[i]) : S(0);
      y[2 * channels_ + d] = c.gamma[i] - c.chi[i];
    }
  }

  // d_chi, d_log_lambda, d_gamma: K × D, of what was read; used up.
  template <class S>
  void backward(const S* params, const Cache<S>& c, S* d_chi, S* d_log_lambda, const S* d_gamma,
                Arena<S>& scratch, S* grads) const {
    const Index k = c.points, n = channels_;
    S* const d_sigma = scratch.take(k * n);
    mix_backward(params, c, d_chi, d_log_lambda, scratch, d_sigma, grads);
    for (Index d = 0; d < n; ++d) {
      if (!c.observed[d]) continue;
      S d_alpha = 0;
      for (Index i = d * k; i < (d + 1) * k; ++i)
        d_alpha += d_sigma[i] * c.sigma_a[i] + d_log_lambda[i] * c.log_lambda_a[i] +
                   d_gamma[i] * c.gamma_a[i];
      grads[bandwidth_ + d] += d_alpha / (S(1) + std::exp(-params[bandwidth_ + d]));
    }
  }

  // Of λ = e^{ln λ}.
  template <class S>
  void read_backward(const Cache<S>& c, Index k, const S* d_y, S* d_chi, S* d_log_lambda,
                     S* d_gamma) const {
    for (Index d = 0; d < channels_; ++d) {
      const Index i = d * c.points + k;
      d_chi[i] = d_y[d] - d_y[2 * channels_ + d];
      d_log_lambda[i] = c.observed[d] ? d_y[channels_ + d] * std::exp(c.log_lambda[i]) : S(0);
      d_gamma[i] = d_y[2 * channels_ + d];
    }
  }

 private:
  // Channel d from its n observations, a register of reference points at a time.
  template <class S>
  static void interpolate(S alpha, const S* r, Index n, const S* t, const S* x, Index d,
                          const Cache<S>& c) {
    using L = Lanes<S>;
    using V = typename L::Vector;
    for (Index begin = 0; begin < c.points; begin += L::kCount) {
      const Index count = std::min(L::kCount, c.points - begin);
      S points[L::kCount] = {};
      std::copy_n(r + begin, count, points);
      const V point = L::load(points);
      // Weights relative to the nearest observation's: at least one is 1, none overflows.
      V nearest = (point - t[0]) * (point - t[0]);
      for (Index j = 1; j < n; ++j) {
        const V square = (point - t[j]) * (point - t[j]);
        nearest = square < nearest ? square : nearest;
      }
      V smooth[4] = {}, sharp[4] = {};  // Σ w, Σ w x, Σ w Δ, Σ w Δ x
      const auto add = [](V w, V distance, S value, V* sums) {
        sums[0] += w;
        sums[1] += w * value;
        sums[2] += w * distance;
        sums[3] += w * distance * value;
      };
      for (Index j = 0; j < n; ++j) {
        const V distance = (point - t[j]) * (point - t[j]) - nearest;
        const V w = exp_lanes(-alpha * distance), w2 = w * w, w4 = w2 * w2;
        add(w, distance, x[j], smooth);
        add(w2 * w4 * w4, distance, x[j], sharp);  // κ = 10
      }
      const V sigma = smooth[1] / smooth[0], gamma = sharp[1] / sharp[0];
      const V sigma_a = (sigma * smooth[2] - smooth[3]) / smooth[0];
      const V log_lambda_a = -(nearest + smooth[2] / smooth[0]);
      const V gamma_a = S(kSharper) * (gamma * sharp[2] - sharp[3]) / sharp[0];
      for (Index i = 0; i < count; ++i) {
        const Index at = d * c.points + begin + i;
        c.sigma[at] = sigma[i];
        c.log_lambda[at] = std::log(smooth[0][i]) - alpha * nearest[i];
        c.gamma[at] = gamma[i];
        c.sigma_a[at] = sigma_a[i];
        c.log_lambda_a[at] = log_lambda_a[i];
        c.gamma_a[at] = gamma_a[i];
      }
    }
  }

  template <class S>
  void mix(const S* params, const Cache<S>& c) const {
    const Index k = c.points, n = channels_;
    for (Index d = 0; d < n; ++d)
      c.mu[d] = std::accumulate(c.sigma + d * k, c.sigma + (d + 1) * k, S(0)) /
                static_cast<S>(std::max<Index>(1, k));
    for (Index point = 0; point < k; ++point) {
      S top = 0, sum = 0;
      bool any = false;
      for (Index d = 0; d < n; ++d)
        if (c.observed[d]) {
          const S l = c.log_lambda[d * k + point];
          top = any ? std::max(top, l) : l;
          any = true;
        }
      for (Index d = 0; d < n; ++d) {
        const Index i = d * k + point;
        c.share[i] = c.observed[d] ? std::exp(c.log_lambda[i] - top) : S(0);
        sum += c.share[i];
      }
      for (Index d = 0; d < n && any; ++d) {
        const Index i = d * k + point;
        c.share[i] /= sum;
      }
    }
    for (Index d = 0; d < n; ++d)
      for (Index i = d * k; i < (d + 1) * k; ++i)
        c.unmixed[i] = c.share[i] * (c.sigma[i] - c.mu[d]);
    for (Index d = 0; d < n; ++d) std::fill_n(c.chi + d * k, k, c.mu[d]);
    accumulate_outer(params + mixing_, n, c.unmixed, k, n, c.chi);  // χ = U ρ + μ
  }

  // d_sigma is written, d_log_lambda += ….
  template <class S>
  void mix_backward(const S* params, const Cache<S>& c, const S* d_chi, S* d_log_lambda,
                    Arena<S>& scratch, S* d_sigma, S* grads) const {
    const Index k = c.points, n = channels_;
    S* const d_share = scratch.take(k * n);                    // d_unmixed at first
    multiply_add(d_chi, n, k, c.unmixed, n, grads + mixing_);  // χ = U ρ + μ
    multiply_transposed(d_chi, n, k, params + mixing_, n, d_share);
    for (Index d = 0; d < n; ++d) {  // U = s∘(σ − μ), μ = mean of σ
      S d_mu = 0;
      for (Index i = d * k; i < (d + 1) * k; ++i) {
        d_sigma[i] = d_share[i] * c.share[i];
        d_mu += d_chi[i] - d_sigma[i];
        d_share[i] *= c.sigma[i] - c.mu[d];
      }
      for (Index i = d * k; i < (d + 1) * k; ++i) d_sigma[i] += d_mu / static_cast<S>(k);
    }
    for (Index point = 0; point < k; ++point) {  // s = softmax(ln λ)
      S mean = 0;
      for (Index i = point; i < k * n; i += k) mean += c.share[i] * d_share[i];
      for (Index i = point; i < k * n; i += k) d_log_lambda[i] += c.share[i] * (d_share[i] - mean);
    }
  }

  Index channels_;
  Index bandwidth_, mixing_;
};

}  // namespace edict

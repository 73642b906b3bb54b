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

#include <cmath>
#include <string>

#include "edict/math/special.h"
#include "edict/nn/arena.h"
#include "edict/nn/parameters.h"

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
               Arena<S>& scratch, const Cache<S>& c) const {
    const Index k = c.points;
    Array<S> nearest(scratch.take(k), k), distance(scratch.take(k), k), w(scratch.take(k), k);
    Eigen::Map<Eigen::Array<S, Eigen::Dynamic, 8>> sums(scratch.take(8 * k), k, 8);
    const ConstArray<S> points(r, k);
    for (Index d = 0; d < channels_; ++d) {
      Array<S> sigma(c.sigma + d * k, k), log_lambda(c.log_lambda + d * k, k);
      Array<S> gamma(c.gamma + d * k, k), sigma_a(c.sigma_a + d * k, k);
      Array<S> log_lambda_a(c.log_lambda_a + d * k, k), gamma_a(c.gamma_a + d * k, k);
      c.observed[d] = first[d + 1] > first[d];
      if (!c.observed[d]) {
        for (Array<S>* part : {&sigma, &log_lambda, &gamma, &sigma_a, &log_lambda_a, &gamma_a})
          part->setZero();
        continue;
      }
      const S alpha = softplus(params[bandwidth_ + d]);
      // Weights relative to the nearest observation's: at least one is 1, none overflows.
      nearest = (points - t[first[d]]).square();
      for (Index j = first[d] + 1; j < first[d + 1]; ++j)
        nearest = nearest.min((points - t[j]).square());
      sums.setZero();
      for (Index j = first[d]; j < first[d + 1]; ++j) {
        distance = (points - t[j]).square() - nearest;
        w = (-alpha * distance).exp();
        sums.col(0) += w;
        sums.col(1) += w * x[j];
        sums.col(2) += w * distance;
        sums.col(3) += w * distance * x[j];
        w = w.square();
        w *= w.square().square();  // w¹⁰
        sums.col(4) += w;
        sums.col(5) += w * x[j];
        sums.col(6) += w * distance;
        sums.col(7) += w * distance * x[j];
      }
      sigma = sums.col(1) / sums.col(0);
      log_lambda = sums.col(0).log() - alpha * nearest;
      sigma_a = (sigma * sums.col(2) - sums.col(3)) / sums.col(0);
      log_lambda_a = -(nearest + sums.col(2) / sums.col(0));
      gamma = sums.col(5) / sums.col(4);
      gamma_a = S(kSharper) * (gamma * sums.col(6) - sums.col(7)) / sums.col(4);
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
  template <class S>
  using Array = Eigen::Map<Eigen::Array<S, Eigen::Dynamic, 1>>;
  template <class S>
  using ConstArray = Eigen::Map<const Eigen::Array<S, Eigen::Dynamic, 1>>;

  template <class S>
  void mix(const S* params, const Cache<S>& c) const {
    const Index k = c.points, n = channels_;
    for (Index d = 0; d < n; ++d)
      c.mu[d] = k > 0 ? Array<S>(c.sigma + d * k, k).sum() / static_cast<S>(k) : S(0);
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
    Eigen::Map<Matrix<S>> chi(c.chi, k, n);
    chi.noalias() = Eigen::Map<const Matrix<S>>(c.unmixed, k, n) * weight(params, mixing_, n, n);
    chi.rowwise() += Eigen::Map<const RowVector<S>>(c.mu, n);
  }

  // d_sigma is written, d_log_lambda += ….
  template <class S>
  void mix_backward(const S* params, const Cache<S>& c, const S* d_chi, S* d_log_lambda,
                    Arena<S>& scratch, S* d_sigma, S* grads) const {
    const Index k = c.points, n = channels_;
    const Eigen::Map<const Matrix<S>> d_mixed(d_chi, k, n), unmixed(c.unmixed, k, n);
    S* const d_share = scratch.take(k * n);
    Eigen::Map<Matrix<S>> d_unmixed(d_share, k, n);
    weight(grads, mixing_, n, n).noalias() += unmixed.transpose() * d_mixed;  // χ = U ρ + μ
    d_unmixed.noalias() = d_mixed * weight(params, mixing_, n, n).transpose();
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

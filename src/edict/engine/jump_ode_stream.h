// The jump ODE for a single column: the same layers as models/walk.h, without tape and gathering.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>

#include "edict/core/error.h"
#include "edict/engine/jump_ode.h"
#include "edict/engine/stream_state.h"
#include "edict/ode/runge_kutta.h"

namespace edict {

template <class Head>
class JumpOdeStream final : public StreamState {
 public:
  JumpOdeStream(const JumpOde<Head>& model, const float* params)
      : model_(model), params_(params), h_(model.hidden), ahead_(model.hidden) {
    model.turn(params, turned_values_);
    // One full turn takes all the memory that later ones need.
    std::vector<float> zeros(static_cast<std::size_t>(model.features), 0.0f);
    std::vector<std::int32_t> all(zeros.size());
    std::iota(all.begin(), all.end(), 0);
    std::vector<Marginal> marginals(zeros.size());
    begin({});
    expect(model.step, marginals);
    absorb(all, zeros);
    begin({});
  }

  void begin(std::span<const float> covariates) override {
    float* const c = scratch_.take(model_.covariates);
    float* const hidden = scratch_.take(model_.hidden);
    std::fill_n(c, model_.covariates, 0.0f);
    std::copy(covariates.begin(), covariates.end(), c);
    model_.init0.forward(params_, 1, c, hidden);
    for (Index i = 0; i < model_.hidden; ++i) hidden[i] = std::max(hidden[i], 0.0f);
    model_.init1.forward(params_, 1, hidden, h_.data());
    tanh_inplace(h_.data(), model_.hidden);
    scratch_.reset();
    dt_ = model_.step;
  }

  void advance(double duration) override { walk(duration, dt_, h_); }

  void expect(double duration, std::span<Marginal> features) override {
    ahead_ = h_;
    double dt = dt_;
    walk(duration, dt, ahead_);
    const float* const phi = head(ahead_.data());
    for (Index j = 0; j < model_.features; ++j)
      features[static_cast<std::size_t>(j)] = model_.head.marginal(phi, j);
    scratch_.reset();
  }

  void absorb(std::span<const std::int32_t> features, std::span<const float> values) override {
    const Index n = model_.hidden, D = model_.features;
    const float* const phi = head(h_.data());
    Index* const first = indices_.take(D + 1);
    Index* const column = indices_.take(D);
    float* const v = scratch_.take(4 * D);
    float* const q = scratch_.take(model_.encoder.width() * D);
    Index count = 0;
    std::fill_n(column, D, Index{0});
    for (Index j = 0; j < D; ++j) {  // the encoder wants observations by feature
      first[j] = count;
      for (std::size_t k = 0; k < features.size(); ++k) {
        if (features[k] != j) continue;
        v[4 * count] = values[k];
        v[4 * count + 1] = phi[j];
        v[4 * count + 2] = phi[D + j];
        v[4 * count + 3] = model_.head.surprise(phi, j, values[k]);
        ++count;
      }
    }
    first[D] = count;
    model_.encoder.forward(params_, first, v, q);
    float* const gi = scratch_.take(3 * n);
    std::fill_n(gi, 3 * n, 0.0f);
    model_.encoder.project(Turned<float>{turned_values_.data() + model_.update.input_weights()},
                           3 * n, first, column, q, scratch_, gi);
    const auto cache = model_.update.cache(scratch_, static_cast<const float*>(h_.data()), 1);
    model_.update.forward(turned(), 1, gi, cache, ahead_.data());
    h_ = ahead_;
    scratch_.reset();
    indices_.reset();
  }

 private:
  struct Field {
    const GruOdeCell& cell;
    Turned<float> params;
    GruOdeCell::Cache<float> cache;
    float* state(int) { return const_cast<float*>(cache.h); }
    void evaluate(int, float* k) { cell.forward(params, 1, cache, k); }
  };

  Turned<float> turned() const { return {turned_values_.data()}; }

  const float* head(const float* h) {
    float* const a = scratch_.take(model_.head.stacked());
    float* const phi = scratch_.take(model_.head.rows());
    model_.head.forward(turned(), 1, h, a, phi);
    return phi;
  }

  void walk(double duration, double& dt, Vector<float>& h) {
    const Index n = model_.hidden;
    const Tableau& solver = model_.solver;
    float* const y = scratch_.take(n);
    Field field{model_.ode, turned(), model_.ode.cache(scratch_, static_cast<const float*>(y), 1)};
    float* const k = scratch_.take((Tableau::kMaxStages + 1) * n);
    float* const next = scratch_.take(n);
    if (!solver.adaptive && duration > 0) {
      const double steps = std::max(1.0, std::ceil(duration / model_.step - 1e-6));
      if (steps > 1e7)
        throw Error("the time ahead is more than 1e7 solver steps; check data.time_unit");
      const auto length = static_cast<float>(duration / steps);
      for (auto left = static_cast<std::int64_t>(steps); left > 0; --left)
        step_forward(solver, field, n, 1, h.data(), &length, k, h.data());
    }
    for (double left = duration; solver.adaptive && left > 0;) {
      const double length = dt > 0.99 * left ? left : dt;
      const auto taken = static_cast<float>(length);
      step_forward(solver, field, n, 1, h.data(), &taken, k, next);
      std::copy_n(next, n, y);
      field.evaluate(0, k + solver.stages * n);
      double norm = 0;
      error_norms(solver, n, 1, h.data(), next, &taken, k, model_.rtol, model_.atol, &norm);
      dt = length * step_factor(solver, norm);
      if (norm <= 1.0) {
        std::copy_n(next, n, h.data());
        left -= length;
      } else if (dt < 1e-10 * left) {
        throw Error("the tolerance cannot be met (the step vanished); raise model.atol");
      }
    }
    scratch_.reset();
  }

  const JumpOde<Head>& model_;
  const float* params_;
  Vector<float> turned_values_;
  Vector<float> h_, ahead_;
  double dt_ = 0.0;  // where the adaptive solver stands
  Arena<float> scratch_;
  Arena<Index> indices_;
};

}  // namespace edict

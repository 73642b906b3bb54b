#include "edict/engine/walk.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "edict/core/error.h"
#include "edict/core/lanes.h"
#include "edict/engine/gaussian_head.h"
#include "edict/engine/niw_head.h"
#include "edict/ode/runge_kutta.h"

namespace edict {
namespace {

// A series may not need more steps than this between two of its events: a wrong time unit should
// be said, not walked for a week.
constexpr double kMaxSteps = 1e7;

template <class S>
void gather(const S* from, std::span<const Index> columns, Index n, S* to) {
  for (Index column : columns) {
    copy_column(n, from + column * n, to);
    to += n;
  }
}

template <class S>
void scatter(const S* from, std::span<const Index> columns, Index n, S* to) {
  for (Index column : columns) {
    copy_column(n, from, to + column * n);
    from += n;
  }
}

}  // namespace

// The drift as ode/ sees it: one cache a stage, taken from the tape.
template <class S, class Head>
struct Walk<S, Head>::Field {
  const GruOdeCell& cell;
  const S* params;
  Turned<S> turned;
  Index width;
  GruOdeCell::Cache<S>* caches;
  S* r_h;
  S* grads;

  S* state(int stage) { return const_cast<S*>(caches[stage].h); }
  void evaluate(int stage, S* k) { cell.forward(turned, width, caches[stage], k); }
  void pull_back(int stage, const S* d_k, S* d_y) {
    cell.backward(params, width, d_k, caches[stage], r_h, d_y, grads);
  }
};

// ---------------------------------------------------------------------------------- boarding

// h(0) = tanh(B2 relu(B1 c + b1) + b2).
template <class S, class Head>
void Walk<S, Head>::board(const S* params, std::span<const Passenger<S>> passengers) {
  const auto count = static_cast<Index>(passengers.size());
  model_.turn(params, turned_);
  covariates_.setZero(model_.covariates, count);
  columns_.column.clear();
  columns_.stepping.clear();
  columns_.waiting.clear();
  for (Index i = 0; i < count; ++i) {
    const Agenda<S>& agenda = *passengers[i].agenda;
    for (std::size_t c = 0; c < agenda.covariates.size(); ++c)
      covariates_(static_cast<Index>(c), i) = agenda.covariates[c];
    columns_.column.push_back(
        {&agenda, passengers[i].absorb_until, 0, agenda.start, model_.step, 0});
  }
  init_hidden_.resize(model_.hidden, count);
  columns_.h.resize(model_.hidden, count);
  model_.init0.forward(params, count, covariates_.data(), init_hidden_.data());
  init_hidden_ = init_hidden_.cwiseMax(S(0));
  model_.init1.forward(params, count, init_hidden_.data(), columns_.h.data());
  tanh_inplace(columns_.h.data(), columns_.h.size());
  for (Index i = 0; i < count; ++i) plan(i);
}

// The initial states are recomputed rather than kept: they are overwritten by the walk.
template <class S, class Head>
void Walk<S, Head>::board_backward(const S* params, const S* d_h, S* grads) {
  const Index count = covariates_.cols(), n = model_.hidden;
  S* const d = scratch_.take(n * count);  // h(0) at first
  S* const d_hidden = scratch_.take(n * count);
  model_.init1.forward(params, count, init_hidden_.data(), d);
  tanh_inplace(d, n * count);
  for (Index i = 0; i < n * count; ++i) d[i] = d_h[i] * (S(1) - d[i] * d[i]);
  model_.init1.backward(params, count, init_hidden_.data(), d, d_hidden, grads);
  for (Index i = 0; i < n * count; ++i)
    d_hidden[i] = init_hidden_.data()[i] > S(0) ? d_hidden[i] : S(0);
  model_.init0.backward_weights(count, covariates_.data(), d_hidden, grads);
  scratch_.reset();
}

// Sends a column towards its next stop: to the walking ones, or to the waiting ones if it is there.
template <class S, class Head>
void Walk<S, Head>::plan(Index index) {
  Column& column = columns_.column[index];
  if (column.next_stop == column.agenda->stops.size()) return;
  const double gap = column.agenda->stops[column.next_stop].time - column.now;
  if (gap <= 0) {
    columns_.waiting.push_back(index);
    return;
  }
  if (!model_.solver.adaptive) {
    // ⌈Δ/step⌉ equal steps; the small allowance keeps 0.15/0.05 at three.
    const double steps = std::max(1.0, std::ceil(gap / model_.step - 1e-6));
    if (steps > kMaxSteps) fail(column, "would take more than 1e7 solver steps to reach");
    column.steps_left = static_cast<std::int64_t>(steps);
    column.dt = gap / steps;
  }
  columns_.stepping.push_back(index);
}

template <class S, class Head>
void Walk<S, Head>::fail(const Column& column, const char* what) const {
  throw Error(fmt::format(
      "series {}: event {} at time {} {}; check the value, data.time_unit and "
      "model.step",
      column.agenda->id, column.next_stop, column.agenda->stops[column.next_stop].time, what));
}

// --------------------------------------------------------------------------------- operations

template <class S, class Head>
bool Walk<S, Head>::tick() {
  if (columns_.stepping.empty() && columns_.waiting.empty()) return false;
  // A quarter of the chunk is wide enough for the jump's products to run well.
  const std::size_t enough = std::max<std::size_t>(1, columns_.column.size() / 4);
  if (columns_.stepping.empty() || columns_.waiting.size() >= enough)
    serve_stops();
  else
    take_step();
  return true;
}

template <class S, class Head>
void Walk<S, Head>::take_step() {
  const Index n = model_.hidden, w = static_cast<Index>(columns_.stepping.size());
  const Tableau& solver = model_.solver;
  StepOp op{op_columns_.size(), w, nullptr, stages_.size()};
  op_columns_.insert(op_columns_.end(), columns_.stepping.begin(), columns_.stepping.end());

  S* const dt = tape_.take(w);
  op.dt = dt;
  for (int stage = 0; stage < solver.stages; ++stage)
    stages_.push_back(model_.ode.cache(tape_, tape_.take(n * w), w));
  Field field{model_.ode, nullptr, turned(), w, stages_.data() + op.first_stage, nullptr, nullptr};

  S* const h = field.state(0);
  gather<S>(columns_.h.data(), columns_.stepping, n, h);
  for (Index i = 0; i < w; ++i) {
    Column& column = columns_.column[columns_.stepping[i]];
    if (solver.adaptive) {
      const double left = column.agenda->stops[column.next_stop].time - column.now;
      // A last sliver of a step would cost a whole one.
      if (column.dt > 0.99 * left) column.dt = left;
    }
    dt[i] = static_cast<S>(column.dt);
  }
  S* const k = scratch_.take((solver.stages + 1) * n * w);
  S* const h_next = scratch_.take(n * w);
  step_forward(solver, field, n, w, h, dt, k, h_next);

  arrived_.clear();
  std::size_t kept = 0;
  if (solver.adaptive) {
    const auto end = model_.ode.cache(scratch_, static_cast<const S*>(h_next), w);
    model_.ode.forward(turned(), w, end, k + solver.stages * n * w);
    error_norms_.resize(static_cast<std::size_t>(w));
    error_norms(solver, n, w, h, h_next, dt, k, model_.rtol, model_.atol, error_norms_.data());
  }
  for (Index i = 0; i < w; ++i) {
    const Index index = columns_.stepping[i];
    Column& column = columns_.column[index];
    const double target = column.agenda->stops[column.next_stop].time;
    bool there;
    if (solver.adaptive) {
      const double taken = column.dt, norm = error_norms_[i];
      column.dt = taken * step_factor(solver, norm);
      if (norm <= 1.0) {
        column.now += taken;
        there = column.now >= target - 1e-12 * std::max(1.0, std::abs(target));
      } else {  // tried again with a shorter step; on the tape it becomes a step of length 0
        dt[i] = S(0);
        std::copy(h + i * n, h + (i + 1) * n, h_next + i * n);
        there = false;
        if (column.dt < 1e-10 * (target - column.now))
          fail(column, "cannot be reached within the tolerance (the step vanished)");
      }
    } else {
      there = --column.steps_left == 0;
    }
    if (there)
      arrived_.push_back(index);
    else
      columns_.stepping[kept++] = index;
  }
  scatter(h_next, {op_columns_.data() + op.first_column, static_cast<std::size_t>(w)}, n,
          columns_.h.data());
  columns_.stepping.resize(kept);
  for (Index index : arrived_) {
    Column& column = columns_.column[index];
    column.now = column.agenda->stops[column.next_stop].time;
    columns_.waiting.push_back(index);
  }
  op_is_stop_.push_back(0);
  step_ops_.push_back(op);
  scratch_.reset();
}

template <class S, class Head>
void Walk<S, Head>::step_back(const S* params, const StepOp& op, S* d_h, S* grads) {
  const Index n = model_.hidden, w = op.width;
  const std::span<const Index> columns{op_columns_.data() + op.first_column,
                                       static_cast<std::size_t>(w)};
  const int stages = model_.solver.stages;
  S* const d = scratch_.take(n * w);
  S* const d_k = scratch_.take(n * w);
  S* const d_y = scratch_.take(stages * n * w);
  gather<S>(d_h, columns, n, d);
  S* const r_h = scratch_.take(n * w);
  Field field{model_.ode, params, {}, w, stages_.data() + op.first_stage, r_h, grads};
  step_backward(model_.solver, field, n, w, op.dt, d_k, d_y, d);
  scatter(d, columns, n, d_h);
  scratch_.reset();
}

template <class S, class Head>
Observed<S> Walk<S, Head>::observed(const Column& column) const {
  const auto& stop = column.agenda->stops[column.next_stop];
  return {column.agenda->feature.data() + stop.first, column.agenda->value.data() + stop.first,
          static_cast<Index>(stop.count)};
}

template <class S, class Head>
void Walk<S, Head>::serve_stops() {
  const Index n = model_.hidden, w = static_cast<Index>(columns_.waiting.size());
  const auto absorbs = [&](Index index) {
    const Column& column = columns_.column[index];
    const auto& stop = column.agenda->stops[column.next_stop];
    return (stop.what & Agenda<S>::kAbsorb) && stop.count > 0 && stop.time < column.absorb_until;
  };
  StopOp op{};
  op.first_column = op_columns_.size();
  op.width = w;
  std::copy_if(columns_.waiting.begin(), columns_.waiting.end(), std::back_inserter(op_columns_),
               absorbs);
  op.absorbing = static_cast<Index>(op_columns_.size() - op.first_column);
  std::remove_copy_if(columns_.waiting.begin(), columns_.waiting.end(),
                      std::back_inserter(op_columns_), absorbs);
  columns_.waiting.clear();
  const std::span<const Index> columns{op_columns_.data() + op.first_column,
                                       static_cast<std::size_t>(w)};

  S* const h = tape_.take(n * w);
  S* const a = tape_.take(model_.head.stacked() * w);
  S* const phi = tape_.take(model_.head.rows() * w);
  op.d_phi = tape_.take(model_.head.rows() * w);
  op.h = h, op.a = a, op.phi = phi;
  gather<S>(columns_.h.data(), columns, n, h);
  model_.head.forward(turned(), w, h, a, phi);
  std::fill_n(op.d_phi, model_.head.rows() * w, S(0));

  const Index rows = model_.head.rows();
  for (Index i = 0; i < w; ++i) {
    const Column& column = columns_.column[columns[i]];
    const auto& stop = column.agenda->stops[column.next_stop];
    if ((stop.what & Agenda<S>::kScore) && stop.count > 0) {
      const Observed<S> seen = observed(column);
      const double before = sums_.nll + sums_.evidence;
      model_.head.score(phi + i * rows, seen, static_cast<S>(weights_.scale),
                        static_cast<S>(weights_.evidence), op.d_phi + i * rows, sums_);
      if (!std::isfinite(sums_.nll + sums_.evidence - before))
        fail(column, "gave a loss that is not finite");
      for (Index k = 0; k < seen.count; ++k) {
        const double error = static_cast<double>(seen.value[k] - phi[i * rows + seen.feature[k]]);
        sums_.squared_error += error * error;
      }
      sums_.observations += static_cast<double>(seen.count);
      sums_.events += 1;
    }
    if (inference_ && inference_->on_query && (stop.what & Agenda<S>::kQuery))
      inference_->on_query(static_cast<std::size_t>(columns[i]), column.next_stop, phi + i * rows,
                           h + i * n);
  }
  if (op.absorbing > 0) absorb(op);

  for (Index index : columns) {
    Column& column = columns_.column[index];
    column.now = column.agenda->stops[column.next_stop++].time;
    plan(index);
  }
  op_is_stop_.push_back(1);
  stop_ops_.push_back(op);
  scratch_.reset();
}

// The jump of the first op.absorbing columns, and the KL term that asks it to be Bayesian.
template <class S, class Head>
void Walk<S, Head>::absorb(StopOp& op) {
  const Index n = model_.hidden, w = op.absorbing, rows = model_.head.rows();
  const Index features = model_.features;
  const std::span<const Index> columns{op_columns_.data() + op.first_column,
                                       static_cast<std::size_t>(w)};

  // Observations by feature: count, offsets, place.
  Index* const first = op.first_of_feature = index_tape_.take(features + 2);
  std::fill_n(first, features + 2, Index{0});
  for (Index i = 0; i < w; ++i) {
    const Observed<S> seen = observed(columns_.column[columns[i]]);
    for (Index k = 0; k < seen.count; ++k) ++first[seen.feature[k] + 2];
  }
  for (Index j = 2; j <= features + 1; ++j) first[j] += first[j - 1];
  const Index count = first[features + 1];
  op.observation_column = index_tape_.take(count);
  S* const v = tape_.take(4 * count);
  S* const q = tape_.take(model_.encoder.width() * count);
  for (Index i = 0; i < w; ++i) {
    const Column& column = columns_.column[columns[i]];
    const Observed<S> seen = observed(column);
    const S* const p = op.phi + i * rows;
    for (Index k = 0; k < seen.count; ++k) {
      const Index j = seen.feature[k];
      S x = seen.value[k];
      if (inference_ && inference_->guard.active()) {
        const bool own = !inference_->population_mean.empty();
        const Guard::Band band = inference_->guard.band(
            model_.head.marginal(p, j), own ? inference_->population_mean[j] : 0.0,
            own ? inference_->population_deviation[j] : 1.0);
        const double raw = static_cast<double>(x), used = inference_->guard.clip(raw, band);
        if (used != raw) {
          if (inference_->on_clip)
            inference_->on_clip(static_cast<std::size_t>(columns[i]), column.next_stop,
                                seen.feature[k], raw, used, (raw - band.centre) / band.sigma);
          x = static_cast<S>(used);
        }
      }
      const Index place = first[j + 1]++;  // leaves first[j] … first[j+1] as feature j's range
      op.observation_column[place] = i;
      v[4 * place] = x;
      v[4 * place + 1] = p[j];
      v[4 * place + 2] = p[features + j];
      v[4 * place + 3] = model_.head.surprise(p, j, x);
    }
  }
  model_.encoder.forward(turned_.data(), first, v, q);
  op.v = v, op.q = q;

  S* const gi = scratch_.take(3 * n * w);
  std::fill_n(gi, 3 * n * w, S(0));
  model_.encoder.project(Turned<S>{turned_.data() + model_.update.input_weights()}, 3 * n, first,
                         op.observation_column, q, scratch_, gi);
  op.jump = model_.update.cache(tape_, op.h, w);
  S* const h_post = tape_.take(n * w);
  op.h_post = h_post;
  model_.update.forward(turned(), w, gi, op.jump, h_post);
  scatter(h_post, columns, n, columns_.h.data());

  if (weights_.kl <= 0) return;
  S* const a_post = tape_.take(model_.head.stacked() * w);
  S* const phi_post = tape_.take(rows * w);
  op.d_phi_post = tape_.take(rows * w);
  op.a_post = a_post, op.phi_post = phi_post;
  std::fill_n(op.d_phi_post, rows * w, S(0));
  model_.head.forward(turned(), w, h_post, a_post, phi_post);
  for (Index i = 0; i < w; ++i) {
    const Column& column = columns_.column[columns[i]];
    if (!(column.agenda->stops[column.next_stop].what & Agenda<S>::kScore)) continue;
    const double before = sums_.kl;
    model_.head.agree(op.phi + i * rows, phi_post + i * rows, observed(column),
                      static_cast<S>(weights_.scale * weights_.kl), op.d_phi + i * rows,
                      op.d_phi_post + i * rows, sums_);
    if (!std::isfinite(sums_.kl - before)) fail(column, "gave a KL term that is not finite");
  }
}

template <class S, class Head>
void Walk<S, Head>::stop_back(const S* params, const StopOp& op, S* d_h, S* grads) {
  const Index n = model_.hidden, w = op.absorbing, rows = model_.head.rows();
  const std::span<const Index> columns{op_columns_.data() + op.first_column,
                                       static_cast<std::size_t>(op.width)};
  S* const d = scratch_.take(n * op.width);
  S* const d_a = scratch_.take(model_.head.stacked() * op.width);
  gather<S>(d_h, columns, n, d);

  if (w > 0) {
    if (op.phi_post)  // φ_post = head(h_post)
      model_.head.backward(params, w, op.h_post, op.a_post, op.phi_post, op.d_phi_post, d_a, d,
                           grads);
    S* const d_pre = scratch_.take(n * w);
    S* const d_gh = scratch_.take(3 * n * w);
    model_.update.backward(params, w, d, op.jump, d_pre, d_gh, grads);  // h_post = GRU(gi, h)
    std::copy_n(d_pre, n * w, d);

    const Index features = model_.features, count = op.first_of_feature[features];
    S* const d_q = scratch_.take(model_.encoder.width() * count);
    S* const d_v = scratch_.take(4 * count);
    const Index weights = model_.update.input_weights();
    model_.encoder.project_backward(params + weights, 3 * n, op.first_of_feature,
                                    op.observation_column, op.q, op.jump.rzn, scratch_, d_q,
                                    grads + weights);  // gi = W_ih q
    model_.encoder.backward(params, op.first_of_feature, op.v, op.q, d_q, d_v, grads);
    for (Index j = 0; j < features; ++j)  // v = [x, μ, log ψ, e]
      for (Index k = op.first_of_feature[j]; k < op.first_of_feature[j + 1]; ++k) {
        const Index i = op.observation_column[k];
        S* const d_p = op.d_phi + i * rows;
        d_p[j] += d_v[4 * k + 1];
        d_p[features + j] += d_v[4 * k + 2];
        model_.head.surprise_backward(op.phi + i * rows, j, op.v[4 * k + 3], d_v[4 * k + 3], d_p);
      }
  }
  model_.head.backward(params, op.width, op.h, op.a, op.phi, op.d_phi, d_a, d, grads);
  scatter(static_cast<const S*>(d), columns, n, d_h);
  scratch_.reset();
}

// --------------------------------------------------------------------------------------- runs

template <class S, class Head>
void Walk<S, Head>::forget_tape() {
  tape_.reset();
  index_tape_.reset();
  step_ops_.clear();
  stop_ops_.clear();
  op_is_stop_.clear();
  op_columns_.clear();
  stages_.clear();
}

template <class S, class Head>
LossSums Walk<S, Head>::infer(const S* params, std::span<const Passenger<S>> passengers,
                              const Inference& inference) {
  inference_ = &inference;
  weights_ = {};
  sums_ = {};
  board(params, passengers);
  do forget_tape();
  while (tick());
  sums_.series = static_cast<double>(passengers.size());
  return sums_;
}

template <class S, class Head>
LossSums Walk<S, Head>::train(const S* params, std::span<const Passenger<S>> passengers,
                              const LossWeights& weights, std::size_t tape_bytes, S* grads,
                              const EndLoss& at_end) {
  inference_ = nullptr;
  weights_ = weights;
  sums_ = {};
  forget_tape();
  board(params, passengers);

  std::size_t segments = 0;
  ticks_.clear();
  const auto begin_segment = [&] {
    if (segments == snapshots_.size()) snapshots_.emplace_back();
    snapshots_[segments++] = columns_;
    ticks_.push_back(0);
    forget_tape();
  };
  begin_segment();
  while (tick()) {
    ++ticks_.back();
    if (tape_.bytes() > tape_bytes) begin_segment();
  }
  LossSums result = sums_;
  result.series = static_cast<double>(passengers.size());

  d_h_.setZero(model_.hidden, columns_.h.cols());
  if (at_end) at_end(columns_.h.data(), d_h_.data());
  final_states_ = columns_.h;
  backward(params, d_h_.data(), grads);
  while (--segments > 0) {
    columns_ = snapshots_[segments - 1];
    forget_tape();
    for (std::size_t i = 0; i < ticks_[segments - 1]; ++i) tick();
    backward(params, d_h_.data(), grads);
  }
  columns_.h = final_states_;
  board_backward(params, d_h_.data(), grads);
  return result;
}

template <class S, class Head>
void Walk<S, Head>::backward(const S* params, S* d_h, S* grads) {
  std::size_t step = step_ops_.size(), stop = stop_ops_.size();
  for (std::size_t op = op_is_stop_.size(); op-- > 0;) {
    if (op_is_stop_[op])
      stop_back(params, stop_ops_[--stop], d_h, grads);
    else
      step_back(params, step_ops_[--step], d_h, grads);
  }
}

template class Walk<float, NiwHead>;
template class Walk<double, NiwHead>;
template class Walk<float, GaussianHead>;
template class Walk<double, GaussianHead>;

}  // namespace edict

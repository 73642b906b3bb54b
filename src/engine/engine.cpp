#include "engine/engine.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/not_finite.h"
#include "engine/gather.h"

namespace edict {

template <class S, Head H>
bool Engine<S, H>::tick() {
  leave_if_stopped(options_ ? options_->stop : loss_.stop);
  const bool all_wait = state_.moving.empty() && state_.branches.empty();
  if (all_wait && state_.waiting.empty() && state_.arrived.empty()) return false;
  // A quarter of the chunk is wide enough for the jump's products to run well.
  const std::size_t enough = std::max<std::size_t>(1, state_.columns.size() / 4);
  const bool absorb = all_wait || state_.waiting.size() >= enough;
  if (absorb || state_.arrived.size() >= enough)
    serve(absorb);
  else
    this->take_step();
  return true;
}

template <class S, Head H>
Observed<S> Engine<S, H>::scored(const Column& column, std::size_t stop) {
  const Observed<S> seen = observed(column, stop);
  if (!network_.recall || network_.recall->learns_all()) return seen;
  scored_feature_.clear();
  scored_value_.clear();
  for (Index k = 0; k < seen.count; ++k)
    if (network_.recall->learns(seen.feature[k])) {
      scored_feature_.push_back(seen.feature[k]);
      scored_value_.push_back(seen.value[k]);
    }
  return {scored_feature_.data(), scored_value_.data(), static_cast<Index>(scored_value_.size())};
}

// A state that is not finite gives a φ that is not finite: it must not pass for an answer.
template <class S, Head H>
void Engine<S, H>::check_finite(const Column& column, std::size_t stop, const S* phi) const {
  S sum(0);
  for (Index i = 0; i < network_.head.rows(); ++i)
    sum += phi[i] * S(0);  // NaN if any is not finite
  if (sum == S(0)) return;
  Index j = 0;
  while (j + 1 < network_.features && std::isfinite(network_.head.mean(phi, j)) &&
         std::isfinite(network_.head.marginal(phi, j).scale))
    ++j;
  this->template fail<NotFinite>(
      column, stop,
      fmt::format("gave a distribution of {} that is not finite", network_.feature_name(j)));
}

// The loss of what was observed at a stop, judged before it is absorbed.
template <class S, Head H>
void Engine<S, H>::judge(const Column& column, std::size_t stop, const S* phi, S* d_phi) {
  const Stop& at = column.timeline->stops[stop];
  if (!(at.what & Timeline<S>::kScore)) return;
  const Observed<S> seen = scored(column, stop);
  if (seen.count == 0) return;
  const double before = sums_.nll + sums_.evidence;
  network_.head.score(phi, seen, static_cast<S>(loss_.scale), static_cast<S>(loss_.evidence), d_phi,
                      sums_);
  if (!std::isfinite(sums_.nll + sums_.evidence - before))
    this->template fail<NotFinite>(
        column, stop,
        fmt::format("gave a loss that is not finite (its first value is of {})",
                    network_.feature_name(seen.feature[0])));
  for (Index k = 0; k < seen.count; ++k) {
    const auto error =
        static_cast<double>(seen.value[k] - network_.head.mean(phi, seen.feature[k]));
    sums_.squared_error += error * error;
    if (options_ && options_->crps)
      sums_.crps +=
          crps(network_.head.marginal(phi, seen.feature[k]), static_cast<double>(seen.value[k]));
  }
  sums_.observations += static_cast<double>(seen.count);
  sums_.events += 1;
}

template <class S, Head H>
void Engine<S, H>::answer(Index index, const Stop& stop, std::size_t query, std::size_t answer,
                          const S* phi, const S* h) {
  if (!options_ || answers_.empty() || !(stop.what & Timeline<S>::kQuery)) return;
  Answer& to = answers_[static_cast<std::size_t>(index)];
  const Timeline<S>& timeline = *column_at(index).timeline;
  if (options_->marginals == InferenceOptions::Marginals::all) {
    for (Index j = 0; j < network_.features; ++j)
      to.marginals[answer++] = network_.head.marginal(phi, j);
  } else if (options_->marginals == InferenceOptions::Marginals::observed) {
    for (std::uint32_t k = stop.first; k < stop.first + stop.count; ++k)
      to.marginals[answer++] = network_.head.marginal(phi, timeline.feature[k]);
  }
  if (options_->states) {
    const Index n = network_.hidden;
    for (Index i = 0; i < n; ++i)
      to.states[query * static_cast<std::size_t>(n) + static_cast<std::size_t>(i)] =
          static_cast<float>(h[i]);
  }
}

// The memory of the columns of a stop, their ages at its time; null where nothing is remembered.
template <class S, Head H>
const S* Engine<S, H>::remembered(const StopOp& op, std::span<const Index> places) {
  const Memory& memory = network_.memory;
  if (memory.rows() == 0) return nullptr;
  S* const result = tape_.take(memory.rows() * op.width);
  for (Index i = 0; i < op.width; ++i) {
    const Index place = places[static_cast<std::size_t>(i)];
    const Branch* const branch =
        i < op.absorbing ? nullptr : &state_.arrived[static_cast<std::size_t>(i - op.absorbing)];
    const Column& column =
        state_.columns[static_cast<std::size_t>(branch ? branch->column : place)];
    const Clock& clock = branch ? branch->clock : column.clock;
    const double time = column.timeline->stops[branch ? branch->stop : column.absorb].time;
    memory.advance(state_.memory.col(place).data(), static_cast<S>(time - clock.start),
                   result + i * memory.rows());
  }
  return result;
}

// φ of w columns: what the head says, and what it recalls.
template <class S, Head H>
auto Engine<S, H>::read(Index w, const S* h, const S* remembered) -> HeadOp {
  const Index rows = network_.head.rows();
  HeadOp op{h, remembered, nullptr, nullptr, tape_.take(rows * w), {}};
  std::fill_n(op.d_phi, rows * w, S(0));
  S* const a = tape_.take(network_.head.stacked() * w);
  S* const phi = tape_.take(rows * w);
  network_.head.forward(weights_, w, h, a, phi);
  op.a = a, op.phi = phi;
  if (network_.recall) {
    op.recall = network_.recall->cache(tape_, w);
    network_.recall->forward(weights_, w, h, network_.memory, remembered, rows, op.recall, phi);
  }
  return op;
}

// Through both; d_h += …, op.d_phi is used up. d_remembered += …, where it is not null.
template <class S, Head H>
void Engine<S, H>::read_backward(const S* params, Index w, const HeadOp& op, S* d_h,
                                 S* d_remembered, S* grads) {
  S* const d_a = scratch_.take(network_.head.stacked() * w);
  if (network_.recall)
    network_.recall->backward(params, w, op.h, network_.memory, op.remembered, network_.head.rows(),
                              op.recall, scratch_, op.d_phi, d_h, d_remembered, grads);
  network_.head.backward(params, w, op.h, op.a, op.phi, op.d_phi, d_a, d_h, grads);
}

// Branches that arrived, and the columns at an event if these are to be absorbed now.
template <class S, Head H>
void Engine<S, H>::serve(bool absorbing) {
  const Index n = network_.hidden, rows = network_.head.rows();
  StopOp op{};
  op.first = op_places_.size();
  op.absorbing = absorbing ? static_cast<Index>(state_.waiting.size()) : 0;
  if (absorbing) op_places_.insert(op_places_.end(), state_.waiting.begin(), state_.waiting.end());
  for (const Branch& branch : state_.arrived) op_places_.push_back(branch.place);
  const auto w = op.width = static_cast<Index>(op_places_.size() - op.first);
  const std::span<const Index> places{op_places_.data() + op.first, static_cast<std::size_t>(w)};

  S* const h = tape_.take(n * w);
  gather<S>(state_.h.data(), n, places, n, h);
  op.pre = read(w, h, remembered(op, places));
  const S* const phi = op.pre.phi;
  op.final_of = index_tape_.take(w);
  std::fill_n(op.final_of, w, Index{-1});
  for (Index i = 0; i < w; ++i) {
    const bool absorbed = i < op.absorbing;
    const Index place = places[static_cast<std::size_t>(i)];
    const Branch branch = absorbed ? this->branch_to(place, column_at(place).absorb)
                                   : state_.arrived[static_cast<std::size_t>(i - op.absorbing)];
    const Column& column = column_at(branch.column);
    const Stop& stop = column.timeline->stops[branch.stop];
    check_finite(column, branch.stop, phi + i * rows);
    judge(column, branch.stop, phi + i * rows, op.pre.d_phi + i * rows);
    answer(branch.column, stop, branch.query, branch.answer, phi + i * rows, h + i * n);
    // The end of a timeline: where a classifier reads the state.
    if (!absorbed && (stop.what & Timeline<S>::kQuery) &&
        branch.stop + 1 == column.timeline->stops.size() && final_.cols() > 0) {
      op.final_of[i] = branch.column;
      copy_column(n, h + i * n, final_.col(branch.column).data());
    }
    if (branch.place >= static_cast<Index>(state_.columns.size()))
      state_.free_places.push_back(branch.place);
  }
  state_.arrived.clear();
  if (op.absorbing > 0) absorb(op, places.first(static_cast<std::size_t>(op.absorbing)));
  op_is_stop_.push_back(1);
  stop_ops_.push_back(op);
  scratch_.reset();
}

// The jump of columns at an event, from which they go on.
template <class S, Head H>
void Engine<S, H>::absorb(StopOp& op, std::span<const Index> places) {
  const Index n = network_.hidden, w = op.absorbing;
  JumpOp& jump = op.jump;
  sort_observations(jump, places);
  encode_observations(op.pre, places, jump);
  S* const gi = scratch_.take(3 * n * w);
  std::fill_n(gi, 3 * n * w, S(0));
  network_.encoder.project(Transposed<S>{weights_.values + network_.update.input_weights()}, 3 * n,
                           jump.first_of_feature, jump.observation_column, jump.q, scratch_, gi);
  jump.gru = network_.update.cache(tape_, op.pre.h, w);
  S* const h = tape_.take(n * w);
  jump.h = h;
  network_.update.forward(weights_, w, gi, jump.gru, h);
  scatter(static_cast<const S*>(h), places, n, state_.h.data(), n);
  const Index memory_rows = network_.memory.rows();
  for (Index i = 0; i < w && memory_rows > 0; ++i)
    std::copy_n(jump.remembered + i * memory_rows, memory_rows,
                state_.memory.col(places[static_cast<std::size_t>(i)]).data());
  if (loss_.kl > 0) judge_jump(op, places);
  state_.waiting.clear();
  for (const Index index : places) {
    Column& column = column_at(index);
    const double time = column.timeline->stops[column.absorb].time;
    column.clock = network_.propagator.begin(time, column.clock.dt);
    column.next = column.absorb + 1;
    this->plan(index);
  }
}

// Observations by feature: count, offsets, place.
template <class S, Head H>
void Engine<S, H>::sort_observations(JumpOp& jump, std::span<const Index> places) {
  const Index features = network_.features;
  // One more than is read, so that the offsets can be moved on while places are given away.
  Index* const first = jump.first_of_feature = index_tape_.take(features + 2);
  std::fill_n(first, features + 2, Index{0});
  for (const Index index : places) {
    const Observed<S> seen = observed(column_at(index), column_at(index).absorb);
    for (Index k = 0; k < seen.count; ++k) ++first[seen.feature[k] + 2];
  }
  for (Index j = 2; j <= features + 1; ++j) first[j] += first[j - 1];
  jump.observation_column = index_tape_.take(first[features + 1]);
}

// What the encoder makes of each observation, and what is remembered with it.
template <class S, Head H>
void Engine<S, H>::encode_observations(const HeadOp& pre, std::span<const Index> places,
                                       JumpOp& jump) {
  const auto w = static_cast<Index>(places.size());
  const Index rows = network_.head.rows(), memory_rows = network_.memory.rows();
  Index* const first = jump.first_of_feature;
  const Index count = first[network_.features + 1];
  S* const v = tape_.take(FeatureEncoder::kInputs * count);
  S* const q = tape_.take(network_.encoder.width() * count);
  S* const e = network_.absorb.raw() ? nullptr : tape_.take(count);
  S* const after = tape_.take(memory_rows * w);
  if (memory_rows > 0) std::copy_n(pre.remembered, memory_rows * w, after);
  for (Index i = 0; i < w; ++i) {
    const Index index = places[static_cast<std::size_t>(i)];
    const Observed<S> seen = observed(column_at(index), column_at(index).absorb);
    const S* const phi = pre.phi + i * rows;
    for (Index k = 0; k < seen.count; ++k) {
      const Index j = seen.feature[k];
      S x = guarded_value(index, j, seen.value[k], phi);
      const Index place = first[j + 1]++;  // leaves first[j] … first[j+1] as feature j's range
      jump.observation_column[place] = i;
      S* const inputs = v + FeatureEncoder::kInputs * place;
      if (e)
        x = network_.head.bounded_inputs(phi, j, x, network_.absorb, inputs, e[place]);
      else
        network_.head.encoder_inputs(phi, j, x, inputs);
      if (memory_rows > 0) network_.memory.observe(j, x, after + i * memory_rows);
    }
  }
  network_.encoder.forward(weights_.values, first, v, q);
  jump.v = v, jump.q = q, jump.e = e, jump.remembered = after;
}

// An observation as the guard lets it pass.
template <class S, Head H>
S Engine<S, H>::guarded_value(Index index, Index feature, S x, const S* phi) {
  if (!options_) return x;
  return guarded(
      options_->guard, options_->population, static_cast<std::int32_t>(feature), x,
      [&] { return network_.head.marginal(phi, feature); }, column_at(index).absorb,
      answers_.empty() ? nullptr : &answers_[static_cast<std::size_t>(index)].clips);
}

// The KL term that asks the jump to be Bayesian.
template <class S, Head H>
void Engine<S, H>::judge_jump(StopOp& op, std::span<const Index> places) {
  const Index rows = network_.head.rows();
  op.jump.post = read(op.absorbing, op.jump.h, op.jump.remembered);
  for (Index i = 0; i < op.absorbing; ++i) {
    const Column& column = column_at(places[static_cast<std::size_t>(i)]);
    if (!(column.timeline->stops[column.absorb].what & Timeline<S>::kScore)) continue;
    const double before = sums_.kl;
    network_.head.kl(op.pre.phi + i * rows, op.jump.post.phi + i * rows,
                     scored(column, column.absorb), static_cast<S>(loss_.scale * loss_.kl),
                     op.pre.d_phi + i * rows, op.jump.post.d_phi + i * rows, sums_);
    if (!std::isfinite(sums_.kl - before))
      this->template fail<NotFinite>(column, column.absorb, "gave a KL term that is not finite");
  }
}

template <class S, Head H>
void Engine<S, H>::stop_backward(const S* params, const StopOp& op, const S* d_final, S* d_h,
                                 S* d_memory, S* grads) {
  const Index n = network_.hidden, w = op.absorbing;
  const std::span<const Index> places{op_places_.data() + op.first,
                                      static_cast<std::size_t>(op.width)};
  const auto absorbed = static_cast<std::size_t>(w);
  S* const d = scratch_.take(n * op.width);
  gather<S>(d_h, n, places.first(absorbed), n, d);
  std::fill_n(d + w * n, (op.width - w) * n, S(0));
  const Index kept = memory_gradient_rows();
  S* const d_remembered = kept > 0 ? scratch_.take(kept * op.width) : nullptr;
  if (d_remembered) {
    gather<S>(d_memory, kept, places.first(absorbed), kept, d_remembered);
    std::fill_n(d_remembered + w * kept, (op.width - w) * kept, S(0));
  }
  for (Index i = w; i < op.width; ++i)
    if (d_final && op.final_of[i] >= 0) copy_column(n, d_final + op.final_of[i] * n, d + i * n);

  if (w > 0) jump_backward(params, op, d, d_remembered, grads);
  read_backward(params, op.width, op.pre, d, d_remembered, grads);
  scatter(static_cast<const S*>(d), places.first(absorbed), n, d_h, n);
  // A branch only reads: its gradient joins what else comes to its place.
  scatter_add(static_cast<const S*>(d + w * n), places.subspan(absorbed), n, d_h, n);
  if (d_remembered) {
    scatter(static_cast<const S*>(d_remembered), places.first(absorbed), kept, d_memory, kept);
    scatter_add(static_cast<const S*>(d_remembered + w * kept), places.subspan(absorbed), kept,
                d_memory, kept);
  }
  scratch_.reset();
}

// d, d_remembered: of what there is after the jump on entry, of what was before it on return.
template <class S, Head H>
void Engine<S, H>::jump_backward(const S* params, const StopOp& op, S* d, S* d_remembered,
                                 S* grads) {
  const Index n = network_.hidden, w = op.absorbing;
  const JumpOp& jump = op.jump;
  if (jump.post.phi)  // φ_post = head(h_post)
    read_backward(params, w, jump.post, d, d_remembered, grads);
  S* const d_pre = scratch_.take(n * w);
  S* const d_gh = scratch_.take(3 * n * w);
  network_.update.backward(params, w, d, jump.gru, d_pre, d_gh, grads);  // h_post = GRU(gi, h)
  std::copy_n(d_pre, n * w, d);

  const Index count = jump.first_of_feature[network_.features];
  S* const d_q = scratch_.take(network_.encoder.width() * count);
  S* const d_v = scratch_.take(FeatureEncoder::kInputs * count);
  const Index weights = network_.update.input_weights();
  network_.encoder.project_backward(params + weights, 3 * n, jump.first_of_feature,
                                    jump.observation_column, jump.q, jump.gru.rzn, scratch_, d_q,
                                    grads + weights);  // gi = W_ih q
  network_.encoder.backward(params, jump.first_of_feature, jump.v, jump.q, d_q, d_v, grads);
  encode_backward(op, d_v, d_remembered);
}

// From what the encoder read back to φ and the memory.
template <class S, Head H>
void Engine<S, H>::encode_backward(const StopOp& op, S* d_v, S* d_remembered) {
  constexpr Index kInputs = FeatureEncoder::kInputs;
  const Index rows = network_.head.rows(), kept = memory_gradient_rows();
  const JumpOp& jump = op.jump;
  for (Index j = 0; j < network_.features; ++j)
    for (Index k = jump.first_of_feature[j]; k < jump.first_of_feature[j + 1]; ++k) {
      const Index i = jump.observation_column[k];
      const S* const phi = op.pre.phi + i * rows;
      S* const d_phi = op.pre.d_phi + i * rows;
      const S* const inputs = jump.v + kInputs * k;
      S* const d_inputs = d_v + kInputs * k;
      if (d_remembered)  // what the encoder read is also what is remembered
        d_inputs[0] += network_.memory.observe_backward(j, d_remembered + i * kept);
      if (jump.e)
        network_.head.bounded_inputs_backward(phi, j, jump.e[k], network_.absorb, inputs,
                                              static_cast<const S*>(d_inputs), d_phi);
      else
        network_.head.encoder_inputs_backward(phi, j, inputs, static_cast<const S*>(d_inputs),
                                              d_phi);
    }
}

template <class S, Head H>
void Engine<S, H>::forget_tape() {
  Base::forget_tape();
  index_tape_.reset();
  stop_ops_.clear();
}

template class Engine<float, NiwHead>;
template class Engine<double, NiwHead>;
template class Engine<float, GaussianHead>;
template class Engine<double, GaussianHead>;

}  // namespace edict

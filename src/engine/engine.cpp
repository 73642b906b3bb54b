#include "engine/engine.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/lanes.h"
#include "base/not_finite.h"

namespace edict {
namespace {

// So many columns take a step together, at least; more branches wait for the next one.
constexpr std::size_t kWidestStep = 512;

// Rows of some columns of a matrix (`stride` apart) side by side, and back.
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

}  // namespace

// -------------------------------------------------------------------------------- where to go

template <class S, Head H>
void Engine<S, H>::begin(Transposed<S> weights, Examples examples) {
  const auto count = static_cast<Index>(examples.size());
  const Index n = network_.hidden;
  weights_ = weights;
  sums_ = {};
  sums_.series = static_cast<double>(count);
  state_.columns.clear();
  state_.moving.clear();
  state_.waiting.clear();
  state_.branches.clear();
  state_.arrived.clear();
  state_.free_places.clear();
  // A step that is rejected keeps branches under way: memory for that is taken at once.
  state_.free_places.reserve(2 * examples.size());
  state_.branches.reserve(examples.size());
  kept_branches_.reserve(examples.size());
  covariates_.setZero(network_.covariates, count);
  bool fresh = false;
  for (Index i = 0; i < count; ++i) {
    const BasicExample<S>& example = examples[static_cast<std::size_t>(i)];
    const Timeline<S>& timeline = *example.timeline;
    std::copy(timeline.covariates.begin(), timeline.covariates.end(), covariates_.col(i).data());
    fresh |= example.state == nullptr;
    const double dt = example.dt > 0 ? example.dt : network_.propagator.first_step();
    state_.columns.push_back({&timeline, example.absorb_until, 0, 0, 0, 0, i,
                              network_.propagator.begin(timeline.start, dt)});
  }
  // Places for branches come and go; what is there is kept. A series that is asked once takes two.
  if (state_.h.rows() != n || state_.h.cols() < 3 * count) {
    state_.h.resize(n, 3 * count);
    state_.memory.resize(network_.memory.rows(), 3 * count);
    if (options_) cycle_.reserve(static_cast<std::size_t>(state_.h.size()));
  }
  for (Index place = state_.h.cols(); place-- > count;) state_.free_places.push_back(place);
  if (fresh) {
    initial_inner_.resize(network_.hidden, count);
    initial_.resize(network_.hidden, count);
    network_.initial(weights_, count, covariates_.data(), initial_inner_.data(), initial_.data());
    state_.h.leftCols(count) = initial_;
  }
  state_.memory.leftCols(count).setZero();
  for (Index i = 0; i < count; ++i)
    if (const S* const given = examples[static_cast<std::size_t>(i)].state) {
      copy_column(n, given, state_.h.col(i).data());
      std::copy_n(given + n, network_.memory.rows(), state_.memory.col(i).data());
    }
  for (Index i = 0; i < count; ++i) {
    const Column& column = state_.columns[static_cast<std::size_t>(i)];
    double before = column.timeline->start;
    for (std::size_t stop = 0; stop < column.timeline->stops.size(); ++stop) {
      const double time = column.timeline->stops[stop].time;
      if (!(time >= before)) fail(column, stop, "comes before what was there already");
      before = time;
    }
    plan(i);
  }
}

// From an event on: what is absorbed next, and whether there is any way to go until then.
template <class S, Head H>
void Engine<S, H>::plan(Index index) {
  Column& column = state_.columns[static_cast<std::size_t>(index)];
  const auto& stops = column.timeline->stops;
  bool any = false;
  double farthest = column.clock.start;
  column.absorb = column.next;
  while (column.absorb < stops.size() && !absorbs(column, stops[column.absorb])) {
    if (wanted(stops[column.absorb])) any = true, farthest = stops[column.absorb].time;
    ++column.absorb;
  }
  if (column.absorb < stops.size())
    farthest = stops[column.absorb].time;
  else if (!any)
    return;
  if (network_.propagator.steps_to(column.clock, farthest) > Propagator::kMaxSteps)
    fail(column, std::min(column.absorb, stops.size() - 1),
         fmt::format("would take more than {:.0e} solver steps to reach", Propagator::kMaxSteps));
  if (column.absorb < stops.size() && farthest <= column.clock.start)
    arrive(index);
  else
    state_.moving.push_back(index);
}

// At the next event, together with the stops that ask for what is expected of it.
template <class S, Head H>
void Engine<S, H>::arrive(Index index) {
  Column& column = state_.columns[static_cast<std::size_t>(index)];
  for (; column.next < column.absorb; ++column.next)
    if (wanted(column.timeline->stops[column.next])) {
      Branch branch = branch_to(index, column.next);
      branch.place = index;
      state_.arrived.push_back(branch);
    }
  state_.waiting.push_back(index);
}

template <class S, Head H>
auto Engine<S, H>::branch_to(Index index, std::size_t stop) -> Branch {
  Column& column = state_.columns[static_cast<std::size_t>(index)];
  Branch branch{index, -1, stop, column.queries, column.answers, column.clock};
  const Stop& at = column.timeline->stops[stop];
  if (options_ && (at.what & Timeline<S>::kQuery)) {
    ++column.queries;
    column.answers += options_->marginals == InferenceOptions::Marginals::observed
                          ? at.count
                          : static_cast<std::size_t>(network_.features);
  }
  return branch;
}

// Branches to every stop whose last step begins where the column stands; false if the step is full.
template <class S, Head H>
bool Engine<S, H>::send_branches(Index index) {
  const std::size_t widest = std::max(kWidestStep, 2 * state_.columns.size());
  for (;;) {
    Column& column = state_.columns[static_cast<std::size_t>(index)];
    const auto& stops = column.timeline->stops;
    if (column.next == column.absorb) return true;
    const Stop& stop = stops[column.next];
    if (!wanted(stop)) {
      ++column.next;
      continue;
    }
    // What is asked for at the next event is told by the series itself when it arrives there.
    if (column.absorb < stops.size() && stop.time >= stops[column.absorb].time) return true;
    const Move move = network_.propagator.next(column.clock, stop.time);
    if (!move.last) return true;
    if (lanes_.size() >= widest) return false;
    Branch branch = branch_to(index, column.next++);
    branch.place = take_place();
    lanes_.push_back({branch.place, column.place, move, index,
                      static_cast<std::ptrdiff_t>(state_.branches.size())});
    state_.branches.push_back(branch);
  }
}

template <class S, Head H>
Index Engine<S, H>::take_place() {
  if (state_.free_places.empty()) {
    const Index before = state_.h.cols();
    state_.h.conservativeResize(Eigen::NoChange, 2 * before);
    state_.memory.conservativeResize(Eigen::NoChange, 2 * before);
    for (Index place = 2 * before; place-- > before;) state_.free_places.push_back(place);
  }
  const Index place = state_.free_places.back();
  state_.free_places.pop_back();
  return place;
}

template <class S, Head H>
template <class E>
void Engine<S, H>::fail(const Column& column, std::size_t stop, const std::string& what) const {
  throw E(fmt::format(
      "series {}: event {} at time {} {}; check its values, data.time_unit and model.step",
      column.timeline->id, stop,
      network_.time_origin + column.timeline->stops[stop].time * network_.time_unit, what));
}

// --------------------------------------------------------------------------------- operations

template <class S, Head H>
bool Engine<S, H>::tick() {
  leave_if_stopped(options_ ? options_->stop : loss_.stop);
  const bool nobody_moves = state_.moving.empty() && state_.branches.empty();
  if (nobody_moves && state_.waiting.empty() && state_.arrived.empty()) return false;
  // A quarter of the chunk is wide enough for the jump's products to run well.
  const std::size_t enough = std::max<std::size_t>(1, state_.columns.size() / 4);
  const bool absorb = nobody_moves || state_.waiting.size() >= enough;
  if (absorb || state_.arrived.size() >= enough)
    serve(absorb);
  else
    take_step();
  return true;
}

// How often the step of lanes_ can be repeated before anyone arrives or branches off. A tape
// records steps one by one, and an adaptive solver's are all different.
template <class S, Head H>
std::int64_t Engine<S, H>::steps_alike() const {
  if (!options_ || network_.propagator.adaptive()) return 1;
  auto alike = std::numeric_limits<std::int64_t>::max();
  for (const Lane& lane : lanes_) {
    if (lane.move.last) return 1;
    const Column& column = state_.columns[static_cast<std::size_t>(lane.column)];
    alike = std::min(alike, network_.propagator.full_steps(
                                column.clock, column.timeline->stops[column.next].time));
  }
  return std::max<std::int64_t>(1, alike);
}

template <class S, Head H>
void Engine<S, H>::take_step() {
  const Index n = network_.hidden;
  const Propagator& propagator = network_.propagator;
  choose_lanes();
  if (lanes_.empty()) return;

  const auto w = static_cast<Index>(lanes_.size());
  const StepOp op{op_places_.size(), w, tape_.take(w), stages_.size()};
  for (const Lane& lane : lanes_) op_places_.push_back(lane.target);
  for (const Lane& lane : lanes_) op_places_.push_back(lane.source);
  const std::span<const Index> targets{op_places_.data() + op.first, lanes_.size()};
  const std::span<const Index> sources{targets.data() + w, lanes_.size()};
  S* const dt = const_cast<S*>(op.dt);
  for (Index i = 0; i < w; ++i) dt[i] = static_cast<S>(lanes_[static_cast<std::size_t>(i)].move.dt);
  for (int stage = 0; stage < propagator.stages(); ++stage)
    stages_.push_back(propagator.stage(tape_, w));
  const std::span<Stage<S>> stages{stages_.data() + op.first_stage,
                                   static_cast<std::size_t>(propagator.stages())};
  S* const h = const_cast<S*>(stages[0].h);
  gather<S>(state_.h.data(), n, sources, n, h);
  norms_.resize(static_cast<std::size_t>(w));
  // Without a tape and without steps that may be rejected nobody asks for h again.
  const bool in_place = options_ && !propagator.adaptive();
  S* const h_next = in_place ? h : scratch_.take(n * w);
  const std::int64_t alike = steps_alike();
  cycle_.begin();
  for (std::int64_t i = 0; i < alike; ++i) {
    propagator.forward(weights_, w, dt, stages, scratch_, h_next, norms_.data());
    if (in_place) {
      scratch_.reset();
      leave_if_stopped(options_->stop);
    }
    if (alike >= kLongPause)
      i += cycle_.idle(h_next, static_cast<std::size_t>(n * w), alike - 1 - i);
  }

  kept_branches_.clear();
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    const Lane& lane = lanes_[i];
    const bool main = lane.branch < 0;
    Branch* const branch = main ? nullptr : &state_.branches[static_cast<std::size_t>(lane.branch)];
    const Index index = lane.column;
    Column& column = state_.columns[static_cast<std::size_t>(index)];
    Clock& clock = main ? column.clock : branch->clock;
    const bool accepted = propagator.accept(clock, lane.move, norms_[i]);
    clock.steps += alike - 1;
    if (!accepted) {  // on the tape it becomes a step of length 0
      dt[i] = S(0);
      copy_column(n, h + static_cast<Index>(i) * n, h_next + static_cast<Index>(i) * n);
    }
    if (propagator.adaptive()) {
      const std::size_t stop =
          main ? std::min(column.absorb, column.timeline->stops.size() - 1) : branch->stop;
      if (!accepted && propagator.vanished(clock, column.timeline->stops[stop].time))
        fail(column, stop, "cannot be reached within the tolerance (the step vanished)");
      if (static_cast<double>(clock.steps) > Propagator::kMaxSteps)
        fail(column, stop, "cannot be reached within the tolerance (too many steps)");
    }
    const bool there = accepted && lane.move.last;
    if (!main)
      (there ? state_.arrived : kept_branches_).push_back(*branch);
    else if (there)
      arrive(index);
    else
      state_.moving.push_back(index);
  }
  scatter(static_cast<const S*>(h_next), targets, n, state_.h.data(), n);
  if (network_.memory.rows() > 0)
    for (std::size_t i = 0; i < lanes_.size(); ++i)
      if (sources[i] != targets[i]) state_.memory.col(targets[i]) = state_.memory.col(sources[i]);
  if (!state_.branches.empty()) state_.branches = kept_branches_;
  op_is_stop_.push_back(0);
  step_ops_.push_back(op);
  scratch_.reset();
}

// Which branches and columns take the next step together, and how far each goes.
template <class S, Head H>
void Engine<S, H>::choose_lanes() {
  const Propagator& propagator = network_.propagator;
  const auto target_of = [&](const Branch& branch) {
    return state_.columns[static_cast<std::size_t>(branch.column)]
        .timeline->stops[branch.stop]
        .time;
  };
  lanes_.clear();
  for (std::size_t b = 0; b < state_.branches.size(); ++b) {
    const Branch& branch = state_.branches[b];
    lanes_.push_back({branch.place, branch.place, propagator.next(branch.clock, target_of(branch)),
                      branch.column, static_cast<std::ptrdiff_t>(b)});
  }
  kept_.clear();
  for (const Index index : state_.moving) {
    if (!send_branches(index)) {  // goes on when the rest of its branches are under way
      kept_.push_back(index);
      continue;
    }
    Column& column = state_.columns[static_cast<std::size_t>(index)];
    const auto& stops = column.timeline->stops;
    const Index from = column.place;
    if (column.next == stops.size()) {  // done
      if (from != index) state_.free_places.push_back(from);
      continue;
    }
    const bool absorbs_again = column.absorb < stops.size();
    if (!absorbs_again && from == index) column.place = take_place();
    const double target = absorbs_again ? stops[column.absorb].time : kInfinity;
    lanes_.push_back({column.place, from, propagator.next(column.clock, target), index, -1});
  }
  state_.moving = kept_;  // a copy: each vector keeps the memory it has grown to
}

// A branch that has just left hands its gradient to the series it left.
template <class S, Head H>
void Engine<S, H>::step_backward(const S* params, const StepOp& op, S* d_h, S* d_memory, S* grads) {
  const Index n = network_.hidden, w = op.width, kept = memory_gradient_rows();
  const std::span<const Index> targets{op_places_.data() + op.first, static_cast<std::size_t>(w)};
  const std::span<const Index> sources{targets.data() + w, static_cast<std::size_t>(w)};
  S* const d = scratch_.take(n * w);
  gather<S>(d_h, n, targets, n, d);
  network_.propagator.backward(params, w, op.dt,
                               std::span(stages_.data() + op.first_stage,
                                         static_cast<std::size_t>(network_.propagator.stages())),
                               scratch_, d, grads);
  for (Index i = 0; i < w; ++i) {  // what arrived at a target has come from its source
    const auto lane = static_cast<std::size_t>(i);
    if (sources[lane] == targets[lane])
      copy_column(n, d + i * n, d_h + targets[lane] * n);
    else
      std::fill_n(d_h + targets[lane] * n, n, S(0));
  }
  for (Index i = 0; i < w; ++i) {
    const auto lane = static_cast<std::size_t>(i);
    if (sources[lane] == targets[lane]) continue;
    advance(n, d_h + sources[lane] * n, S(1), d + i * n, d_h + sources[lane] * n);
    S *const to = d_memory + sources[lane] * kept, *const from = d_memory + targets[lane] * kept;
    for (Index k = 0; k < kept; ++k) to[k] += from[k];
    std::fill_n(from, kept, S(0));
  }
  scratch_.reset();
}

template <class S, Head H>
Observed<S> Engine<S, H>::observed(const Column& column, std::size_t stop) const {
  const Stop& at = column.timeline->stops[stop];
  return {column.timeline->feature.data() + at.first, column.timeline->value.data() + at.first,
          static_cast<Index>(at.count)};
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
  fail<NotFinite>(
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
    fail<NotFinite>(column, stop,
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
  const Timeline<S>& timeline = *state_.columns[static_cast<std::size_t>(index)].timeline;
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
  op.h = h;
  gather<S>(state_.h.data(), n, places, n, h);
  op.pre = read(w, h, remembered(op, places));
  const S* const phi = op.pre.phi;

  op.final_of = index_tape_.take(w);
  std::fill_n(op.final_of, w, Index{-1});
  for (Index i = 0; i < w; ++i) {
    const bool absorbed = i < op.absorbing;
    const Branch branch =
        absorbed ? branch_to(
                       places[static_cast<std::size_t>(i)],
                       state_.columns[static_cast<std::size_t>(places[static_cast<std::size_t>(i)])]
                           .absorb)
                 : state_.arrived[static_cast<std::size_t>(i - op.absorbing)];
    const Column& column = state_.columns[static_cast<std::size_t>(branch.column)];
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
  if (op.absorbing > 0) {
    absorb(op);
    state_.waiting.clear();
    for (Index i = 0; i < op.absorbing; ++i) {
      const Index index = places[static_cast<std::size_t>(i)];
      Column& column = state_.columns[static_cast<std::size_t>(index)];
      const double time = column.timeline->stops[column.absorb].time;
      column.clock = network_.propagator.begin(time, column.clock.dt);
      column.next = column.absorb + 1;
      plan(index);
    }
  }
  op_is_stop_.push_back(1);
  stop_ops_.push_back(op);
  scratch_.reset();
}

// The jump of the first op.absorbing columns, and the KL term that asks it to be Bayesian.
template <class S, Head H>
void Engine<S, H>::absorb(StopOp& op) {
  const Index n = network_.hidden, w = op.absorbing, rows = network_.head.rows();
  const Index features = network_.features;
  const std::span<const Index> places{op_places_.data() + op.first, static_cast<std::size_t>(w)};
  const auto column_of = [&](Index i) -> const Column& {
    return state_.columns[static_cast<std::size_t>(places[static_cast<std::size_t>(i)])];
  };

  // Observations by feature: count, offsets, place.
  Index* const first = op.first_of_feature = index_tape_.take(features + 2);
  std::fill_n(first, features + 2, Index{0});
  for (Index i = 0; i < w; ++i) {
    const Observed<S> seen = observed(column_of(i), column_of(i).absorb);
    for (Index k = 0; k < seen.count; ++k) ++first[seen.feature[k] + 2];
  }
  for (Index j = 2; j <= features + 1; ++j) first[j] += first[j - 1];
  const Index count = first[features + 1];
  op.observation_column = index_tape_.take(count);
  S* const v = tape_.take(FeatureEncoder::kInputs * count);
  S* const q = tape_.take(network_.encoder.width() * count);
  S* const e = network_.absorb.raw() ? nullptr : tape_.take(count);
  const Index memory_rows = network_.memory.rows();
  S* const after = tape_.take(memory_rows * w);  // what is remembered with these observations
  if (memory_rows > 0) std::copy_n(op.pre.remembered, memory_rows * w, after);
  for (Index i = 0; i < w; ++i) {
    const Column& column = column_of(i);
    const Observed<S> seen = observed(column, column.absorb);
    const S* const p = op.pre.phi + i * rows;
    for (Index k = 0; k < seen.count; ++k) {
      const Index j = seen.feature[k];
      S x = seen.value[k];
      if (options_)
        x = guarded(
            options_->guard, options_->population, seen.feature[k], x,
            [&] { return network_.head.marginal(p, j); }, column.absorb,
            answers_.empty()
                ? nullptr
                : &answers_[static_cast<std::size_t>(places[static_cast<std::size_t>(i)])].clips);
      const Index place = first[j + 1]++;  // leaves first[j] … first[j+1] as feature j's range
      op.observation_column[place] = i;
      S* const inputs = v + FeatureEncoder::kInputs * place;
      if (e)
        x = network_.head.tamed_inputs(p, j, x, network_.absorb, inputs, e[place]);
      else
        network_.head.encoder_inputs(p, j, x, inputs);
      if (network_.memory.rows() > 0) network_.memory.observe(j, x, after + i * memory_rows);
    }
  }
  op.e = e;
  network_.encoder.forward(weights_.values, first, v, q);
  op.v = v, op.q = q;

  S* const gi = scratch_.take(3 * n * w);
  std::fill_n(gi, 3 * n * w, S(0));
  network_.encoder.project(Transposed<S>{weights_.values + network_.update.input_weights()}, 3 * n,
                           first, op.observation_column, q, scratch_, gi);
  op.jump = network_.update.cache(tape_, op.h, w);
  S* const h_post = tape_.take(n * w);
  op.h_post = h_post;
  network_.update.forward(weights_, w, gi, op.jump, h_post);
  scatter(static_cast<const S*>(h_post), places, n, state_.h.data(), n);
  for (Index i = 0; i < w && memory_rows > 0; ++i)
    std::copy_n(after + i * memory_rows, memory_rows,
                state_.memory.col(places[static_cast<std::size_t>(i)]).data());

  if (loss_.kl <= 0) return;
  op.post = read(w, h_post, after);
  for (Index i = 0; i < w; ++i) {
    const Column& column = column_of(i);
    if (!(column.timeline->stops[column.absorb].what & Timeline<S>::kScore)) continue;
    const double before = sums_.kl;
    network_.head.kl(op.pre.phi + i * rows, op.post.phi + i * rows, scored(column, column.absorb),
                     static_cast<S>(loss_.scale * loss_.kl), op.pre.d_phi + i * rows,
                     op.post.d_phi + i * rows, sums_);
    if (!std::isfinite(sums_.kl - before))
      fail<NotFinite>(column, column.absorb, "gave a KL term that is not finite");
  }
}

template <class S, Head H>
void Engine<S, H>::stop_backward(const S* params, const StopOp& op, const S* d_final, S* d_h,
                                 S* d_memory, S* grads) {
  const Index n = network_.hidden, w = op.absorbing, rows = network_.head.rows();
  const std::span<const Index> places{op_places_.data() + op.first,
                                      static_cast<std::size_t>(op.width)};
  S* const d = scratch_.take(n * op.width);
  const auto absorbed = static_cast<std::size_t>(w);
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

  if (w > 0) {
    if (op.post.phi)  // φ_post = head(h_post)
      read_backward(params, w, op.post, d, d_remembered, grads);
    S* const d_pre = scratch_.take(n * w);
    S* const d_gh = scratch_.take(3 * n * w);
    network_.update.backward(params, w, d, op.jump, d_pre, d_gh, grads);  // h_post = GRU(gi, h)
    std::copy_n(d_pre, n * w, d);

    constexpr Index kInputs = FeatureEncoder::kInputs;
    const Index features = network_.features, count = op.first_of_feature[features];
    S* const d_q = scratch_.take(network_.encoder.width() * count);
    S* const d_v = scratch_.take(kInputs * count);
    const Index weights = network_.update.input_weights();
    network_.encoder.project_backward(params + weights, 3 * n, op.first_of_feature,
                                      op.observation_column, op.q, op.jump.rzn, scratch_, d_q,
                                      grads + weights);  // gi = W_ih q
    network_.encoder.backward(params, op.first_of_feature, op.v, op.q, d_q, d_v, grads);
    for (Index j = 0; j < features; ++j)
      for (Index k = op.first_of_feature[j]; k < op.first_of_feature[j + 1]; ++k) {
        const Index i = op.observation_column[k];
        const S* const phi = op.pre.phi + i * rows;
        S* const d_phi = op.pre.d_phi + i * rows;
        const S* const inputs = op.v + kInputs * k;
        S* const d_inputs = d_v + kInputs * k;
        if (d_remembered)  // what the encoder read is also what is remembered
          d_inputs[0] += network_.memory.observe_backward(j, d_remembered + i * kept);
        if (op.e)
          network_.head.tamed_inputs_backward(phi, j, op.e[k], network_.absorb, inputs,
                                              static_cast<const S*>(d_inputs), d_phi);
        else
          network_.head.encoder_inputs_backward(phi, j, inputs, static_cast<const S*>(d_inputs),
                                                d_phi);
      }
  }
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

template <class S, Head H>
void Engine<S, H>::forget_tape() {
  tape_.reset();
  index_tape_.reset();
  step_ops_.clear();
  stop_ops_.clear();
  op_is_stop_.clear();
  op_places_.clear();
  stages_.clear();
}

template class Engine<float, NiwHead>;
template class Engine<double, NiwHead>;
template class Engine<float, GaussianHead>;
template class Engine<double, GaussianHead>;

}  // namespace edict

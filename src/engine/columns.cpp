#include "engine/columns.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/gather.h"

namespace edict {
namespace {

// At least this many columns step together; further branches wait for the next step.
constexpr std::size_t kWidestStep = 512;

}  // namespace

// -------------------------------------------------------------------------------- where to go

template <class S, Head H>
void Columns<S, H>::begin(Transposed<S> weights, Examples examples) {
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
  for (Index i = 0; i < count; ++i) {
    const BasicExample<S>& example = examples[static_cast<std::size_t>(i)];
    const Timeline<S>& timeline = *example.timeline;
    std::copy(timeline.covariates.begin(), timeline.covariates.end(), covariates_.col(i).data());
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
  place_states(examples);
  for (Index i = 0; i < count; ++i) {
    check_order(column_at(i));
    plan(i);
  }
}

// h and the memory of every column: what was given, or what a series begins with.
template <class S, Head H>
void Columns<S, H>::place_states(Examples examples) {
  const auto count = static_cast<Index>(examples.size());
  const Index n = network_.hidden;
  if (std::ranges::any_of(examples, [](const auto& e) { return e.state == nullptr; })) {
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
}

template <class S, Head H>
void Columns<S, H>::check_order(const Column& column) const {
  double before = column.timeline->start;
  for (std::size_t stop = 0; stop < column.timeline->stops.size(); ++stop) {
    const double time = column.timeline->stops[stop].time;
    if (!(time >= before)) fail(column, stop, "comes before what was there already");
    before = time;
  }
}

template <class S, Head H>
void Columns<S, H>::plan(Index index) {
  Column& column = column_at(index);
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
void Columns<S, H>::arrive(Index index) {
  Column& column = column_at(index);
  for (; column.next < column.absorb; ++column.next)
    if (wanted(column.timeline->stops[column.next])) {
      Branch branch = branch_to(index, column.next);
      branch.place = index;
      state_.arrived.push_back(branch);
    }
  state_.waiting.push_back(index);
}

template <class S, Head H>
auto Columns<S, H>::branch_to(Index index, std::size_t stop) -> Branch {
  Column& column = column_at(index);
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
bool Columns<S, H>::send_branches(Index index) {
  const std::size_t widest = std::max(kWidestStep, 2 * state_.columns.size());
  for (;;) {
    Column& column = column_at(index);
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
Index Columns<S, H>::take_place() {
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

// --------------------------------------------------------------------------------------- steps

// How often the step of lanes_ can be repeated before anyone arrives or branches off. A tape
// records steps one by one, and an adaptive solver's are all different.
template <class S, Head H>
std::int64_t Columns<S, H>::steps_alike() const {
  if (!options_ || network_.propagator.adaptive()) return 1;
  auto alike = std::numeric_limits<std::int64_t>::max();
  for (const Lane& lane : lanes_) {
    if (lane.move.last) return 1;
    const Column& column = column_at(lane.column);
    alike = std::min(alike, network_.propagator.full_steps(
                                column.clock, column.timeline->stops[column.next].time));
  }
  return std::max<std::int64_t>(1, alike);
}

// What takes part in the next step: branches under way, columns under way, and the branches that
// leave them now.
template <class S, Head H>
void Columns<S, H>::collect_lanes() {
  const Propagator& propagator = network_.propagator;
  const auto target_of = [&](const Branch& branch) {
    return column_at(branch.column).timeline->stops[branch.stop].time;
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
    Column& column = column_at(index);
    const auto& stops = column.timeline->stops;
    const Index from = column.place;
    if (column.next == stops.size()) {  // done
      if (from != index) state_.free_places.push_back(from);
      continue;
    }
    const bool absorbs_again = column.absorb < stops.size();
    if (!absorbs_again && from == index) column.place = take_place();
    const double target =
        absorbs_again ? stops[column.absorb].time : std::numeric_limits<double>::infinity();
    lanes_.push_back({column.place, from, propagator.next(column.clock, target), index, -1});
  }
  state_.moving = kept_;  // a copy: each vector keeps the memory it has grown to
}

template <class S, Head H>
void Columns<S, H>::take_step() {
  collect_lanes();
  if (lanes_.empty()) return;
  const Index n = network_.hidden;
  const Propagator& propagator = network_.propagator;
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
  S* const h = const_cast<S*>(stages_[op.first_stage].h);
  gather<S>(state_.h.data(), n, sources, n, h);
  // Without a tape and without steps that may be rejected h is not needed again.
  S* const h_next = steps_in_place() ? h : scratch_.take(n * w);
  const std::int64_t alike = steps_alike();
  step_lanes(op, alike, h, h_next);
  settle_lanes(op, alike, h, h_next);
  scatter(static_cast<const S*>(h_next), targets, n, state_.h.data(), n);
  if (network_.memory.rows() > 0)
    for (std::size_t i = 0; i < lanes_.size(); ++i)
      if (sources[i] != targets[i]) state_.memory.col(targets[i]) = state_.memory.col(sources[i]);
  if (!state_.branches.empty()) state_.branches = kept_branches_;
  op_is_stop_.push_back(0);
  step_ops_.push_back(op);
  scratch_.reset();
}

// The same step `alike` times.
template <class S, Head H>
void Columns<S, H>::step_lanes(const StepOp& op, std::int64_t alike, S* h, S* h_next) {
  const Propagator& propagator = network_.propagator;
  const std::span<Stage<S>> stages{stages_.data() + op.first_stage,
                                   static_cast<std::size_t>(propagator.stages())};
  norms_.resize(static_cast<std::size_t>(op.width));
  cycle_.begin();
  for (std::int64_t i = 0; i < alike; ++i) {
    propagator.forward(weights_, op.width, op.dt, stages, scratch_, h_next, norms_.data());
    if (h == h_next) {
      scratch_.reset();
      leave_if_stopped(options_->stop);
    }
    if (alike >= kLongPause)
      i += cycle_.idle(h_next, static_cast<std::size_t>(network_.hidden * op.width), alike - 1 - i);
  }
}

// Where everything stands after it, and who has arrived. A step that was rejected becomes one of
// length 0, on the tape too.
template <class S, Head H>
void Columns<S, H>::settle_lanes(const StepOp& op, std::int64_t alike, const S* h, S* h_next) {
  const Index n = network_.hidden;
  const Propagator& propagator = network_.propagator;
  kept_branches_.clear();
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    const Lane& lane = lanes_[i];
    const bool main = lane.branch < 0;
    Branch* const branch = main ? nullptr : &state_.branches[static_cast<std::size_t>(lane.branch)];
    Column& column = column_at(lane.column);
    Clock& clock = main ? column.clock : branch->clock;
    const bool accepted = propagator.accept(clock, lane.move, norms_[i]);
    clock.steps += alike - 1;
    if (!accepted) {
      const_cast<S*>(op.dt)[i] = S(0);
      copy_column(n, h + static_cast<Index>(i) * n, h_next + static_cast<Index>(i) * n);
    }
    if (propagator.adaptive())
      check_progress(
          column, main ? std::min(column.absorb, column.timeline->stops.size() - 1) : branch->stop,
          clock, accepted);
    const bool there = accepted && lane.move.last;
    if (!main)
      (there ? state_.arrived : kept_branches_).push_back(*branch);
    else if (there)
      arrive(lane.column);
    else
      state_.moving.push_back(lane.column);
  }
}

template <class S, Head H>
void Columns<S, H>::check_progress(const Column& column, std::size_t stop, const Clock& clock,
                                   bool accepted) const {
  if (!accepted && network_.propagator.vanished(clock, column.timeline->stops[stop].time))
    fail(column, stop, "cannot be reached within the tolerance (the step vanished)");
  if (static_cast<double>(clock.steps) > Propagator::kMaxSteps)
    fail(column, stop, "cannot be reached within the tolerance (too many steps)");
}

// A branch that has just left hands its gradient to the series it left.
template <class S, Head H>
void Columns<S, H>::step_backward(const S* params, const StepOp& op, S* d_h, S* d_memory,
                                  S* grads) {
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
void Columns<S, H>::forget_tape() {
  tape_.reset();
  step_ops_.clear();
  op_is_stop_.clear();
  op_places_.clear();
  stages_.clear();
}

template class Columns<float, NiwHead>;
template class Columns<double, NiwHead>;
template class Columns<float, GaussianHead>;
template class Columns<double, GaussianHead>;

}  // namespace edict

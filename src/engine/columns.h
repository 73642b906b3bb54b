// A chunk of series under way: a column of h each, on a clock of its own, from one event that it
// absorbs to the next. A stop between them that is only asked for or scored is reached by a
// **branch**, a column of its own that leaves the series where a single shorter step ends at the
// stop, so that asking never moves the series:
//
//      event ──────●──────●──────●────◆ next event        ● full steps   ◆ arrival
//                          ╲
//                           ○ query, in a column of its own
//
// Columns under way take their steps together, each with its own step length, and every step writes
// what its backward needs into a tape. What happens where they arrive is the engine's (engine.h).
#pragma once

#include <fmt/core.h>

#include <span>
#include <string>
#include <vector>

#include "base/arena.h"
#include "base/error.h"
#include "engine/heads/gaussian_head.h"
#include "engine/heads/niw_head.h"
#include "engine/jump_ode.h"
#include "ode/cycle.h"

namespace edict {

template <class S, Head H>
class Columns {
 protected:
  explicit Columns(const JumpOde<H>& network) : network_(network) {}

  using Examples = std::span<const BasicExample<S>>;

  // A series under way.
  struct Column {
    const Timeline<S>* timeline;
    double absorb_until;
    std::size_t next;     // the first stop that is neither reached nor branched to
    std::size_t absorb;   // the next stop to absorb at; one past the last if there is none
    std::size_t queries;  // met so far
    std::size_t answers;  // marginals that these ask for
    // Where its state travels: its own column of h, but a place for branches once nothing is left
    // to absorb, so that its column keeps what it knew last.
    Index place;
    Clock clock;
  };

  // On the way to a stop, or there.
  struct Branch {
    Index column;  // of the series
    Index place;   // its own column of h; the series' if the stop is where the series arrived
    std::size_t stop, query, answer;
    Clock clock;
  };

  // Everything needed to take the pass up again from where it stands.
  struct State {
    std::vector<Column> columns;
    std::vector<Index> moving;     // columns on their way
    std::vector<Index> waiting;    // columns at an event
    std::vector<Branch> branches;  // on their way
    std::vector<Branch> arrived;
    std::vector<Index> free_places;
    Matrix<S> h;       // H × (columns, then places for branches)
    Matrix<S> memory;  // of the same columns and places, as the last event left it
  };

  struct StepOp {
    std::size_t first;  // in op_places_: width targets, then width sources
    Index width;
    const S* dt;
    std::size_t first_stage;  // in stages_
  };

  using Stop = typename Timeline<S>::Stop;
  static bool absorbs(const Column& column, const Stop& stop) {
    return (stop.what & Timeline<S>::kAbsorb) && stop.count > 0 && stop.time < column.absorb_until;
  }

  // Places every column at its start. `weights` must stay until the pass is over.
  void begin(Transposed<S> weights, Examples examples);
  // From an event on: what is absorbed next, and whether there is any way to go until then.
  void plan(Index index);
  Branch branch_to(Index index, std::size_t stop);
  // A step of everything that is under way.
  void take_step();
  void step_backward(const S* params, const StepOp& op, S* d_h, S* d_memory, S* grads);
  void forget_tape();

  Column& column_at(Index index) { return state_.columns[static_cast<std::size_t>(index)]; }
  const Column& column_at(Index index) const {
    return state_.columns[static_cast<std::size_t>(index)];
  }

  // Rows of d_memory, the gradient of what is remembered; 0 where that depends on no parameter.
  Index memory_gradient_rows() const {
    return network_.memory.rows() > 0 && !network_.absorb.raw() ? network_.memory.gradient_rows()
                                                                : 0;
  }

  template <class E = Error>
  [[noreturn]] void fail(const Column& column, std::size_t stop, const std::string& what) const {
    throw E(fmt::format(
        "series {}: event {} at time {} {}; check its values, data.time_unit and model.step",
        column.timeline->id, stop,
        network_.time_origin + column.timeline->stops[stop].time * network_.time_unit, what));
  }

  const JumpOde<H>& network_;
  Transposed<S> weights_{};
  State state_;
  Matrix<S> covariates_, initial_inner_, initial_;

  Arena<S> tape_, scratch_;
  std::vector<StepOp> step_ops_;
  std::vector<std::uint8_t> op_is_stop_;
  std::vector<Index> op_places_;
  std::vector<Stage<S>> stages_;

  LossWeights loss_;
  LossSums sums_;
  const InferenceOptions* options_ = nullptr;  // null while training

 private:
  struct Lane {
    Index target, source;
    Move move;
    Index column;
    std::ptrdiff_t branch;  // −1: the column itself
  };

  static bool wanted(const Stop& stop) {
    return (stop.what & Timeline<S>::kQuery) ||
           ((stop.what & Timeline<S>::kScore) && stop.count > 0);
  }

  void place_states(Examples examples);
  void check_order(const Column& column) const;
  void arrive(Index index);
  bool send_branches(Index index);
  Index take_place();
  void collect_lanes();
  void step_lanes(const StepOp& op, std::int64_t alike, S* h, S* h_next);
  void settle_lanes(const StepOp& op, std::int64_t alike, const S* h, S* h_next);
  void check_progress(const Column& column, std::size_t stop, const Clock& clock,
                      bool accepted) const;
  std::int64_t steps_alike() const;
  bool steps_in_place() const { return options_ && !network_.propagator.adaptive(); }

  std::vector<Lane> lanes_;
  std::vector<Index> kept_;
  std::vector<Branch> kept_branches_;
  std::vector<double> norms_;
  // In a pause of at least so many equal steps a state may well come to rest.
  static constexpr std::int64_t kLongPause = 64;
  CycleSearch<S> cycle_;
};

}  // namespace edict

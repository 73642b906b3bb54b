// The engine: takes a chunk of series through their timelines, each on its own clock. Training
// (training_pass.h), inference (inference.h) and, through the latter, streams are its clients.
//
// A column of h is a series. It goes from one event that it absorbs to the next; a stop between
// them that is only asked for or scored is reached by a **branch**, a column of its own that leaves
// the series where a single shorter step ends at the stop, so that asking never moves the series:
//
//      event ──────●──────●──────●────◆ next event        ● full steps   ◆ arrival
//                          ╲
//                           ○ query, in a column of its own
//
// Columns under way take their steps together, each with its own step length. Those that arrived
// wait until enough have gathered (or nobody moves any more) and are then served together: head,
// loss or answer, and the jump. Every operation writes what its backward needs into a tape.
#pragma once

#include <span>
#include <vector>

#include "base/arena.h"
#include "engine/heads/gaussian_head.h"
#include "engine/heads/niw_head.h"
#include "engine/jump_ode.h"
#include "evidential/observed.h"
#include "ode/cycle.h"

namespace edict {

template <class S, Head H>
class Engine {
 protected:
  explicit Engine(const JumpOde<H>& network) : network_(network) {}

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

  // What the head makes of columns, kept for its backward.
  struct HeadOp {
    const S *h, *remembered;  // what it read: states, and the memory at their time, if there is one
    const S *a, *phi;
    S* d_phi;
    Recall::Cache<S> recall;
  };

  struct StepOp {
    std::size_t first;  // in op_places_: width targets, then width sources
    Index width;
    const S* dt;
    std::size_t first_stage;  // in stages_
  };

  struct StopOp {
    std::size_t first;       // in op_places_
    Index width, absorbing;  // absorbing columns come first
    const S* h;
    HeadOp pre;
    Index* final_of;  // of each branch: the column whose final state it is, or −1
    // Of the absorbing ones; observations are sorted by feature.
    Index* first_of_feature;
    Index* observation_column;
    const S *v, *q;
    const S* e;  // of each observation, before model.absorb tamed it; null if it does not
    GruCell::Cache<S> jump;
    const S* h_post;
    HeadOp post;  // null without a KL term
  };

  using Stop = typename Timeline<S>::Stop;
  static bool absorbs(const Column& column, const Stop& stop) {
    return (stop.what & Timeline<S>::kAbsorb) && stop.count > 0 && stop.time < column.absorb_until;
  }

  // Places every column at its start. `weights` must stay until the pass is over.
  void begin(Transposed<S> weights, Examples examples);
  // One operation for many columns; false when everything is done.
  bool tick();
  void forget_tape();

  HeadOp read(Index w, const S* h, const S* remembered);
  void read_backward(const S* params, Index w, const HeadOp& op, S* d_h, S* d_remembered, S* grads);

  // Rows of d_memory, the gradient of what is remembered; 0 where that depends on no parameter.
  Index memory_gradient_rows() const {
    return network_.memory.rows() > 0 && !network_.absorb.raw() ? network_.memory.gradient_rows()
                                                                : 0;
  }
  void step_backward(const S* params, const StepOp& op, S* d_h, S* d_memory, S* grads);
  void stop_backward(const S* params, const StopOp& op, const S* d_final, S* d_h, S* d_memory,
                     S* grads);

  const JumpOde<H>& network_;
  Transposed<S> weights_{};
  State state_;
  Matrix<S> covariates_, initial_inner_, initial_;
  Matrix<S> final_;  // h at the end of each timeline

  Arena<S> tape_, scratch_;
  Arena<Index> index_tape_;
  std::vector<StepOp> step_ops_;
  std::vector<StopOp> stop_ops_;
  std::vector<std::uint8_t> op_is_stop_;
  std::vector<Index> op_places_;
  std::vector<Stage<S>> stages_;

  std::vector<std::int32_t> scored_feature_;
  std::vector<S> scored_value_;

  LossWeights loss_;
  LossSums sums_;
  const InferenceOptions* options_ = nullptr;  // null while training
  std::span<Answer> answers_;

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

  void plan(Index index);
  void arrive(Index index);
  Branch branch_to(Index index, std::size_t stop);
  bool send_branches(Index index);
  Index take_place();
  void take_step();
  void choose_lanes();
  std::int64_t steps_alike() const;
  void serve(bool absorbing);
  const S* remembered(const StopOp& op, std::span<const Index> places);
  void judge(const Column& column, std::size_t stop, const S* phi, S* d_phi);
  void answer(Index index, const Stop& stop, std::size_t query, std::size_t answer, const S* phi,
              const S* h);
  void absorb(StopOp& op);
  Observed<S> observed(const Column& column, std::size_t stop) const;
  // Without features that hardly ever change, which are in no loss. Valid until the next call.
  Observed<S> scored(const Column& column, std::size_t stop);
  void check_finite(const Column& column, std::size_t stop, const S* phi) const;
  template <class E = Error>
  [[noreturn]] void fail(const Column& column, std::size_t stop, const std::string& what) const;

  std::vector<Lane> lanes_;
  std::vector<Index> kept_;
  std::vector<Branch> kept_branches_;
  std::vector<double> norms_;
  // In a pause of at least so many equal steps a state may well come to rest.
  static constexpr std::int64_t kLongPause = 64;
  CycleSearch<S> cycle_;
};

}  // namespace edict

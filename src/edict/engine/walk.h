// The engine: walks a chunk of series through their agendas, each on its own clock, and back.
//
// A column of h is a series. Columns between stops take solver steps together, each with its own
// step length, so that every stop is hit exactly; columns that reached a stop wait until enough
// have gathered (or nobody walks any more) and are then served together: head, loss, jump. Forward
// leaves a tape of these operations; backward reads it in reverse. When the tape outgrows its
// budget only the states at the segment borders are kept, and each segment is walked again before
// its backward.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "edict/core/arena.h"
#include "edict/engine/guard.h"
#include "edict/engine/jump_ode.h"
#include "edict/engine/marginal.h"
#include "edict/engine/network.h"
#include "edict/evidential/observed.h"
#include "edict/protocol/agenda.h"

namespace edict {

// Told of a stop marked as a query. `slot` is the passenger's place in the chunk.
template <class S>
using QueryListener =
    std::function<void(std::size_t slot, std::size_t stop, const S* phi, const S* h)>;

template <class S>
struct Passenger {
  const Agenda<S>* agenda;
  double absorb_until;  // stops at or after this time are scored but not absorbed
};

template <class S, class Head>
class Walk {
 public:
  explicit Walk(const JumpOde<Head>& model) : model_(model) {}

  struct Inference {
    QueryListener<S> on_query;
    ClipListener on_clip;
    Guard guard;
    std::vector<double> population_mean, population_deviation;  // empty: 0 and 1
  };

  // Forward only; nothing is kept. The losses of scored stops are summed with weights.kl = 0.
  LossSums infer(const S* params, std::span<const Passenger<S>> passengers,
                 const Inference& inference);

  // Forward and backward; gradients are added to `grads`. `at_end`, if given, sees the final states
  // (H × passengers) and writes the gradient of a further loss on them.
  using EndLoss = std::function<void(const S* h, S* d_h)>;
  LossSums train(const S* params, std::span<const Passenger<S>> passengers,
                 const LossWeights& weights, std::size_t tape_bytes, S* grads,
                 const EndLoss& at_end = {});

  // The states after the last walk, H × passengers.
  const Matrix<S>& states() const { return columns_.h; }

 private:
  struct Column {
    const Agenda<S>* agenda;
    double absorb_until;
    std::size_t next_stop;
    double now;
    double dt;
    std::int64_t steps_left;  // of a fixed-step solver, to the next stop
  };

  // Everything needed to take the walk up again from where it stands.
  struct Columns {
    std::vector<Column> column;
    std::vector<Index> stepping, waiting;
    Matrix<S> h;
  };

  struct StepOp {
    std::size_t first_column;
    Index width;
    const S* dt;
    std::size_t first_stage;  // into stages_
  };

  struct StopOp {
    std::size_t first_column;
    Index width, absorbing;  // absorbing columns come first
    const S *h, *a, *phi;
    S* d_phi;
    // Of the absorbing ones; observations are sorted by feature.
    Index* first_of_feature;
    Index* observation_column;
    const S *v, *q;
    GruCell::Cache<S> jump;
    const S *h_post, *a_post, *phi_post;  // null without a KL term
    S* d_phi_post;
  };

  struct Field;

  void board(const S* params, std::span<const Passenger<S>> passengers);
  void board_backward(const S* params, const S* d_h, S* grads);
  void plan(Index column);
  bool tick();
  void take_step();
  void serve_stops();
  void absorb(StopOp& op);
  void record(StepOp op);
  void backward(const S* params, S* d_h, S* grads);
  void step_back(const S* params, const StepOp& op, S* d_h, S* grads);
  void stop_back(const S* params, const StopOp& op, S* d_h, S* grads);
  void forget_tape();
  Turned<S> turned() const { return {turned_.data()}; }
  Observed<S> observed(const Column& column) const;
  [[noreturn]] void fail(const Column& column, const char* what) const;

  const JumpOde<Head>& model_;
  Columns columns_;
  Vector<S> turned_;  // of the walk under way
  Matrix<S> covariates_, init_hidden_, final_states_, d_h_;
  std::vector<Columns> snapshots_;
  std::vector<std::size_t> ticks_;  // of each segment

  Arena<S> tape_, scratch_;
  Arena<Index> index_tape_;
  std::vector<StepOp> step_ops_;
  std::vector<StopOp> stop_ops_;
  std::vector<std::uint8_t> op_is_stop_;
  std::vector<Index> op_columns_;
  std::vector<GruOdeCell::Cache<S>> stages_;

  const Inference* inference_ = nullptr;  // null while training
  LossWeights weights_;
  LossSums sums_;
  std::vector<double> error_norms_;
  std::vector<Index> arrived_;
};

}  // namespace edict

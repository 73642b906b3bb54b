// The engine: what happens to a chunk of series where they stop. Columns (columns.h) take them from
// stop to stop; those that arrived wait until enough have gathered (or nothing moves any more) and
// are then served together: head, loss or answer, and the jump. Every operation writes what its
// backward needs into a tape. Training (training_pass.h), inference (inference.h) and, through the
// latter, streams are its clients.
#pragma once

#include <span>
#include <vector>

#include "engine/columns.h"
#include "evidential/observed.h"

namespace edict {

template <class S, Head H>
class Engine : protected Columns<S, H> {
 protected:
  using Base = Columns<S, H>;
  using typename Base::Branch;
  using typename Base::Column;
  using typename Base::Examples;
  using typename Base::Stop;

  explicit Engine(const JumpOde<H>& network) : Base(network) {}

  // What the head makes of columns, kept for its backward.
  struct HeadOp {
    const S *h, *remembered;  // what it read: states, and the memory at their time, if any
    const S *a, *phi;
    S* d_phi;
    Recall::Cache<S> recall;
  };

  // The jump of columns at an event; observations are sorted by feature.
  struct JumpOp {
    Index* first_of_feature;  // first[j] … first[j+1] are feature j's
    Index* observation_column;
    const S *v, *q;
    const S* e;  // of each observation, before model.absorb bounded it; null if it does not
    GruCell::Cache<S> gru;
    const S* h;
    const S* remembered;  // with these observations
    HeadOp post;          // null without a KL term
  };

  struct StopOp {
    std::size_t first;       // in op_places_
    Index width, absorbing;  // absorbing columns come first
    HeadOp pre;
    Index* final_of;  // of each branch: the column whose final state it is, or −1
    JumpOp jump;      // of the absorbing ones
  };

  // One operation for many columns; false when everything is done.
  bool tick();
  void stop_backward(const S* params, const StopOp& op, const S* d_final, S* d_h, S* d_memory,
                     S* grads);
  void forget_tape();

  Matrix<S> final_;  // h at the end of each timeline
  std::vector<StopOp> stop_ops_;
  std::span<Answer> answers_;

  using Base::column_at;
  using Base::loss_;
  using Base::memory_gradient_rows;
  using Base::network_;
  using Base::op_is_stop_;
  using Base::op_places_;
  using Base::options_;
  using Base::scratch_;
  using Base::state_;
  using Base::sums_;
  using Base::tape_;
  using Base::weights_;

 private:
  void serve(bool absorbing);
  const S* remembered(const StopOp& op, std::span<const Index> places);
  HeadOp read(Index w, const S* h, const S* remembered);
  void read_backward(const S* params, Index w, const HeadOp& op, S* d_h, S* d_remembered, S* grads);
  void judge(const Column& column, std::size_t stop, const S* phi, S* d_phi);
  void answer(Index index, const Stop& stop, std::size_t query, std::size_t answer, const S* phi,
              const S* h);
  Observed<S> observed(const Column& column, std::size_t stop) const {
    const Stop& at = column.timeline->stops[stop];
    return {column.timeline->feature.data() + at.first, column.timeline->value.data() + at.first,
            static_cast<Index>(at.count)};
  }
  // Without features that hardly ever change, which are in no loss. Valid until the next call.
  Observed<S> scored(const Column& column, std::size_t stop);
  void check_finite(const Column& column, std::size_t stop, const S* phi) const;

  void absorb(StopOp& op, std::span<const Index> places);
  void sort_observations(JumpOp& jump, std::span<const Index> places);
  void encode_observations(const HeadOp& pre, std::span<const Index> places, JumpOp& jump);
  S guarded_value(Index index, Index feature, S x, const S* phi);
  void judge_jump(StopOp& op, std::span<const Index> places);
  void jump_backward(const S* params, const StopOp& op, S* d, S* d_remembered, S* grads);
  void encode_backward(const StopOp& op, S* d_v, S* d_remembered);

  Arena<Index> index_tape_;
  std::vector<std::int32_t> scored_feature_;
  std::vector<S> scored_value_;
};

}  // namespace edict

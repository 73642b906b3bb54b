#include "engine/training_pass.h"

namespace edict {

template <class S, Head H>
LossSums TrainingPass<S, H>::train(const S* params, std::span<const BasicExample<S>> examples,
                                   const LossWeights& weights, std::size_t tape_bytes, S* grads,
                                   const EndLoss& at_end) {
  const JumpOde<H>& network = this->network_;
  const auto count = static_cast<Index>(examples.size());
  this->loss_ = weights;
  this->forget_tape();
  network.transpose(params, transposed_);
  this->begin({transposed_.data()}, examples);
  this->final_.resize(network.hidden, at_end ? count : 0);

  std::size_t segments = 0;
  ticks_.clear();
  const auto begin_segment = [&] {
    if (segments == snapshots_.size()) snapshots_.emplace_back();
    snapshots_[segments++] = this->state_;
    ticks_.push_back(0);
    this->forget_tape();
  };
  begin_segment();
  while (this->tick()) {
    ++ticks_.back();
    if (this->tape_.bytes() > tape_bytes) begin_segment();
  }
  const LossSums result = this->sums_;

  // Places of branches start without a gradient; so do columns, but for those that end with what
  // they absorbed last.
  d_h_.setZero(network.hidden, this->state_.h.cols());
  d_memory_.setZero(this->memory_gradient_rows(), this->state_.h.cols());
  d_final_.setZero(network.hidden, at_end ? count : 0);
  if (at_end) {
    const auto ends_with_query = [&](Index i) {
      const auto& column = this->state_.columns[static_cast<std::size_t>(i)];
      const auto& stops = column.timeline->stops;
      return !stops.empty() && (stops.back().what & Timeline<S>::kQuery) &&
             !Base::absorbs(column, stops.back());
    };
    for (Index i = 0; i < count; ++i)
      if (!ends_with_query(i)) this->final_.col(i) = this->state_.h.col(i);
    at_end(this->final_.data(), d_final_.data());
    for (Index i = 0; i < count; ++i)
      if (!ends_with_query(i)) d_h_.col(i) = d_final_.col(i);
  }
  const S* const d_final = at_end ? d_final_.data() : nullptr;
  backward(params, d_final, grads);
  while (--segments > 0) {
    this->state_ = snapshots_[segments - 1];
    this->forget_tape();
    for (std::size_t i = 0; i < ticks_[segments - 1]; ++i) this->tick();
    backward(params, d_final, grads);
  }
  // A state that was given is where gradients end.
  d_initial_ = d_h_.leftCols(count);
  bool fresh = false;
  for (Index i = 0; i < count; ++i) {
    const bool given = examples[static_cast<std::size_t>(i)].state != nullptr;
    if (given) d_initial_.col(i).setZero();
    fresh |= !given;
  }
  if (!fresh) return result;
  network.initial_backward(this->weights_, params, count, this->covariates_.data(),
                           this->initial_inner_.data(), d_initial_.data(), this->scratch_, grads);
  this->scratch_.reset();
  return result;
}

template <class S, Head H>
void TrainingPass<S, H>::backward(const S* params, const S* d_final, S* grads) {
  std::size_t step = this->step_ops_.size(), stop = this->stop_ops_.size();
  for (std::size_t op = this->op_is_stop_.size(); op-- > 0;) {
    if (this->op_is_stop_[op])
      this->stop_backward(params, this->stop_ops_[--stop], d_final, d_h_.data(), d_memory_.data(),
                          grads);
    else
      this->step_backward(params, this->step_ops_[--step], d_h_.data(), d_memory_.data(), grads);
  }
}

template class TrainingPass<float, NiwHead>;
template class TrainingPass<double, NiwHead>;
template class TrainingPass<float, GaussianHead>;
template class TrainingPass<double, GaussianHead>;

}  // namespace edict

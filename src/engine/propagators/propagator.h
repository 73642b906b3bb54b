// How a state moves over time where nothing is observed, as model.propagator chooses: the GRU-ODE
// in steps, or a closed form that arrives in one. The engine asks here for the next move of a
// column, takes it for many columns at once, and goes back through it.
#pragma once

#include <span>
#include <string>
#include <variant>

#include "engine/propagators/closed_form.h"
#include "engine/propagators/stepped_gru_ode.h"

namespace edict {

class Propagator {
 public:
  static constexpr double kMaxSteps = SteppedGruOde::kMaxSteps;

  Propagator(ParameterLayout& layout, const std::string& name, const EngineSettings& settings)
      : first_step_(settings.step), choice_(chosen(layout, name, settings)) {}

  const SteppedGruOde* stepped() const { return std::get_if<SteppedGruOde>(&choice_); }
  const ClosedForm* closed_form() const { return std::get_if<ClosedForm>(&choice_); }

  bool adaptive() const { return stepped() && stepped()->adaptive(); }
  int stages() const { return stepped() ? stepped()->stages() : 1; }
  double first_step() const { return first_step_; }

  template <class S>
  void transpose(const S* params, S* transposed) const {
    std::visit([&](const auto& one) { one.transpose(params, transposed); }, choice_);
  }

  // A clock at an event; dt: what an adaptive solver ended the way to it with.
  Clock begin(double time, double dt) const { return {time, 0, time, dt}; }

  // Steps to `target`, at least roughly; over kMaxSteps is too many.
  double steps_to(const Clock& clock, double target) const {
    return stepped() ? stepped()->steps_to(clock, target) : 1.0;
  }

  // Towards `target`, which is not before the clock; infinity: as far as one step leads.
  Move next(const Clock& clock, double target) const {
    return stepped() ? stepped()->next(clock, target) : closed_form()->next(clock, target);
  }

  // How many full steps lie before the last, shorter one to `target`; fixed steps only.
  std::int64_t full_steps(const Clock& clock, double target) const {
    return stepped() ? stepped()->full_steps(clock, target) : 0;
  }

  // What becomes of the clock after a move, see SteppedGruOde; a closed form's is always accepted.
  bool accept(Clock& clock, const Move& move, double norm) const {
    return !stepped() || stepped()->accept(clock, move, norm);
  }
  bool vanished(const Clock& clock, double target) const {
    return stepped() && stepped()->vanished(clock, target);
  }

  template <class S>
  Stage<S> stage(Arena<S>& keep, Index w) const {
    const Index n = stepped() ? stepped()->cell().size() : closed_form()->size();
    const Index rest = stepped() ? stepped()->kept() : closed_form()->kept();
    const S* const h = keep.take(n * w);
    return {h, keep.take(rest * w)};
  }

  // h_next: H × w. norms: of each column's error, if the solver is adaptive.
  template <class S>
  void forward(Transposed<S> params, Index w, const S* dt, std::span<Stage<S>> stages,
               Arena<S>& scratch, S* h_next, double* norms) const {
    if (stepped())
      stepped()->forward(params, w, dt, stages, scratch, h_next, norms);
    else
      closed_form()->forward(params, w, dt, stages[0].h, stages[0].rest, h_next);
  }

  // d_h: the gradient of h_next on entry and of h on return.
  template <class S>
  void backward(const S* params, Index w, const S* dt, std::span<Stage<S>> stages,
                Arena<S>& scratch, S* d_h, S* grads) const {
    if (stepped())
      stepped()->backward(params, w, dt, stages, scratch, d_h, grads);
    else
      closed_form()->backward(params, w, dt, stages[0].h, stages[0].rest, scratch, d_h, grads);
  }

 private:
  using Choice = std::variant<SteppedGruOde, ClosedForm>;
  static Choice chosen(ParameterLayout& layout, const std::string& name,
                       const EngineSettings& settings) {
    if (settings.propagator == Propagation::closed_form) return ClosedForm(layout, name, settings);
    return SteppedGruOde(layout, name, settings);
  }

  double first_step_;
  Choice choice_;
};

}  // namespace edict

// The propagator that integrates the GRU-ODE in steps. It decides how long they are, takes one for
// many columns at once, and goes back through it.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <string>

#include "base/arena.h"
#include "engine/engine_settings.h"
#include "engine/propagators/clock.h"
#include "nn/gru_ode_cell.h"
#include "ode/runge_kutta.h"

namespace edict {

class SteppedGruOde {
 public:
  // A column may not need more steps than this to get to a single moment: a wrong time unit should
  // be said, not taken for a week.
  static constexpr double kMaxSteps = 1e7;

  SteppedGruOde(ParameterLayout& layout, const std::string& name, const EngineSettings& settings)
      : cell_(layout, name, settings.hidden),
        solver_(tableau(settings.solver)),
        step_(settings.step),
        rtol_(settings.rtol),
        atol_(settings.atol) {}

  const GruOdeCell& cell() const { return cell_; }
  bool adaptive() const { return solver_.adaptive; }
  int stages() const { return solver_.stages; }

  template <class S>
  void transpose(const S* params, S* transposed) const {
    cell_.transpose(params, transposed);
  }

  // Steps to `target`, at least roughly; over kMaxSteps is too many.
  double steps_to(const Clock& clock, double target) const {
    return solver_.adaptive ? static_cast<double>(clock.steps)
                            : std::ceil((target - clock.start) / step_ - kSlack);
  }

  // Towards `target`, which is not before the clock; infinity: as far as one step leads.
  Move next(const Clock& clock, double target) const {
    if (solver_.adaptive) {
      const double left = target - clock.now;
      // A last sliver of a step would cost a whole one.
      return clock.dt > kNearly * left ? Move{left, true} : Move{clock.dt, false};
    }
    const double gap = target - clock.start;
    if (gap <= 0) return {0.0, true};
    const double steps = std::max(1.0, std::ceil(gap / step_ - kSlack));
    const auto taken = static_cast<double>(clock.steps);
    return taken + 1.0 >= steps ? Move{gap - taken * step_, true} : Move{step_, false};
  }

  // How many full steps lie before the last, shorter one to `target`; fixed steps only.
  std::int64_t full_steps(const Clock& clock, double target) const {
    return static_cast<std::int64_t>(steps_to(clock, target)) - 1 - clock.steps;
  }

  // What becomes of the clock after a move whose error was `norm` (in units of the tolerance; fixed
  // steps have none). False: the move is rejected and another, shorter one is to be tried.
  bool accept(Clock& clock, const Move& move, double norm) const {
    ++clock.steps;
    if (!solver_.adaptive) return true;
    const double suggested = move.dt * step_factor(solver_, norm);
    if (!(norm <= 1.0)) {
      clock.dt = suggested;
      return false;
    }
    clock.now += move.dt;
    // A step cut short by its target says little about the next one.
    clock.dt = move.last ? std::max(clock.dt, suggested) : suggested;
    return true;
  }
  // Whether rejected moves have become too short to get to `target`.
  bool vanished(const Clock& clock, double target) const {
    return clock.dt < 1e-10 * (target - clock.now);
  }

  // What an evaluation of the drift keeps besides h, × w.
  Index kept() const { return 3 * cell_.size(); }

  // One evaluation of the drift a stage; the states of the first stand in stages[0]. h_next: H × w.
  // norms: of each column's error, if the solver is adaptive.
  template <class S>
  void forward(Transposed<S> params, Index w, const S* dt, std::span<Stage<S>> stages,
               Arena<S>& scratch, S* h_next, double* norms) const {
    const Index n = cell_.size();
    Field<S> field{cell_, nullptr, params, w, stages.data(), nullptr, nullptr};
    const S* const h = stages[0].h;
    S* const k = scratch.take((solver_.stages + 1) * n * w);
    step_forward(solver_, field, n, w, h, dt, k, h_next);
    if (!solver_.adaptive) return;
    const auto end = cell_.cache(scratch, static_cast<const S*>(h_next), w);
    cell_.forward(params, w, end, k + solver_.stages * n * w);
    error_norms(solver_, n, w, h, h_next, dt, k, rtol_, atol_, norms);
  }

  // d_h: the gradient of h_next on entry and of h on return.
  template <class S>
  void backward(const S* params, Index w, const S* dt, std::span<Stage<S>> stages,
                Arena<S>& scratch, S* d_h, S* grads) const {
    const Index n = cell_.size();
    S* const d_k = scratch.take(n * w);
    S* const d_y = scratch.take(solver_.stages * n * w);
    S* const r_h = scratch.take(n * w);
    Field<S> field{cell_, params, {}, w, stages.data(), r_h, grads};
    step_backward(solver_, field, n, w, dt, d_k, d_y, d_h);
  }

 private:
  // Keeps 0.15/0.05 at three steps.
  static constexpr double kSlack = 1e-6;
  static constexpr double kNearly = 0.99;

  // The drift as ode/ sees it: one cache a stage.
  template <class S>
  struct Field {
    const GruOdeCell& cell;
    const S* params;
    Transposed<S> transposed;
    Index width;
    Stage<S>* stages;
    S* r_h;
    S* grads;

    S* state(int i) { return const_cast<S*>(stages[i].h); }
    void evaluate(int i, S* k) { cell.forward(transposed, width, cache(i), k); }
    void pull_back(int i, const S* d_k, S* d_y) {
      cell.backward(params, width, d_k, cache(i), r_h, d_y, grads);
    }
    GruOdeCell::Cache<S> cache(int i) const {
      return {stages[i].h, stages[i].rest, stages[i].rest + 2 * cell.size() * width};
    }
  };

  GruOdeCell cell_;
  Tableau solver_;
  double step_, rtol_, atol_;
};

}  // namespace edict

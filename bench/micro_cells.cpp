// Drift, jump and head at the published sizes. Each is first computed in double as well (whose
// gradients the tests check against differences) and must agree to single precision.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>

#include "base/generator.h"
#include "engine/heads/niw_head.h"
#include "engine/jump_ode.h"
#include "peak.h"

namespace {

using namespace edict;

constexpr Index kFeatures = 3;

const JumpOde<NiwHead>& model() {
  static const JumpOde<NiwHead> network(NetworkSettings{}, kFeatures, 0);
  return network;
}

// The same network and the same inputs in S. `width` columns; everything is H × w unless said.
template <class S>
struct Bench {
  explicit Bench(Index columns) : w(columns), params(model().layout.template initial<S>(1)) {
    model().transpose(params.data(), transposed);
    grads.setZero(params.size());
    Generator rng(7);
    const auto draw = [&](Index height) {
      return Matrix<S>(Matrix<S>::NullaryExpr(
          height, w, [&] { return static_cast<S>(rng.uniform(-0.8, 0.8)); }));
    };
    h = draw(n), d = draw(n), gi = draw(3 * n), d_phi = draw(rows);
    out.setZero(n, w), d_h.setZero(n, w), r_h.setZero(n, w), d_gh.setZero(3 * n, w);
    a.setZero(stacked, w), d_a = a, phi.setZero(rows, w);
  }

  void drift_forward() {
    arena.reset();
    drift = model().propagator.stepped()->cell().cache(arena, static_cast<const S*>(h.data()), w);
    model().propagator.stepped()->cell().forward(Transposed<S>{transposed.data()}, w, drift,
                                                 out.data());
  }
  void drift_backward() {
    model().propagator.stepped()->cell().backward(params.data(), w, d.data(), drift, r_h.data(),
                                                  d_h.data(), grads.data());
  }
  void jump_forward() {
    arena.reset();
    jump = model().update.cache(arena, static_cast<const S*>(h.data()), w);
    model().update.forward(Transposed<S>{transposed.data()}, w, gi.data(), jump, out.data());
  }
  void jump_backward() {
    model().update.backward(params.data(), w, d.data(), jump, d_h.data(), d_gh.data(),
                            grads.data());
  }
  void head_forward() {
    model().head.forward(Transposed<S>{transposed.data()}, w, h.data(), a.data(), phi.data());
  }
  void head_backward() {
    d_h.setZero();
    Matrix<S> used = d_phi;
    model().head.backward(params.data(), w, h.data(), a.data(), phi.data(), used.data(), d_a.data(),
                          d_h.data(), grads.data());
  }

  Index n = model().hidden, rows = model().head.rows(), stacked = model().head.stacked(), w;
  Vector<S> params, transposed, grads;
  Matrix<S> h, d, gi, d_phi, out, d_h, r_h, d_gh, a, d_a, phi;
  Arena<S> arena;
  GruOdeCell::Cache<S> drift{};
  GruCell::Cache<S> jump{};
};

template <class A, class B>
bool near(const A& single, const B& exact) {
  const double scale = std::max(1.0, exact.array().abs().maxCoeff());
  return (single.template cast<double>() - exact).array().abs().maxCoeff() < 2e-5 * scale;
}

// Runs prepare (not timed) and then body, in float and in double, compares what they leave, and
// times body. `products`: multiply-adds a column.
template <class Prepare, class Body>
void time_it(benchmark::State& state, double products, Prepare prepare, Body body) {
  Bench<float> single(state.range(0));
  Bench<double> exact(state.range(0));
  prepare(single), body(single), prepare(exact), body(exact);
  if (!near(single.out, exact.out) || !near(single.d_h, exact.d_h) ||
      !near(single.phi, exact.phi) || !near(single.grads, exact.grads)) {
    state.SkipWithError("float and double disagree");
    return;
  }
  for (auto _ : state) {
    body(single);
    benchmark::ClobberMemory();
  }
  const double flops = 2 * products * static_cast<double>(state.range(0));
  const double done = flops * static_cast<double>(state.iterations());
  static const double peak = fma_peak_gflops();
  state.counters["GFlop/s"] = benchmark::Counter(1e-9 * done, benchmark::Counter::kIsRate);
  state.counters["% of peak"] =
      benchmark::Counter(1e-9 * done / peak * 100, benchmark::Counter::kIsRate);
  state.counters["ns/column"] =
      benchmark::Counter(1e-9 * static_cast<double>(state.iterations() * state.range(0)),
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

const auto nothing = [](auto&) {};

double drift_products() { return static_cast<double>(3 * model().hidden * model().hidden); }
double head_products() {
  const Index width = model().head.stacked();
  return static_cast<double>(width * model().hidden + width / 4 * model().head.rows());
}

void drift_forward(benchmark::State& state) {
  time_it(state, drift_products(), nothing, [](auto& b) { b.drift_forward(); });
}
// The cache is used up by backward, so the forward is part of every round; subtract it.
void drift_forward_and_backward(benchmark::State& state) {
  time_it(state, 3 * drift_products(), nothing, [](auto& b) {
    b.drift_forward();
    b.drift_backward();
  });
}
void jump_forward(benchmark::State& state) {
  time_it(state, drift_products(), nothing, [](auto& b) { b.jump_forward(); });
}
void jump_forward_and_backward(benchmark::State& state) {
  time_it(state, 3 * drift_products(), nothing, [](auto& b) {
    b.jump_forward();
    b.jump_backward();
  });
}
void head_forward(benchmark::State& state) {
  time_it(state, head_products(), nothing, [](auto& b) { b.head_forward(); });
}
void head_backward(benchmark::State& state) {
  time_it(
      state, 2 * head_products(), [](auto& b) { b.head_forward(); },
      [](auto& b) { b.head_backward(); });
}

// One column is what a stream steps.
BENCHMARK(drift_forward)->Arg(1)->Arg(16)->Arg(50)->Arg(64)->Arg(128);
BENCHMARK(drift_forward_and_backward)->Arg(16)->Arg(50)->Arg(64)->Arg(128);
BENCHMARK(jump_forward)->Arg(1)->Arg(16)->Arg(64);
BENCHMARK(jump_forward_and_backward)->Arg(16)->Arg(64);
BENCHMARK(head_forward)->Arg(1)->Arg(16)->Arg(64);
BENCHMARK(head_backward)->Arg(16)->Arg(64);

}  // namespace

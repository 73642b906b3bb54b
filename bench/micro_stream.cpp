// One observation of a stream: the walk to its time and the jump; and one question.
#include <benchmark/benchmark.h>

#include <memory>

#include "ask/stream.h"
#include "research/import/synthetic.h"

namespace {

using namespace edict;

std::shared_ptr<const Model> untrained(Propagation propagator) {
  const Dataset data = generate_synthetic(50, 0);
  Config config;
  config.model.propagator = propagator;
  return std::make_shared<const Model>(Model::create(config, data, split(data, 0)));
}

// The argument is the gap in solver steps.
void stream_observe(benchmark::State& state, Propagation propagator) {
  const auto model = untrained(propagator);
  const double gap = model->config.model.step * static_cast<double>(state.range(0));
  Stream stream(model);
  const Observation seen[] = {{0, 0.1}, {2, -0.3}};
  for (auto _ : state) stream.observe(stream.now() + gap, seen);
}

void stream_distribution(benchmark::State& state, Propagation propagator) {
  const auto model = untrained(propagator);
  const double gap = model->config.model.step * static_cast<double>(state.range(0));
  Stream stream(model);
  for (auto _ : state) benchmark::DoNotOptimize(stream.distribution(gap).data());
}

}  // namespace

BENCHMARK_CAPTURE(stream_observe, gru_ode, Propagation::gru_ode)->Arg(1)->Arg(10);
BENCHMARK_CAPTURE(stream_observe, closed_form, Propagation::closed_form)->Arg(1)->Arg(10);
BENCHMARK_CAPTURE(stream_distribution, gru_ode, Propagation::gru_ode)->Arg(1)->Arg(10);
BENCHMARK_CAPTURE(stream_distribution, closed_form, Propagation::closed_form)->Arg(1)->Arg(10);

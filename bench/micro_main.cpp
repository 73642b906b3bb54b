// Every hot path by itself. A benchmark checks its answer before it times it, and names the share
// of the processor's peak its matrix products reach (% of peak) where it has any.
#include <benchmark/benchmark.h>
#include <fmt/core.h>

#include "peak.h"

int main(int count, char** arguments) {
  benchmark::Initialize(&count, arguments);
  if (benchmark::ReportUnrecognizedArguments(count, arguments)) return 2;
  benchmark::AddCustomContext("fma_peak_gflops", fmt::format("{:.1f}", edict::fma_peak_gflops()));
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}

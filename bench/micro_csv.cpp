// Reading a dataset from memory; it must come back as it was written.
#include <benchmark/benchmark.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "data/read/csv/csv.h"
#include "research/import/synthetic.h"

namespace {

using namespace edict;

std::string written(const Dataset& data) {
  const auto path = std::filesystem::temp_directory_path() / "edict_bench.csv";
  write_csv(data, path);
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  std::filesystem::remove(path);
  return text.str();
}

void read_csv(benchmark::State& state) {
  const Dataset data = generate_synthetic(500, 0);
  const std::string text = written(data);
  const Dataset back = read_csv_text(text, "bench");
  if (back.times != data.times || back.observations() != data.observations())
    state.SkipWithError("the data did not come back");
  for (auto _ : state) benchmark::DoNotOptimize(read_csv_text(text, "bench").times.data());
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(data.times.size()));
}

BENCHMARK(read_csv)->Unit(benchmark::kMillisecond);

}  // namespace

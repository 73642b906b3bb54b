// One page with the benchmarks: a table a task, ours beside what others published.
#pragma once

#include <string>
#include <vector>

#include "research/benchmark.h"

namespace edict::report {

// The rows of a task: one a method, ours first, then those measured by other programs, then the
// published ones in the order of their file.
struct BenchmarkTable {
  study::BenchmarkTask task;
  std::vector<std::string> metrics;  // columns
  struct Row {
    std::string method, source;
    std::vector<const study::BenchmarkValue*> values;  // of each metric, or null
  };
  std::vector<Row> rows;
};

// Of the tasks that `values` tell of. The tables point into it.
std::vector<BenchmarkTable> benchmark_tables(const std::vector<study::BenchmarkValue>& values);

std::string benchmark_text(const std::vector<BenchmarkTable>& tables);
std::string benchmark_page(const std::vector<BenchmarkTable>& tables, const std::string& about);

}  // namespace edict::report

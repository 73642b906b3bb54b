// How edict does by the rules of others, so that its figures stand beside published ones; and on
// a process whose exact predictor is known, so that they stand beside the best there is.
//
//   forecast             PhysioNet: 36 h given, the next three hourly bins asked for, as the public
//                        reader of the forecasters prepares it
//   forecast-plain       the same without that reader's two quirks
//   (research/import/physionet_field.h) interpolation        PhysioNet: half of the time points of
//   a stay given, the others asked for,
//                        from both sides where train.smooth is set, as the preset has it
//   death                PhysioNet: in-hospital death, five folds; which fold judges a stay is
//                        written to death/folds.csv, for other programs to be judged by
//   ornstein-uhlenbeck   generated; `regret` is by how many nats a value the model falls short of
//                        the exact predictor
//
// Every judged value counts once, as in the published tables, where `edict evaluate` takes means
// over series. NLL is of each value by itself. Settings are presets/benchmark/<task>.toml.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/threads/thread_pool.h"
#include "learn/trainer.h"

namespace edict::study {

struct BenchmarkTask {
  std::string name;
  std::string title;
  bool needs_data;  // the PhysioNet downloads
};
const std::vector<BenchmarkTask>& benchmark_tasks();

// A number of a method at a task: measured, published, or of another program.
struct BenchmarkValue {
  std::string task, method, metric;
  double value;
  double deviation = 0.0;  // over splits or folds; 0 for one
  std::string source;      // where it was published; empty: measured here
};

// Those that were published, from presets/published/field.csv.
std::vector<BenchmarkValue> published_field();
// Rows of a file of that form, with the columns task, method, metric and value at least in that
// order. Throws Error with the line where it is not.
std::vector<BenchmarkValue> read_benchmark_values(const std::string& text, const std::string& name);

struct BenchmarkOptions {
  std::filesystem::path from;            // PhysioNet's downloads
  std::filesystem::path out;             // where models are kept, and found again; empty: nowhere
  std::string split = "validation";      // or test: what is judged
  std::vector<std::int64_t> seeds{0};    // of the split and of the weights, one model each
  std::size_t members = 1;               // of an ensemble in each split or fold
  std::vector<std::string> assignments;  // of settings, after the preset's
  std::size_t series = 0;                // at most so many; 0: all
  StopFlag stop = nullptr;
  std::function<void(const std::string& what)> on_stage;
  std::function<void(const EpochRow&)> on_epoch;
};

// Trains, where no finished model is in `out`, and judges. Throws Interrupted when it is stopped.
std::vector<BenchmarkValue> run_benchmark(const std::string& task, ThreadPool& pool,
                                          const BenchmarkOptions& options);

nlohmann::json to_json(const BenchmarkValue& value);

}  // namespace edict::study

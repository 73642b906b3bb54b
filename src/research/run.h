// One experiment in a folder of its own: a model trained on a dataset, judged, and put under noise.
//
// The folder's name carries a hash of what training depends on (settings, data, sources of the
// program); every later stage writes a file that carries the hash of its own inputs. A file that is
// there with the right hash and every field is done work. Files appear whole or not at all and
// training continues from its checkpoint, so a run may be killed at any moment and begun again.
//
// clang-format off
//   config.toml    all settings             command.txt    how to redo it by hand
//   model          after training           train.json     best epoch
//   model.metrics.csv                       evaluate.json  calibration (with a distribution)
//   classifier     model with classifiers   classify.json  their validation scores
//   stress.json    the noise sweep          browse.json    single series (with a distribution)
//   log.txt        what happened when
// clang-format on
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/threads/interrupted.h"
#include "base/threads/thread_pool.h"
#include "judge/evaluate.h"
#include "judge/stress.h"
#include "model/model.h"
#include "render/browse.h"
#include "research/plan.h"
#include "research/source_hash.h"
#include "research/stage_results.h"

namespace edict::study {

struct RunSpec {
  PlannedData data;
  std::string data_path;  // as the commands name it, from inside the run's folder
  std::string method;
  Config config;
  std::vector<Guard> guards;
  std::vector<int> levels;
  std::vector<std::int64_t> seeds;     // of noise and classifiers
  std::string sources{source_hash()};  // results of others are not reused
};

// What its caller may want to know or say meanwhile.
struct RunHooks {
  const std::atomic<bool>* stop = nullptr;
  std::function<void(double share, const std::string& note)> progress;  // of this run
};

// What the finished stages wrote; empty where one is not finished, or not part of the run.
struct RunResults {
  std::optional<TrainingSummary> training;
  std::optional<Evaluation> evaluation;
  std::optional<ClassifierScores> classifiers;
  std::optional<StressResult> stress;
  std::optional<Browse> browse;
};

class Run {
 public:
  Run(RunSpec spec, const Dataset& data, std::uint64_t data_fingerprint,
      const std::filesystem::path& runs);

  const RunSpec& spec() const { return spec_; }
  const std::string& name() const { return name_; }  // of its folder
  const std::filesystem::path& folder() const { return folder_; }

  // Rough work that is left, in thousands of series passed through; 0 if everything is there.
  double pending() const;

  // Does what is not yet done. Throws Error, or Interrupted when `stop` was set; everything
  // finished until then is kept.
  void conduct(ThreadPool& pool, const RunHooks& hooks) const;

  RunResults results() const;

 private:
  struct Stage;
  using Tell = std::function<void(double share, const std::string& note)>;  // of the stage
  std::vector<Stage> stages() const;
  template <class Result>
  Stage stage(const char* name, std::string key, double cost,
              Result (Run::*work)(ThreadPool&, const RunHooks&, const Tell&) const,
              std::optional<Result> RunResults::*place) const;

  TrainingSummary train_model(ThreadPool&, const RunHooks&, const Tell&) const;
  Evaluation evaluate_model(ThreadPool&, const RunHooks&, const Tell&) const;
  ClassifierScores train_classifiers(ThreadPool&, const RunHooks&, const Tell&) const;
  StressResult stress_model(ThreadPool&, const RunHooks&, const Tell&) const;
  Browse browse_series(ThreadPool&, const RunHooks&, const Tell&) const;

  std::string commands() const;
  void log(const std::string& line) const;

  RunSpec spec_;
  const Dataset& data_;
  Split split_;
  bool has_distribution_, labelled_;
  std::string key_;  // of training
  std::string name_;
  std::filesystem::path folder_;
};

}  // namespace edict::study

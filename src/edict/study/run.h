// One experiment in a folder of its own: a model trained on a dataset, judged, and put under noise.
//
// The folder's name carries a hash of what training depends on (settings, data, version of the
// program); every later stage writes a file that carries the hash of its own inputs. A file that is
// there with the right hash is done work. Files appear whole or not at all and training continues
// from its checkpoint, so a run may be killed at any moment and begun again.
//
//   config.toml    all settings             command.txt    how to redo it by hand
//   model          after training           train.json     best epoch
//   model.metrics.csv                       evaluate.json  calibration (with a distribution)
//   classifier     model with classifiers   classify.json  their validation scores
//   stress.json    the noise sweep          browse.json    single series (with a distribution)
//   log.txt        what happened when
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "edict/core/interrupted.h"
#include "edict/core/thread_pool.h"
#include "edict/model/model.h"
#include "edict/study/plan.h"

namespace edict {

struct RunSpec {
  PlannedData data;
  std::string data_path;  // as the commands name it, from inside the run's folder
  std::string method;
  Config config;
  std::vector<Guard> guards;
  std::vector<int> levels;
  std::vector<std::int64_t> seeds;  // of noise and classifiers
};

// What its caller may want to know or say meanwhile.
struct RunHooks {
  const std::atomic<bool>* stop = nullptr;
  std::function<void(double share, const std::string& note)> progress;  // of this run
};

class Run {
 public:
  Run(RunSpec spec, const Dataset& data, std::uint64_t data_fingerprint,
      const std::filesystem::path& runs);

  const RunSpec& spec() const { return spec_; }
  const std::string& name() const { return name_; }  // of its folder
  const std::filesystem::path& folder() const { return folder_; }

  // Rough work that is left, in thousands of series walked; 0 if everything is there.
  double pending() const;

  // Does what is not yet done. Throws Error, or Interrupted when `stop` was set; everything
  // finished until then is kept.
  void conduct(ThreadPool& pool, const RunHooks& hooks) const;

  // What a finished stage ("evaluate", …) wrote; null if it is not finished.
  nlohmann::json result(std::string_view stage) const;

 private:
  struct Stage {
    std::string name, key;
    double cost;
    void (Run::*work)(ThreadPool&, const RunHooks&, double from, double cost,
                      nlohmann::json&) const;
  };
  std::vector<Stage> stages() const;
  nlohmann::json read(const Stage& stage) const;  // null unless it is done
  bool done(const Stage& stage) const { return !read(stage).is_null(); }

  void train_model(ThreadPool&, const RunHooks&, double, double, nlohmann::json&) const;
  void evaluate_model(ThreadPool&, const RunHooks&, double, double, nlohmann::json&) const;
  void classify(ThreadPool&, const RunHooks&, double, double, nlohmann::json&) const;
  void stress_model(ThreadPool&, const RunHooks&, double, double, nlohmann::json&) const;
  void browse_series(ThreadPool&, const RunHooks&, double, double, nlohmann::json&) const;

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

}  // namespace edict

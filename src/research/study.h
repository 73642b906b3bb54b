// A whole plan, experiment after experiment; what is finished already is taken as it is.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "research/run.h"

namespace edict::study {

struct StudyOptions {
  std::filesystem::path out;   // runs/ and data/ are made inside
  std::filesystem::path data;  // where the datasets' files are
  bool need_all = false;       // a dataset whose file is missing is an Error, else left out
  std::size_t threads = 0;
  bool claim = false;  // others conduct the same plan in the same folder (base/files/claims.h)
  const std::atomic<bool>* stop = nullptr;
  std::function<void(double share, const std::string& note)> progress;
  std::function<void(const std::string&)> line;  // worth keeping
};

struct StudiedData {
  PlannedData plan;
  Dataset data;
};

struct StudiedRun {
  std::string dataset, method;  // as in the plan
  std::int64_t seed = 0;        // of the training
  std::string folder;           // name below runs/; empty where it failed before it had one
  std::vector<Guard> guards;
  std::optional<std::string> failure;
  RunResults results;
};

struct Study {
  Plan plan;
  std::vector<StudiedData> datasets;
  std::vector<StudiedRun> runs;
  bool interrupted = false;

  std::size_t failures() const;
};

// Throws Error only for what stops everything: data that cannot be read, a folder that cannot be
// written.
Study conduct(const Plan& plan, const StudyOptions& options);

}  // namespace edict::study

// A search for good settings that can be repeated: random draws from named ranges, judged by the
// interpolation of the validation split, most of them cut short by successive halving.
//
// In the folder: search.json (what is searched; a search goes on only where it is the same),
// trial-0000/config.toml and trial-0000/rung-0.json (…) as runs finish, rung-0.model with the
// checkpoint of a run under way, trials.csv with every run, best.toml, claims/ where several search
// together. Each file appears whole or not at all.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <limits>
#include <vector>

#include "base/threads/thread_pool.h"
#include "data/dataset.h"
#include "learn/trainer.h"
#include "research/search/halving.h"
#include "research/search/ranges.h"

namespace edict::study {

// Whichever is reached first. Of a budget in time, what earlier calls used counts too.
struct SearchBudget {
  std::size_t trials = std::numeric_limits<std::size_t>::max();
  double seconds = std::numeric_limits<double>::infinity();
};

// "20" trials, "90s", "30m" or "2h".
SearchBudget parse_budget(const std::string& text);

struct SearchOptions {
  std::filesystem::path out;  // made if it is not there
  std::vector<SearchRange> ranges = usual_ranges();
  SearchBudget budget;
  std::uint64_t seed = 0;
  std::size_t rungs = 3;
  std::int64_t fewest_epochs = 2;  // of the shortest rung
  // Others search in the same folder: every run is claimed (base/files/claims.h) before it is
  // begun, and with a budget of trials they do together what one would do alone.
  bool claim = false;
  std::chrono::milliseconds stale_claim = std::chrono::seconds(60);
  StopFlag stop = nullptr;  // asked while it waits for others
  // Before a run, and after it.
  std::function<void(const Step&, const Config&)> on_start;
  std::function<void(const Outcome&)> on_outcome;
};

struct SearchResult {
  std::vector<Outcome> outcomes;  // by rung, then trial
  bool interrupted = false;
  bool out_of_time = false;
};

// Runs one trial: fills the figures of the outcome. `model` is where it may keep its model and
// checkpoint. Throws Error where the settings fail; returns false where it was interrupted.
using Trial =
    std::function<bool(const Config& config, const std::filesystem::path& model, Outcome& outcome)>;

// `subject` tells apart what is searched on, such as the data's fingerprint. A trial that fails is
// recorded and passed over; Error where nothing but failures came of the first three.
SearchResult search(const Config& base, std::uint64_t subject, const Trial& trial,
                    const SearchOptions& options);

// Trains on the training split, and judges on the validation split; the test split is not touched.
// Where the settings calibrate, each half of the validation split is judged as the other half
// calibrates, and the model that is kept is calibrated by all of it, as `train` would.
Trial training_trial(const Dataset& data, ThreadPool& pool, const TrainOptions& training);

}  // namespace edict::study

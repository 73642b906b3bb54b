// What a search keeps on disk.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "research/search/halving.h"
#include "research/search/ranges.h"

namespace edict::study {

// What is searched. Outcomes of two searches that differ in any of it do not compare.
struct SearchPlan {
  std::uint64_t subject;  // such as the fingerprint of the data
  Config base;
  std::vector<SearchRange> ranges;
  std::uint64_t seed;
  std::vector<std::int64_t> epochs;  // of each rung
};

class SearchFolder {
 public:
  // Makes the folder, or takes up what is in it. Error if it holds a search of something else.
  // `shared`: others may be making it at this moment.
  SearchFolder(std::filesystem::path folder, const SearchPlan& searched, bool shared = false);

  // Of all runs that finished, by rung, then trial.
  std::vector<Outcome> read_outcomes() const;

  bool finished(const Step& step) const;
  std::filesystem::path model_path(const Step& step) const;
  void begin(const Step& step, const Config& config) const;
  void finish(const Outcome& outcome) const;

  // trials.csv and, once there is a success, best.toml. `settings(trial)` are those of a full run.
  template <class Settings>
  void summarise(const std::vector<Outcome>& outcomes, const std::vector<SearchRange>& ranges,
                 Settings settings) const {
    std::vector<Config> configs;
    for (const Outcome& outcome : outcomes) configs.push_back(settings(outcome.trial));
    remove_checkpoints(outcomes);
    write_table(outcomes, ranges, configs);
    if (const Outcome* best = best_outcome(outcomes)) write_best(*best, settings(best->trial));
  }

 private:
  std::filesystem::path trial_folder(std::size_t trial) const;
  // Of what is finished; one may be left where a search ended before it could remove it.
  void remove_checkpoints(const std::vector<Outcome>& outcomes) const;
  void write_table(const std::vector<Outcome>& outcomes, const std::vector<SearchRange>& ranges,
                   const std::vector<Config>& configs) const;
  void write_best(const Outcome& best, const Config& config) const;

  std::filesystem::path folder_;
};

}  // namespace edict::study

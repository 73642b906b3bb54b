// Which experiments are done: dataset × model × seeds × noise levels × guards, read from TOML (see
// presets/reproduce.toml).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "engine/jump/guard.h"
#include "model/config.h"

namespace edict::study {

struct PlannedData {
  std::string name;   // in file names and on the command line
  std::string title;  // in the published tables
  std::string file;   // inside the folder of the data; empty: Synthetic, generated
  std::size_t series = 10000;
  std::int64_t seed = 0;
  double rate = 0.7;  // of the compounding noise at level 9, per rate_unit of time
  double rate_unit = 1.0;
  std::string time_unit;  // for the axes; empty: none
};

struct PlannedModel {
  std::string dataset, method;    // a PlannedData's name; a row of the published tables
  std::string preset;             // relative to the plan, or one that the program carries
  std::vector<std::string> set;   // further table.key=value
  std::vector<Guard> guards{{}};  // of the noise sweep
  // A model is trained from each. Empty: the plan's seeds for a model without a distribution; else
  // the preset's own, its classifiers taking the plan's.
  std::vector<std::int64_t> train_seeds;
};

struct Plan {
  std::filesystem::path folder;  // where presets are looked for first
  std::vector<int> levels;
  std::vector<std::int64_t> seeds;
  std::vector<PlannedData> datasets;
  std::vector<PlannedModel> models;  // one entry a dataset and method

  const PlannedData& dataset(std::string_view name) const;  // Error if there is none
};

// An unknown key, a wrong type, a dataset that is not declared: an Error with file and line.
Plan read_plan(const std::filesystem::path& file);
Plan read_plan_text(std::string_view text, const std::string& name);

// The plans that the program carries.
Plan full_plan();
Plan quick_plan();

// Only these datasets of the plan, in its order. Error for a name it does not have.
void keep_datasets(Plan& plan, const std::vector<std::string>& names);

// Preset and settings resolved; throws what these throw.
Config config_of(const Plan& plan, const PlannedModel& model);

}  // namespace edict::study

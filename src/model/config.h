// Every setting together: what a TOML file holds and a model file carries. The tables are declared
// where they are used; [train] and [classify] stand here because they travel inside the model.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "engine/engine_settings.h"
#include "protocol/data_settings.h"
#include "settings/settings.h"

namespace edict {

struct ModelSettings : EngineSettings {
  std::string kind = "edict";
  settings::Values own;  // what only one kind knows, by name
};

// Of the learning rate.
enum class Schedule { constant, square_root, cosine };

// Of the validation split, by which epochs are compared, the lower the better. A model without a
// distribution has the cross-entropy, whatever its settings.
enum class Criterion { nll, crps, cross_entropy };

struct TrainSettings {
  std::int64_t seed = 0;
  std::int64_t epochs = 100;
  std::int64_t batch = 256;
  double learning_rate = 1e-4;
  Schedule schedule = Schedule::constant;
  double warmup = 0.0;
  double clip = 1.0;
  double clip_norm = 0.0;
  double weight_decay = 0.0;
  std::int64_t patience = 0;
  bool average = false;
  Criterion criterion = Criterion::nll;
  double forecast = 0.0;
  bool whole_series = false;
  double thin = 0.0;
  bool calibrate = false;
  bool smooth = false;
  std::int64_t chunk = 64;
  std::int64_t tape_megabytes = 512;
};

// The classifier that reads a summary of the series beside h(T) (model/classifier/readout.h).
struct ReadoutSettings {
  std::int64_t members = 0;
  std::int64_t without_state = 0;
  std::int64_t width = 64;
  std::int64_t epochs = 20;
  std::int64_t batch = 128;
  double learning_rate = 1e-3;
  double weight_decay = 0.01;
  double dropout = 0.5;
  double input_dropout = 0.2;
  std::int64_t trees = 0;
  std::int64_t leaves = 15;
  double tree_rate = 0.05;
};

// The classifier on h(T).
struct ClassifySettings {
  std::int64_t seed = 0;
  std::int64_t layers = 1;
  std::int64_t epochs = 20;
  std::int64_t batch = 64;
  double learning_rate = 1e-3;
  double weight_decay = 0.0;
  std::int64_t fine_tune = 0;
  double fine_tune_rate = 1e-4;
  double fine_tune_thin = 0.0;
  double evidential_weight = 1.0;
  ReadoutSettings readout;
};

template <>
struct settings::Names<Schedule> {
  static constexpr std::pair<Schedule, std::string_view> all[] = {
      {Schedule::constant, "constant"},
      {Schedule::square_root, "square-root"},
      {Schedule::cosine, "cosine"}};
};
template <>
struct settings::Names<Criterion> {
  static constexpr std::pair<Criterion, std::string_view> all[] = {{Criterion::nll, "nll"},
                                                                   {Criterion::crps, "crps"}};
};

struct Config {
  DataSettings data;
  ModelSettings model;
  LossSettings loss;
  TrainSettings train;
  ClassifySettings classify;
};

// All of them, with what the registered models declare for themselves. `config` must outlive them.
settings::Keys keys(Config& config);

// The functions of settings.h for a whole configuration.
void read_toml(const std::filesystem::path& file, Config& config);
void read_toml_text(std::string_view text, const std::string& name, Config& config);
std::string to_toml(const Config& config);
void assign(Config& config, std::string_view assignment);
nlohmann::json to_json(const Config& config);
void from_json(const nlohmann::json& json, Config& config);
// The same of a model file, which may be of an earlier version: settings that are gone are left out
// where the model does not depend on them. Throws Error where it does.
void from_stored_json(nlohmann::json json, Config& config);

// Checks that need more than one key.
void validate(const Config& config);

}  // namespace edict

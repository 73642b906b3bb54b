// Every setting of edict, declared once: keys() lists name, meaning, range and storage, and TOML
// files, `--set`, `--help`, validation and the JSON inside a model file all derive from that list.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace edict {

// Every model there is; models/network.cpp says how each is made.
inline constexpr std::array<std::string_view, 5> kModelKinds = {"edict", "gru-ode-bayes", "gru-d",
                                                                "ipn", "seft"};

struct DataConfig {
  std::int64_t seed = 0;
  double train = 0.7;
  double validation = 0.1;
  std::string split = "label";
  bool standardise = true;
  std::string start = "auto";
  double time_unit = 1.0;
  double t_cut = 0.0;
  double holdout = 0.1;
};

struct ModelConfig {
  std::string kind = "edict";
  std::int64_t hidden = 50;
  std::int64_t head_hidden = 25;
  std::int64_t encoder_width = 25;
  std::string solver = "euler";
  double step = 0.05;
  double rtol = 1e-3;
  double atol = 1e-4;
  std::string surprise = "epistemic";
  double dropout = 0.2;
  std::int64_t layers = 1;
  double reference_step = 0.05;
  double reference_end = 0.0;
  std::int64_t time_scales = 10;
  double longest_scale = 100.0;
  std::int64_t encoder_layers = 3;
  std::int64_t heads = 4;
  std::string aggregation = "attention";
};

struct LossConfig {
  double kl = 1e-3;
  std::string kl_form = "niw";
  double kl_observation_std = 1.0;
  double evidence = 0.05;
  double reconstruction = 1.0;
  double reconstruction_holdout = 0.2;
};

struct TrainConfig {
  std::int64_t seed = 0;
  std::int64_t epochs = 100;
  std::int64_t batch = 256;
  double learning_rate = 1e-4;
  std::string schedule = "constant";
  double warmup = 0.0;
  double clip = 1.0;
  double clip_norm = 0.0;
  double weight_decay = 0.0;
  std::int64_t patience = 0;
  double forecast = 0.0;
  double thin = 0.0;
  bool recalibrate = false;
  std::int64_t chunk = 64;
  std::int64_t tape_megabytes = 512;
};

// The classifier on h(T).
struct ClassifyConfig {
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
};

struct Config {
  DataConfig data;
  ModelConfig model;
  LossConfig loss;
  TrainConfig train;
  ClassifyConfig classify;
};

struct Key {
  std::string_view name;  // "table.key"
  std::string_view help;
  std::variant<double*, std::int64_t*, bool*, std::string*> value;
  double low = 0.0, high = 0.0;                // numbers: the closed range allowed
  std::vector<std::string_view> choices = {};  // texts: what may be written
};

std::vector<Key> keys(Config& config);

// Reads a TOML file over `config`; an unknown key, a wrong type or a value out of range is an Error
// that names file, line and, for an unknown key, the nearest known one.
void read_toml(const std::filesystem::path& file, Config& config);

// One `table.key=value` as given to --set.
void set(Config& config, std::string_view assignment);

nlohmann::json to_json(const Config& config);
void from_json(const nlohmann::json& json, Config& config);

// Checks that need more than one key.
void validate(const Config& config);

// The entry of `known` with the smallest edit distance to `word`.
std::string nearest(std::string_view word, const std::vector<std::string_view>& known);

}  // namespace edict

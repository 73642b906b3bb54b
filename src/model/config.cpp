#include "model/config.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/error.h"
#include "base/json/json.h"
#include "base/json/json_text.h"
#include "model/registry.h"

namespace edict {
namespace {

void declare(TrainSettings& s, settings::Keys& keys) {
  using namespace settings;
  keys.push_back(whole("train.seed", "weights and order of the batches", s.seed, 0, kMaxSeed));
  keys.push_back(whole("train.epochs", "passes over the training split", s.epochs, 1, 1e6));
  keys.push_back(whole("train.batch", "series a step", s.batch, 1, 1e6));
  keys.push_back(number("train.learning_rate", "of Adam", s.learning_rate, 0, 10));
  keys.push_back(
      choice("train.schedule",
             "of the learning rate: constant, falling with the square root of the steps, or half a "
             "cosine over train.epochs",
             s.schedule));
  keys.push_back(
      number("train.warmup", "share of the steps over which the rate rises", s.warmup, 0, 1));
  keys.push_back(number("train.clip", "largest entry of a gradient; 0: off", s.clip, 0, 1e30));
  keys.push_back(
      number("train.clip_norm", "largest norm of a gradient; 0: off", s.clip_norm, 0, 1e30));
  keys.push_back(number("train.weight_decay", "decoupled weight decay", s.weight_decay, 0, 10));
  keys.push_back(flag("train.average",
                      "validate and keep the mean of the weights over the last tenth of the steps "
                      "so far",
                      s.average));
  keys.push_back(
      choice("train.criterion",
             "what the epoch is chosen by on the validation split: the negative log "
             "likelihood, or the CRPS in standardised units, which no single feature can "
             "dominate",
             s.criterion));
  keys.push_back(
      whole("train.patience",
            "epochs without improvement on the validation split before stopping; 0: never",
            s.patience, 0, 1e6));
  keys.push_back(number("train.forecast",
                        "share of the series that, each epoch, only forecast after a random time",
                        s.forecast, 0, 1));
  keys.push_back(
      flag("train.whole_series",
           "train on whole training series; data.t_cut then limits validation and test only",
           s.whole_series));
  keys.push_back(number("train.thin",
                        "share of the observations left out of training, drawn anew each epoch",
                        s.thin, 0, 0.95));
  keys.push_back(
      flag("train.calibrate",
           "after training, calibrate each feature's distribution on the validation split, as "
           "`edict calibrate` does",
           s.calibrate));
  keys.push_back(
      flag("train.smooth",
           "train a second network that reads series from their end, so that gaps are filled "
           "from both sides; takes twice the time",
           s.smooth));
  keys.push_back(whole("train.chunk", "series processed together", s.chunk, 1, 4096));
  keys.push_back(whole("train.tape_megabytes", "memory a thread may keep for the backward pass",
                       s.tape_megabytes, 1, 1e6));
}

void declare(ClassifySettings& s, settings::Keys& keys) {
  using namespace settings;
  keys.push_back(
      whole("classify.seed", "of the classifier's weights and batches", s.seed, 0, kMaxSeed));
  keys.push_back(whole("classify.layers",
                       "1: linear; 2: with a bottleneck of half the state's size", s.layers, 1, 2));
  keys.push_back(whole("classify.epochs", "passes over the training split", s.epochs, 1, 1e6));
  keys.push_back(whole("classify.batch", "series a step", s.batch, 1, 1e6));
  keys.push_back(number("classify.learning_rate", "of Adam", s.learning_rate, 0, 10));
  keys.push_back(number("classify.weight_decay", "decoupled weight decay", s.weight_decay, 0, 10));
  keys.push_back(whole("classify.fine_tune",
                       "epochs in which the whole model is trained on the classes too; 0: frozen",
                       s.fine_tune, 0, 1e6));
  keys.push_back(
      number("classify.fine_tune_rate", "learning rate of these epochs", s.fine_tune_rate, 0, 10));
  keys.push_back(number("classify.fine_tune_thin", "as train.thin, while fine-tuning",
                        s.fine_tune_thin, 0, 0.95));
  keys.push_back(
      number("classify.evidential_weight",
             "weight of the evidential loss per observation beside the classes' per series",
             s.evidential_weight, 0, 1e6));
}

void declare(ReadoutSettings& s, settings::Keys& keys) {
  using namespace settings;
  keys.push_back(whole("readout.members",
                       "networks that classify from a summary of the series beside h(T); 0: none",
                       s.members, 0, 1000));
  keys.push_back(
      whole("readout.without_state",
            "how many of them do not see h: their errors differ, which improves the mean of "
            "all",
            s.without_state, 0, 1000));
  keys.push_back(whole("readout.width", "units in each of their two layers", s.width, 1, 4096));
  keys.push_back(whole("readout.epochs", "passes over the training split", s.epochs, 1, 1e6));
  keys.push_back(whole("readout.batch", "series a step", s.batch, 1, 1e6));
  keys.push_back(number("readout.learning_rate", "of Adam, at its peak", s.learning_rate, 0, 10));
  keys.push_back(number("readout.weight_decay", "decoupled weight decay", s.weight_decay, 0, 10));
  keys.push_back(
      number("readout.dropout", "share of the units left out at each step", s.dropout, 0, 0.95));
  keys.push_back(number("readout.input_dropout", "share of the inputs left out at each step",
                        s.input_dropout, 0, 0.95));
  keys.push_back(
      whole("readout.trees",
            "rounds of boosting at most, of trees that classify from the summary without h; "
            "0: none",
            s.trees, 0, 100000));
  keys.push_back(whole("readout.leaves", "leaves of a tree at most", s.leaves, 2, 1000));
  keys.push_back(number("readout.tree_rate", "share of the best step that a tree takes",
                        s.tree_rate, 1e-4, 1));
}

// The keys of one table that registered models declare for themselves.
void declare_own(std::string_view table, settings::Values& values, settings::Keys& keys) {
  for (const ModelKind& kind : model_kinds())
    for (const settings::Own& own : kind.settings)
      if (own.name.starts_with(table) &&
          std::none_of(keys.begin(), keys.end(),
                       [&](const settings::Key& key) { return key.name == own.name; }))
        keys.push_back(settings::key(own, values));
}

constexpr const char* kMemory =
    "jump and head no longer read what is remembered of a feature, which never helped; set "
    "model.recall=true, which answers from the last value";
constexpr const char* kForecastMoments =
    "series that only forecast now begin to anywhere between their ends; leave it out, and set "
    "data.t_cut where the data should end earlier";
constexpr const char* kCalibrate =
    "train.calibrate fits the width of each feature and more; set train.calibrate=true, or leave "
    "both out";

const std::vector<settings::Retired>& retired() {
  static const std::vector<settings::Retired> all{
      {"model.memory_mask", kMemory},
      {"model.memory_age", kMemory},
      {"model.memory_last", kMemory},
      {"model.memory_mean", kMemory},
      {"model.evidence",
       "evidence is always the head's own now; leave it out, and set train.calibrate=true for "
       "intervals that hold"},
      {"train.forecast_from", kForecastMoments},
      {"train.forecast_until", kForecastMoments},
      {"train.forecast_reach", kForecastMoments},
      {"train.recalibrate", kCalibrate},
  };
  return all;
}

}  // namespace

settings::Keys keys(Config& config) {
  settings::Keys all;
  all.retired = retired();
  declare(config.data, all);
  std::vector<std::string> kinds;
  for (const ModelKind& kind : model_kinds()) kinds.emplace_back(kind.name);
  all.push_back(settings::text("model.kind", "which model", config.model.kind, kinds));
  declare(static_cast<EngineSettings&>(config.model), all);
  declare_own("model.", config.model.own, all);
  declare(config.loss, all);
  declare_own("loss.", config.model.own, all);
  declare(config.train, all);
  declare(config.classify, all);
  declare(config.classify.readout, all);
  return all;
}

void read_toml(const std::filesystem::path& file, Config& config) {
  settings::read_toml(file, keys(config));
}

void read_toml_text(std::string_view text, const std::string& name, Config& config) {
  settings::read_toml_text(text, name, keys(config));
}

std::string to_toml(const Config& config) {
  Config copy = config;
  return settings::to_toml(keys(copy));
}

void assign(Config& config, std::string_view assignment) {
  settings::assign(keys(config), assignment);
}

nlohmann::json to_json(const Config& config) {
  Config copy = config;
  return settings::to_json(keys(copy));
}

void from_json(const nlohmann::json& json, Config& config) {
  settings::from_json(json, keys(config));
}

// What a network was built from must be known; what only a run was made by is not needed to use it.
void from_stored_json(nlohmann::json json, Config& config) {
  const auto take = [&](const char* table, const char* name, const nlohmann::json& unused) {
    if (!json.contains(table) || !json[table].is_object() || !json[table].contains(name))
      return false;
    const bool used = json[table][name] != unused;
    if (used && table == std::string_view("model"))
      throw Error(
          fmt::format("it was trained with {}.{} = {}, which this version no longer has; use it "
                      "with edict 1, or train it again",
                      table, name, json_text(json[table][name])));
    json[table].erase(name);
    return used;
  };
  for (const char* name : {"memory_mask", "memory_age", "memory_last", "memory_mean"})
    take("model", name, false);
  take("model", "evidence", "free");
  for (const char* name : {"forecast_from", "forecast_until", "forecast_reach"})
    take("train", name, settings::kAuto);
  if (take("train", "recalibrate", false)) json["train"]["calibrate"] = true;
  from_json(json, config);
}

void validate(const Config& config) {
  Config copy = config;
  settings::check(keys(copy), "settings");
  if (config.data.train + config.data.validation >= 1.0)
    throw Error(
        fmt::format("data.train + data.validation = {} leaves no test split; make them sum "
                    "to less than 1",
                    config.data.train + config.data.validation));
  const ReadoutSettings& readout = config.classify.readout;
  if (readout.members > 0 && readout.without_state > readout.members)
    throw Error(fmt::format("readout.without_state = {} of readout.members = {}; give fewer",
                            readout.without_state, readout.members));
  const TrainSettings& train = config.train;
  if (train.smooth && config.data.holdout <= 0)
    throw Error(
        "train.smooth needs hidden values to learn from how two sides are weighed; set "
        "data.holdout above 0, or leave train.smooth out");
}

}  // namespace edict

// A trained model: the network, its parameters and everything needed to use it on raw data again.
#pragma once

#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "edict/config/config.h"
#include "edict/data/dataset.h"
#include "edict/data/split.h"
#include "edict/data/standardise.h"
#include "edict/models/agenda.h"
#include "edict/models/network.h"
#include "edict/models/safetensors.h"

namespace edict {

// A classifier's parameters, and the seed of its weights and batches.
struct SeedClassifier {
  std::int64_t seed;
  Vector<float> params;
};

struct Model {
  Config config;  // resolved: data.t_cut and data.start are what training used
  std::vector<std::string> features, statics, classes;
  Standardisation standardisation;  // between the data's units and the model's
  Standardisation population;       // of the training split; the same, if data.standardise
  double horizon = 0.0;             // last time of the training split: where h(T) is read
  std::unique_ptr<Network> network;
  Vector<float> params;
  // Trained from several seeds on the same states h(T); the chosen one is also in `params`.
  std::vector<SeedClassifier> seed_classifiers;

  // A network for this data with initial parameters; resolves what the configuration left open.
  // `with_classifier` asks for one that also tells classes apart, which a kind without a
  // distribution always does.
  static Model create(const Config& config, const Dataset& data, const Split& split,
                      bool with_classifier = false);

  // A copy with a classifier (freshly initialised) on top of the same trained parameters.
  Model with_classifier(const Config& config, const std::vector<std::string>& class_names) const;

  // How many of the last parameters are the classifier's on h(T); 0 without one.
  Index classifier_size() const;

  // Throws Error where the data's features or covariates are not the model's.
  void check_data(const Dataset& data) const;

  // The data's labels as indices into this model's classes, matched by name. Throws Error for a
  // label the model does not know.
  std::vector<std::int32_t> labels(const Dataset& data) const;

  // What a worker needs to be told for this guard, without listeners.
  Asking asking(const Guard& guard) const;

  Split split(const Dataset& data) const;

  double to_model_time(double time) const { return time / config.data.time_unit; }

  // Mean and deviation of a feature in the training split, in the model's units.
  double population_mean(std::size_t feature) const {
    return standardisation.to_standard(feature, population.mean[feature]);
  }
  double population_deviation(std::size_t feature) const {
    return population.scale[feature] / standardisation.scale[feature];
  }
};

void save_model(const Model& model, const std::filesystem::path& path);
Model load_model(const std::filesystem::path& path);

// The parts of save_model and load_model that a checkpoint shares.
TensorFile to_tensors(const Model& model);
Model from_tensors(const TensorFile& file, const std::filesystem::path& path);

// ---- agendas of one series ----

// Absorbs and scores everything before t_cut.
Agenda<float> training_agenda(const Model& model, const Dataset& data, std::size_t series);

// Absorbs what is before t_cut and not held out; queries every held-out observation
// (interpolation) and everything from t_cut on (extrapolation), which are also scored.
Agenda<float> evaluation_agenda(const Model& model, const Dataset& data, std::size_t series,
                                const std::vector<std::uint8_t>& holdout);

// Absorbs everything, scored or not, and ends with an empty stop marked as a query at T: the
// model's horizon, or the last event where that is later. With data.start=first a series without
// events has no clock, and T is its start.
Agenda<float> encoding_agenda(const Model& model, const Dataset& data, std::size_t series,
                              bool scored = false);

// Absorbs everything, and queries at the given times (ascending, in the data's unit): a query at
// the time of an observation tells what was expected before it.
Agenda<float> query_agenda(const Model& model, const Dataset& data, std::size_t series,
                           const std::vector<double>& times);

}  // namespace edict

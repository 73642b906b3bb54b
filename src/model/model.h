// A trained model: the network, its parameters and everything needed to use it on raw data again.
#pragma once

#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/dataset.h"
#include "data/match.h"
#include "engine/network.h"
#include "model/calibration.h"
#include "model/classifier/readout.h"
#include "model/config.h"
#include "model/file/safetensors.h"
#include "model/fusion.h"
#include "protocol/protocol.h"
#include "protocol/seen.h"
#include "protocol/split.h"
#include "protocol/timeline.h"

namespace edict {

// A classifier's parameters, and the seed of its weights and batches.
struct SeedClassifier {
  std::int64_t seed;
  Vector<float> params;
};

// What training from one seed left behind.
struct Member {
  Vector<float> params;
  // Of the same network trained on series from their end (train.smooth); empty without one. Its
  // classifier, where the network has one, is none.
  Vector<float> backward = {};
  // Trained from several seeds on the same states h(T); the chosen one is also in `params`.
  std::vector<SeedClassifier> seed_classifiers = {};
  Readout readout = {};  // empty without one
};

// One trained network, or an ensemble of them: members that differ by train.seed alone and share
// everything but their numbers. How members answer together is told in model/ensemble.h.
struct Model {
  Config config;  // resolved: data.t_cut and data.start are what training used; seeds: the first's
  std::vector<std::string> features, statics, classes;
  Protocol protocol;
  SeenSeries seen;  // of training, validation and test
  // How the training data were read, by which other tables of that kind are read alike.
  Reading reading;
  TimeAxis time_axis;  // without what belongs to single series
  std::unique_ptr<Network> network;
  std::vector<Member> members = std::vector<Member>(1);  // never empty: a single model has one
  Calibration calibration;  // of the distributions of all members together; empty without one
  Fusion fusion;  // of what all members say from either side; empty: it looks from one side only

  // A network for this data with initial parameters; resolves what the configuration left open,
  // and records which series the split takes.
  // `with_classifier` asks for one that also tells classes apart, which a kind without a
  // distribution always does.
  static Model create(const Config& config, const Dataset& data, const Split& split,
                      bool with_classifier = false);

  // A copy with a classifier (freshly initialised) on top of the same trained parameters.
  Model with_classifier(const Config& settings, const std::vector<std::string>& class_names) const;

  // How many of the last parameters are the classifier's on h(T); 0 without one.
  Index classifier_size() const;

  Member& first() { return members.front(); }  // the only one of a single model
  const Member& first() const { return members.front(); }
  // Whether every member has a network for series from their end.
  bool has_backward() const;
  // A copy of one member as a model of its own, with the seed that it was trained from.
  Model member(std::size_t index) const;

  // The classifiers of all members one after the other, classifier_size() numbers each: those
  // trained from `seed` where a member carries one, else its chosen one.
  Vector<float> classifiers(std::optional<std::int64_t> seed = {}) const;

  // Whether the whole model was trained on the classes too, which shows it what lies after t_cut.
  bool fine_tuned() const;

  // The data with the model's features and covariates in the model's order, found by name.
  MatchedData match(Dataset data) const;

  // Throws Error where the data's features or covariates are not the model's, in its order.
  void check_data(const Dataset& data) const;

  // The data's labels as indices into this model's classes, matched by name. Throws Error for a
  // label the model does not know.
  std::vector<std::int32_t> labels(const Dataset& data) const;

  // What a worker needs to be told for this guard. Throws Error for an eta that is none.
  InferenceOptions inference_options(const Guard& guard) const;

  // The parts that the series had when the model was made; unseen where they are new.
  Split split(const Dataset& data) const { return seen.split(data); }

  // The same, with new series divided as those of training were: to train further on.
  Split split_to_train(const Dataset& data) const;

  // The series of a part ("train", "validation", "test", "unseen") or "all" of them. For "test" in
  // data of which the model knows no series: all of them, since none was seen. Throws Error where
  // that leaves nothing.
  std::vector<std::size_t> series_of(const Dataset& data, std::string_view which) const;
};

// The ensemble of these models, in their order. Throws Error unless they differ by their seeds
// alone.
Model ensemble(std::vector<Model> members);

// Tells models apart: of settings, names, scales and parameters.
std::uint64_t fingerprint(const Model& model);

void save_model(const Model& model, const std::filesystem::path& path);
Model load_model(const std::filesystem::path& path);

// The parts of save_model and load_model that a checkpoint shares.
TensorFile to_tensors(const Model& model);
Model from_tensors(const TensorFile& file, const std::filesystem::path& path);

// A marginal in the model's units as one in the data's.
Marginal to_raw(const Standardisation& standardisation, std::size_t feature,
                const Marginal& standard);

}  // namespace edict

#include "edict/model/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "edict/core/error.h"
#include "edict/core/hash.h"
#include "edict/core/json_text.h"
#include "edict/core/json_values.h"
#include "edict/data/fingerprint.h"
#include "edict/model/model_check.h"
#include "edict/model/registry.h"
#include "edict/model/summary.h"

namespace edict {
namespace {

// An ensemble has a number of its own: a program that does not know of members would take the
// first of them for all.
constexpr int kFormat = 2, kEnsembleFormat = 3;

constexpr const char* kClassifier = "classifier.";  // begins the names of its tensors

std::string seed_tensor(std::int64_t seed, const Tensor& tensor) {
  return fmt::format("classifier_seeds.{}.{}", seed,
                     tensor.name.substr(std::string_view(kClassifier).size()));
}

// Begins the names of a member's tensors; those of the first are called as a single model's.
std::string member_prefix(std::size_t member) {
  return member == 0 ? "" : fmt::format("members.{}.", member + 1);
}

std::vector<std::int64_t> seeds_of(const std::vector<SeedClassifier>& classifiers) {
  std::vector<std::int64_t> seeds;
  for (const SeedClassifier& classifier : classifiers) seeds.push_back(classifier.seed);
  return seeds;
}

std::vector<std::int64_t> seeds_from_json(const nlohmann::json& json) {
  std::vector<std::int64_t> seeds;
  for (const auto& seed : json) {
    // A fraction would be rounded, a number beyond 64 bits undefined.
    if (!seed.is_number_integer()) throw Error("its metadata is malformed");
    seeds.push_back(seed.get<std::int64_t>());
  }
  if (std::set(seeds.begin(), seeds.end()).size() != seeds.size())
    throw Error("its metadata contradicts itself");
  return seeds;
}

constexpr const char* kBackward = "backward.";  // begins the names of the other network's tensors

constexpr const char* kKnotsTensor = "readout.knots";

std::string readout_tensor(std::size_t member, const Tensor& tensor) {
  return fmt::format("readout.{}.{}", member, tensor.name);
}

nlohmann::json to_json(const Standardisation& z) {
  return {{"mean", z.mean},
          {"scale", z.scale},
          {"statics_mean", z.statics_mean},
          {"statics_scale", z.statics_scale}};
}

Standardisation standardisation_from_json(const nlohmann::json& json) {
  return {json.at("mean"), json.at("scale"), json.at("statics_mean"), json.at("statics_scale")};
}

// Only where the network asks for them, so that other models carry no number that means nothing. A
// state that starts by remembering longer than one gap, and some of it longer than any series,
// learns faster and ends better (docs/trials.md).
void resolve_time_scales(const Protocol& protocol, const Dataset& data, const Split& split,
                         EngineSettings& settings) {
  const bool remembers = settings.memory_mask || settings.memory_age || settings.memory_last ||
                         settings.memory_mean || settings.recall;
  if (settings.propagator != "closed-form" && !remembers) return;
  const Gaps found = gaps(protocol, data, split.train);
  if (!settings.shortest_timescale && found.median > 0)
    settings.shortest_timescale = std::min(10 * found.median, found.longest_series / 10);
  if (!settings.longest_timescale && found.longest_series > 0)
    settings.longest_timescale = 5 * found.longest_series;
}

// A copy of everything but the network and its parameters.
Model without_numbers(const Model& model) {
  Model copy;
  copy.config = model.config;
  copy.features = model.features;
  copy.statics = model.statics;
  copy.classes = model.classes;
  copy.protocol = model.protocol;
  copy.seen = model.seen;
  copy.reading = model.reading;
  copy.time_axis = model.time_axis;
  return copy;
}

}  // namespace

Marginal to_raw(const Standardisation& standardisation, std::size_t feature,
                const Marginal& standard) {
  const double unit = standardisation.scale[feature];
  return {standardisation.to_raw(feature, standard.mean), standard.aleatoric * unit * unit,
          standard.epistemic * unit * unit, standard.scale * unit, standard.dof};
}

Model Model::create(const Config& config, const Dataset& data, const Split& split,
                    bool with_classifier) {
  Model model;
  model.config = config;
  model.features = data.features;
  model.statics = data.statics;
  model.classes = data.classes;
  model.reading = data.reading;
  model.reading.recognised.clear();
  model.time_axis = data.time_axis.rules();
  model.protocol = fit_protocol(model.config.data, data, split);
  resolve_time_scales(model.protocol, data, split, model.config.model);
  // Not random, so that the same run writes the same file.
  model.seen =
      SeenSeries(Hash().number(config.data.seed).number(fingerprint(data)).text("salt").value());
  model.seen.add(data, split, split_by(config.data));
  // A kind without a distribution can do nothing but classify.
  with_classifier = with_classifier || !model_kind(config.model.kind).has_distribution;
  if (with_classifier && data.classes.size() < 2)
    throw Error(
        fmt::format("the data have {}; {} learns to tell classes apart and needs a label column "
                    "with at least two",
                    data.classes.empty() ? "no labels" : "a single class", config.model.kind));
  model.network = make_network(model.config, data.features, static_cast<Index>(data.statics.size()),
                               with_classifier ? static_cast<Index>(data.classes.size()) : 0);
  model.params =
      model.network->layout().initial<float>(static_cast<std::uint64_t>(config.train.seed));
  return model;
}

Model Model::with_classifier(const Config& settings,
                             const std::vector<std::string>& class_names) const {
  Model model = without_numbers(*this);
  model.config.classify = settings.classify;
  model.classes = class_names;
  model.network = make_network(model.config, features, static_cast<Index>(statics.size()),
                               static_cast<Index>(class_names.size()));
  model.params = model.network->layout().initial<float>(
      static_cast<std::uint64_t>(model.config.classify.seed));
  // The classifier's parameters come last; everything before it is this model's, whether or not
  // that has a classifier already.
  const Index shared = model.params.size() - model.classifier_size();
  model.params.head(shared) = params.head(shared);
  model.calibration = calibration;  // of the distributions, which are the same
  if (has_backward()) {
    model.backward = Vector<float>::Zero(model.params.size());
    model.backward.head(shared) = backward.head(shared);
    model.fusion = fusion;
  }
  return model;
}

Index Model::classifier_size() const {
  Index size = 0;
  for (const Tensor& tensor : network->layout().tensors())
    if (tensor.name.starts_with(kClassifier)) size += tensor.size;
  return size;
}

Model Model::member(std::size_t index) const {
  Model model = without_numbers(*this);
  model.config.train.seed += static_cast<std::int64_t>(index);
  model.network =
      make_network(config, features, static_cast<Index>(statics.size()), network->classes());
  model.params = params_of(index);
  model.backward = backward_of(index);
  model.seed_classifiers = seed_classifiers_of(index);
  return model;
}

Vector<float> Model::classifiers(std::optional<std::int64_t> seed) const {
  const Index size = classifier_size();
  Vector<float> all(size * static_cast<Index>(members()));
  for (std::size_t m = 0; m < members(); ++m) {
    auto own = all.segment(static_cast<Index>(m) * size, size);
    own = params_of(m).tail(size);
    if (!seed) continue;
    for (const SeedClassifier& c : seed_classifiers_of(m))
      if (c.seed == *seed) own = c.params;
  }
  return all;
}

Model ensemble(std::vector<Model> members) {
  if (members.empty()) throw Error("an ensemble needs at least one member");
  const auto shared = [](const Model& model) {
    Config config = model.config;
    config.train.seed = config.classify.seed = 0;
    return Hash()
        .text(to_toml(config))
        .text(json_text(nlohmann::json{model.features, model.statics, model.classes,
                                       to_json(model.protocol.standardisation),
                                       to_json(model.protocol.population), to_json(model.seen)}))
        .number(model.protocol.horizon)
        .value();
  };
  Model whole = std::move(members.front());
  if (members.size() > 1) {  // they were one member's
    whole.calibration = {};
    whole.fusion = {};
  }
  for (std::size_t m = 1; m < members.size(); ++m) {
    if (members[m].members() > 1 || whole.params.size() != members[m].params.size() ||
        shared(members[m]) != shared(whole))
      throw Error(
          fmt::format("member {} of the ensemble differs from the first by more than its seed; "
                      "train all of them on the same data with the same settings",
                      m + 1));
    whole.others.push_back({std::move(members[m].params), std::move(members[m].backward),
                            std::move(members[m].seed_classifiers)});
  }
  return whole;
}

bool Model::has_backward() const {
  return backward.size() > 0 && std::all_of(others.begin(), others.end(), [](const Member& other) {
           return other.backward.size() > 0;
         });
}

MatchedData Model::match(Dataset data) const {
  return match_columns(std::move(data), features, statics);
}

void Model::check_data(const Dataset& data) const {
  const auto compare = [](const char* what, const std::vector<std::string>& expected,
                          const std::vector<std::string>& found) {
    if (expected == found) return;
    throw Error(
        fmt::format("the data's {} are [{}], the model's are [{}]; use the columns it was "
                    "trained on, in that order",
                    what, fmt::join(found, ", "), fmt::join(expected, ", ")));
  };
  compare("features", features, data.features);
  compare("static covariates", statics, data.statics);
}

std::vector<std::int32_t> Model::labels(const Dataset& data) const {
  std::vector<std::int32_t> own;  // of each of the data's classes
  for (const std::string& name : data.classes) {
    const auto found = std::find(classes.begin(), classes.end(), name);
    own.push_back(found == classes.end() ? Dataset::kNone
                                         : static_cast<std::int32_t>(found - classes.begin()));
  }
  std::vector<std::int32_t> result;
  for (std::size_t i = 0; i < data.size(); ++i) {
    const std::int32_t label = data.labels[i];
    result.push_back(label == Dataset::kNone ? Dataset::kNone : own[label]);
    if (label != Dataset::kNone && own[label] == Dataset::kNone)
      throw Error(
          fmt::format("series {}: label '{}' is not among the model's classes [{}]; train the "
                      "classifier on data that holds it, or remove the label",
                      data.ids[i], data.classes[label], fmt::join(classes, ", ")));
  }
  return result;
}

InferenceOptions Model::inference_options(const Guard& guard) const {
  check(guard);
  InferenceOptions options;
  options.guard = guard;
  for (std::size_t j = 0; j < features.size(); ++j) {
    options.population.mean.push_back(protocol.population_mean(j));
    options.population.deviation.push_back(protocol.population_deviation(j));
  }
  return options;
}

std::uint64_t fingerprint(const Model& model) {
  Hash hash;
  hash.text(to_toml(model.config));
  for (const std::string& name : model.features) hash.text(name);
  for (const std::string& name : model.statics) hash.text(name);
  for (const Standardisation* z : {&model.protocol.standardisation, &model.protocol.population})
    hash.numbers(std::span<const double>(z->mean))
        .numbers(std::span<const double>(z->scale))
        .numbers(std::span<const double>(z->statics_mean))
        .numbers(std::span<const double>(z->statics_scale));
  for (std::size_t m = 0; m < model.members(); ++m)
    hash.bytes(model.params_of(m).data(),
               static_cast<std::size_t>(model.params.size()) * sizeof(float));
  for (std::size_t m = 0; m < model.members() && model.has_backward(); ++m)
    hash.bytes(model.backward_of(m).data(),
               static_cast<std::size_t>(model.backward.size()) * sizeof(float));
  return hash.value();
}

Split Model::split_to_train(const Dataset& data) const {
  Split parts, fresh = edict::split(data, config.data);
  for (const Part by_hash : {Part::train, Part::validation, Part::test})
    for (const std::size_t i : fresh[by_hash]) {
      const Part recorded = seen.part_of(data.ids[i], data.group_name(i));
      parts[recorded == Part::unseen ? by_hash : recorded].push_back(i);
    }
  for (auto* part : {&parts.train, &parts.validation, &parts.test})
    std::sort(part->begin(), part->end());
  return parts;
}

bool Model::fine_tuned() const {
  return network->has_distribution() && network->classes() > 0 && config.classify.fine_tune > 0;
}

std::vector<std::size_t> Model::series_of(const Dataset& data, std::string_view which) const {
  std::vector<std::size_t> all(data.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  if (which == "all") return all;
  Split parts = split(data);
  for (const Part part : {Part::train, Part::validation, Part::test, Part::unseen}) {
    if (which != name_of(part)) continue;
    if (part == Part::test && parts.unseen.size() == data.size()) return all;
    if (!parts[part].empty()) return std::move(parts[part]);
    throw Error(
        fmt::format("none of the {} series is in the model's {} split: {} were trained on, {} "
                    "validated on, {} are test series and {} new; choose another split, or all",
                    data.size(), which, parts.train.size(), parts.validation.size(),
                    parts.test.size(), parts.unseen.size()));
  }
  throw Error(
      fmt::format("there is no split '{}'; give train, validation, test, unseen or all", which));
}

// ---------------------------------------------------------------------------------------- file

TensorFile to_tensors(const Model& model) {
  nlohmann::json meta = {
      {"format", model.members() > 1 ? kEnsembleFormat : kFormat},
      {"config", to_json(model.config)},
      {"features", model.features},
      {"statics", model.statics},
      {"classes", model.classes},
      {"classifier", model.network->classes() > 0},
      {"horizon", model.protocol.horizon},
      {"standardisation", to_json(model.protocol.standardisation)},
      {"population", to_json(model.protocol.population)},
      {"seen", to_json(model.seen)},
      {"reading", to_json(model.reading)},
      {"time_axis", to_json(model.time_axis)},
      {"classifier_seeds", seeds_of(model.seed_classifiers)},
  };
  for (const Member& other : model.others)
    meta["others"].push_back({{"classifier_seeds", seeds_of(other.seed_classifiers)}});
  if (!model.readout.empty())
    meta["readout"] = {{"members", model.readout.members.size()},
                       {"indicators", model.readout.indicators},
                       {"share", model.readout.share}};
  if (!model.calibration.empty()) meta["calibration"] = to_json(model.calibration);
  if (model.has_backward()) meta["backward"] = true;
  if (!model.fusion.empty()) meta["fusion"] = to_json(model.fusion);
  TensorFile file;
  file.metadata["edict"] = json_text(meta);
  const Index first = model.params.size() - model.classifier_size();
  for (std::size_t m = 0; m < model.members(); ++m) {
    const std::string prefix = member_prefix(m);
    const auto add = [&](const std::string& name, const Tensor& tensor, const float* begin) {
      file.tensors.push_back({prefix + name, tensor.shape, {begin, begin + tensor.size}});
    };
    for (const Tensor& tensor : model.network->layout().tensors())
      add(tensor.name, tensor, model.params_of(m).data() + tensor.offset);
    if (model.has_backward())
      for (const Tensor& tensor : model.network->layout().tensors())
        if (!tensor.name.starts_with(kClassifier))
          add(kBackward + tensor.name, tensor, model.backward_of(m).data() + tensor.offset);
    for (const SeedClassifier& c : model.seed_classifiers_of(m))
      for (const Tensor& tensor : model.network->layout().tensors())
        if (tensor.name.starts_with(kClassifier))
          add(seed_tensor(c.seed, tensor), tensor, c.params.data() + tensor.offset - first);
  }
  if (!model.readout.empty()) {
    const Matrix<float>& knots = model.readout.knots;
    file.tensors.push_back(
        {kKnotsTensor, {knots.cols(), knots.rows()}, {knots.data(), knots.data() + knots.size()}});
    const SummaryClassifier network = summary_classifier(model);
    for (std::size_t m = 0; m < model.readout.members.size(); ++m)
      for (const Tensor& tensor : network.layout().tensors()) {
        const float* const begin = model.readout.members[m].data() + tensor.offset;
        file.tensors.push_back(
            {readout_tensor(m, tensor), tensor.shape, {begin, begin + tensor.size}});
      }
  }
  return file;
}

Model from_tensors(const TensorFile& file, const std::filesystem::path& path) {
  const auto refuse = [&](const std::string& why) {
    return Error(fmt::format("{}: not a usable model file: {}", path.string(), why));
  };
  const auto found = file.metadata.find("edict");
  if (found == file.metadata.end())
    throw refuse("it has no edict metadata (was it written by another program?)");
  Model model;
  bool classifier = false, backward = false;
  std::vector<std::vector<std::int64_t>> seeds;  // of the classifiers of each member
  std::size_t networks = 0;                      // of the readout
  try {
    const nlohmann::json meta = parse_json(found->second);
    if (meta.at("format") == 1)
      throw Error(fmt::format(
          "{}: was written by an earlier version of edict; train it again with this one",
          path.string()));
    const bool several = meta.at("format") == kEnsembleFormat;
    if (meta.at("format") != kFormat && !several)
      throw refuse(
          fmt::format("format {} is not known to this version", json_text(meta.at("format"))));
    try {
      from_json(meta.at("config"), model.config);
      validate(model.config);
    } catch (const Error& e) {
      throw refuse(e.what());
    }
    meta.at("features").get_to(model.features);
    meta.at("statics").get_to(model.statics);
    meta.at("classes").get_to(model.classes);
    meta.at("classifier").get_to(classifier);
    meta.at("horizon").get_to(model.protocol.horizon);
    model.protocol.standardisation = standardisation_from_json(meta.at("standardisation"));
    model.protocol.population = standardisation_from_json(meta.at("population"));
    try {
      model.seen = seen_series_from_json(meta.at("seen"));
      // Models from before tables of every kind were read have neither.
      if (meta.contains("reading")) model.reading = reading_from_json(meta.at("reading"));
      if (meta.contains("time_axis")) model.time_axis = time_axis_from_json(meta.at("time_axis"));
      seeds.push_back(seeds_from_json(meta.at("classifier_seeds")));
      if (meta.contains("calibration"))
        model.calibration = calibration_from_json(meta.at("calibration"), model.features.size());
      if (meta.contains("backward")) meta.at("backward").get_to(backward);
      if (meta.contains("fusion"))
        model.fusion = fusion_from_json(meta.at("fusion"), model.features.size());
      if (several)
        for (const auto& other : meta.at("others"))
          seeds.push_back(seeds_from_json(other.at("classifier_seeds")));
    } catch (const Error& error) {
      throw refuse(error.what());
    }
    if (meta.contains("readout")) {
      const nlohmann::json& readout = meta["readout"];
      networks = count_from_json(readout.at("members"));
      readout.at("indicators").get_to(model.readout.indicators);
      readout.at("share").get_to(model.readout.share);
      if (networks > file.tensors.size() || !(model.readout.share >= 0 && model.readout.share <= 1))
        throw refuse("its metadata contradicts itself");
    }
  } catch (const nlohmann::json::exception&) {
    throw refuse("its metadata is malformed");
  }
  if (!model.config.data.t_cut) throw refuse("its data.t_cut is not resolved");
  if (model.config.data.start == "origin" && !model.config.data.origin)
    throw refuse("its data.origin is not resolved");
  model.protocol.origin = model.config.data.clock_origin();
  model.protocol.may_start_earlier = model.config.data.start == "origin";
  model.protocol.time_unit = model.config.data.time_unit;
  model.protocol.t_cut = *model.config.data.t_cut;
  model.protocol.from_first = model.config.data.start == "first";
  if (const std::string wrong = wrong_protocol(model); !wrong.empty()) throw refuse(wrong);
  const bool any_seed =
      std::any_of(seeds.begin(), seeds.end(), [](const auto& own) { return !own.empty(); });
  if ((classifier ? model.classes.size() < 2 : any_seed) || (!backward && !model.fusion.empty()))
    throw refuse("its metadata contradicts itself");
  model.network =
      make_network(model.config, model.features, static_cast<Index>(model.statics.size()),
                   classifier ? static_cast<Index>(model.classes.size()) : 0);
  std::size_t stored_numbers = 0;
  for (const NamedTensor& t : file.tensors) stored_numbers += t.values.size();
  if (static_cast<std::size_t>(model.network->layout().size()) > stored_numbers / seeds.size())
    throw refuse("it holds fewer numbers than its configuration asks");
  const auto take = [&](const std::string& name, const std::vector<Index>& shape, float* to) {
    const auto stored = std::find_if(file.tensors.begin(), file.tensors.end(),
                                     [&](const NamedTensor& t) { return t.name == name; });
    if (stored == file.tensors.end())
      throw refuse("tensor '" + name + "' is missing; train it again with this version");
    if (stored->shape != shape)
      throw refuse("tensor '" + name + "' has another shape than its configuration asks");
    std::copy(stored->values.begin(), stored->values.end(), to);
  };
  const Index size = model.network->layout().size(), first = size - model.classifier_size();
  for (std::size_t m = 0; m < seeds.size(); ++m) {
    const std::string prefix = member_prefix(m);
    Member own{Vector<float>(size), {}, {}};
    for (const Tensor& tensor : model.network->layout().tensors())
      take(prefix + tensor.name, tensor.shape, own.params.data() + tensor.offset);
    if (backward) {
      own.backward = Vector<float>::Zero(size);
      for (const Tensor& tensor : model.network->layout().tensors())
        if (!tensor.name.starts_with(kClassifier))
          take(prefix + kBackward + tensor.name, tensor.shape, own.backward.data() + tensor.offset);
    }
    for (const std::int64_t seed : seeds[m]) {
      SeedClassifier& trained = own.seed_classifiers.emplace_back(
          SeedClassifier{seed, Vector<float>(model.classifier_size())});
      for (const Tensor& tensor : model.network->layout().tensors())
        if (tensor.name.starts_with(kClassifier))
          take(prefix + seed_tensor(seed, tensor), tensor.shape,
               trained.params.data() + tensor.offset - first);
    }
    if (m > 0) {
      model.others.push_back(std::move(own));
      continue;
    }
    model.params = std::move(own.params);
    model.backward = std::move(own.backward);
    model.seed_classifiers = std::move(own.seed_classifiers);
  }
  if (networks > 0) {
    if (!classifier || !model.network->has_distribution() || model.members() > 1)
      throw refuse("its metadata contradicts itself");
    model.readout.knots.resize(Readout::kKnots, summary_size(model));
    for (const Index row : model.readout.indicators)
      if (row < 0 || row >= summary_size(model)) throw refuse("its metadata contradicts itself");
    take(kKnotsTensor, {summary_size(model), Readout::kKnots}, model.readout.knots.data());
    const SummaryClassifier network = summary_classifier(model);
    for (std::size_t m = 0; m < networks; ++m) {
      Vector<float>& params = model.readout.members.emplace_back(network.layout().size());
      for (const Tensor& tensor : network.layout().tensors())
        take(readout_tensor(m, tensor), tensor.shape, params.data() + tensor.offset);
    }
  }
  if (const std::string wrong = wrong_parameters(model); !wrong.empty()) throw refuse(wrong);
  return model;
}

void save_model(const Model& model, const std::filesystem::path& path) {
  write_tensors(to_tensors(model), path);
}

Model load_model(const std::filesystem::path& path) {
  return from_tensors(read_tensors(path), path);
}

}  // namespace edict

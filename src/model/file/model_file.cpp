// A model as a safetensors file: its numbers by name, everything else as JSON in the metadata.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/json/json.h"
#include "base/json/json_text.h"
#include "base/json/json_values.h"
#include "model/classifier/summary.h"
#include "model/file/model_check.h"
#include "model/model.h"
#include "model/registry.h"

namespace edict {
namespace {

// An ensemble has a number of its own: a program that does not know of members would take the
// first of them for all.
constexpr int kFormat = 2, kEnsembleFormat = 3;

std::string seed_tensor(std::int64_t seed, const Tensor& tensor) {
  return fmt::format("classifier_seeds.{}.{}", seed, tensor.name.substr(tensor.name.find('.') + 1));
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
constexpr const char* kTreesTensor = "readout.trees";

std::string readout_tensor(std::size_t member, const Tensor& tensor) {
  return fmt::format("readout.{}.{}", member, tensor.name);
}

// A member's readout as the metadata tell it, without its numbers.
struct StoredReadout {
  std::size_t networks = 0, nodes = 0;
  Readout readout;

  bool any() const { return networks > 0 || !readout.trees.empty(); }
};

StoredReadout readout_from_json(const nlohmann::json& member) {
  StoredReadout stored;
  if (!member.contains("readout")) return stored;
  const nlohmann::json& json = member.at("readout");
  stored.networks = count_from_json(json.at("members"));
  json.at("indicators").get_to(stored.readout.indicators);
  json.at("share").get_to(stored.readout.share);
  // Readouts from before probabilities were raised to a power have none.
  if (json.contains("power")) json.at("power").get_to(stored.readout.power);
  // Those from before it was known are shown everything.
  if (json.contains("without_state"))
    stored.readout.without_state = count_from_json(json.at("without_state"));
  if (json.contains("trees")) {
    const nlohmann::json& trees = json.at("trees");
    stored.nodes = count_from_json(trees.at("nodes"));
    trees.at("roots").get_to(stored.readout.trees.roots);
    trees.at("base").get_to(stored.readout.trees.base);
    trees.at("share").get_to(stored.readout.tree_share);
    if (stored.readout.trees.empty()) throw Error("its metadata contradicts itself");
  }
  for (const double share : {stored.readout.share, stored.readout.tree_share})
    if (!(share >= 0 && share <= 1)) throw Error("its metadata contradicts itself");
  constexpr double kLargestPower = 1e3;
  if (!(stored.readout.power >= 1 / kLargestPower && stored.readout.power <= kLargestPower))
    throw Error("its metadata contradicts itself");
  return stored;
}

}  // namespace

TensorFile to_tensors(const Model& model) {
  nlohmann::json meta = {
      {"format", model.members() > 1 ? kEnsembleFormat : kFormat},
      {"config", to_json(model.config)},
      {"features", model.features},
      {"statics", model.statics},
      {"classes", model.classes},
      {"classifier", model.network->classes() > 0},
      {"horizon", model.protocol.horizon},
      {"least_scale", model.config.model.least_scale},
      {"unchanging", model.config.model.unchanging},
      {"sporadic", model.config.model.sporadic},
      {"standardisation", to_json(model.protocol.standardisation)},
      {"population", to_json(model.protocol.population)},
      {"seen", to_json(model.seen)},
      {"reading", to_json(model.reading)},
      {"time_axis", to_json(model.time_axis)},
      {"classifier_seeds", seeds_of(model.seed_classifiers)},
  };
  if (!model.others.empty()) meta["others"] = nlohmann::json::array();
  for (const Member& other : model.others)
    meta["others"].push_back({{"classifier_seeds", seeds_of(other.seed_classifiers)}});
  for (std::size_t m = 0; m < model.members(); ++m) {
    const Readout& readout = model.readout_of(m);
    if (readout.empty()) continue;
    nlohmann::json& told = (m == 0 ? meta : meta["others"][m - 1])["readout"];
    told = {{"members", readout.members.size()},
            {"indicators", readout.indicators},
            {"share", readout.share},
            {"power", readout.power},
            {"without_state", readout.without_state}};
    if (const BoostedTrees& trees = readout.trees; !trees.empty())
      told["trees"] = {{"nodes", trees.nodes.size()},
                       {"roots", trees.roots},
                       {"base", trees.base},
                       {"share", readout.tree_share}};
  }
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
        if (!of_classifier(tensor))
          add(kBackward + tensor.name, tensor, model.backward_of(m).data() + tensor.offset);
    for (const SeedClassifier& c : model.seed_classifiers_of(m))
      for (const Tensor& tensor : model.network->layout().tensors())
        if (of_classifier(tensor))
          add(seed_tensor(c.seed, tensor), tensor, c.params.data() + tensor.offset - first);
    const Readout& readout = model.readout_of(m);
    if (readout.empty()) continue;
    const Matrix<float>& knots = readout.knots;
    file.tensors.push_back({prefix + kKnotsTensor,
                            {knots.cols(), knots.rows()},
                            {knots.data(), knots.data() + knots.size()}});
    const SummaryClassifier network = summary_classifier(model, readout);
    for (std::size_t k = 0; k < readout.members.size(); ++k)
      for (const Tensor& tensor : network.layout().tensors())
        add(readout_tensor(k, tensor), tensor, readout.members[k].data() + tensor.offset);
    if (const BoostedTrees& trees = readout.trees; !trees.empty())
      file.tensors.push_back({prefix + kTreesTensor,
                              {static_cast<Index>(trees.nodes.size()), BoostedTrees::kNumbers},
                              trees.numbers()});
  }
  return file;
}

namespace {

Error unusable(const std::filesystem::path& path, const std::string& why) {
  return Error(fmt::format("{}: not a usable model file: {}", path.string(), why));
}
Error contradiction(const std::filesystem::path& path) {
  return unusable(path, "its metadata contradicts itself");
}

// What the metadata say: a model without its network and its numbers.
struct StoredModel {
  Model model;
  bool classifier = false, backward = false;
  std::vector<std::vector<std::int64_t>> seeds;  // of the classifiers of each member
  std::vector<StoredReadout> readouts;           // of each member
};

StoredModel read_metadata(const TensorFile& file, const std::filesystem::path& path) {
  const auto refuse = [&](const std::string& why) { return unusable(path, why); };
  const auto found = file.metadata.find("edict");
  if (found == file.metadata.end())
    throw refuse("it has no edict metadata (was it written by another program?)");
  StoredModel stored;
  auto& [model, classifier, backward, seeds, readouts] = stored;
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
      from_stored_json(meta.at("config"), model.config);
      validate(model.config);
    } catch (const Error& e) {
      throw refuse(e.what());
    }
    meta.at("features").get_to(model.features);
    meta.at("statics").get_to(model.statics);
    meta.at("classes").get_to(model.classes);
    meta.at("classifier").get_to(classifier);
    meta.at("horizon").get_to(model.protocol.horizon);
    if (meta.contains("least_scale"))  // not of version 1
      meta.at("least_scale").get_to(model.config.model.least_scale);
    if (meta.contains("unchanging"))  // nor these
      meta.at("unchanging").get_to(model.config.model.unchanging);
    if (meta.contains("sporadic")) meta.at("sporadic").get_to(model.config.model.sporadic);
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
      readouts.push_back(readout_from_json(meta));
      if (several)
        for (const auto& other : meta.at("others")) {
          seeds.push_back(seeds_from_json(other.at("classifier_seeds")));
          readouts.push_back(readout_from_json(other));
        }
    } catch (const Error& error) {
      throw refuse(error.what());
    }
  } catch (const nlohmann::json::exception&) {
    throw refuse("its metadata is malformed");
  }
  return stored;
}

// The clock and the cut-off that the settings of a trained model have.
void set_protocol(Model& model, const std::filesystem::path& path) {
  if (!model.config.data.t_cut) throw unusable(path, "its data.t_cut is not resolved");
  if (model.config.data.start == "origin" && !model.config.data.origin)
    throw unusable(path, "its data.origin is not resolved");
  model.protocol.origin = model.config.data.clock_origin();
  model.protocol.may_start_earlier = model.config.data.start == "origin";
  model.protocol.time_unit = model.config.data.time_unit;
  model.protocol.t_cut = *model.config.data.t_cut;
  model.protocol.cut_share = model.config.data.cut_share;
  model.protocol.from_first = model.config.data.start == "first";
  if (const std::string wrong = wrong_protocol(model); !wrong.empty()) throw unusable(path, wrong);
}

void check_parts(const StoredModel& stored, const TensorFile& file,
                 const std::filesystem::path& path) {
  const bool any_seed =
      std::ranges::any_of(stored.seeds, [](const auto& own) { return !own.empty(); });
  // All members have a readout or none has.
  const bool reads = stored.readouts.front().any();
  const bool same = std::ranges::all_of(stored.readouts, [&](const StoredReadout& own) {
    return own.any() == reads && own.networks <= file.tensors.size();
  });
  if ((stored.classifier ? stored.model.classes.size() < 2 : any_seed) ||
      (!stored.backward && !stored.model.fusion.empty()) || !same || (reads && !stored.classifier))
    throw contradiction(path);
}

// Takes the numbers of a model out of a file, by the names and shapes that its network has.
class NumberReader {
 public:
  NumberReader(const TensorFile& file, const std::filesystem::path& path, const StoredModel& stored)
      : file_(file), path_(path), stored_(stored), model_(stored.model) {
    for (const NamedTensor& t : file.tensors) numbers_ += t.values.size();
    if (static_cast<std::size_t>(model_.network->layout().size()) > numbers_ / stored.seeds.size())
      throw unusable(path, "it holds fewer numbers than its configuration asks");
  }

  Member member(std::size_t m) const {
    const std::string prefix = member_prefix(m);
    const Index size = model_.network->layout().size(), first = size - model_.classifier_size();
    Member own{Vector<float>(size), {}, {}, {}};
    for (const Tensor& tensor : model_.network->layout().tensors())
      take(prefix + tensor.name, tensor.shape, own.params.data() + tensor.offset);
    if (stored_.backward) {
      own.backward = Vector<float>::Zero(size);
      for (const Tensor& tensor : model_.network->layout().tensors())
        if (!of_classifier(tensor))
          take(prefix + kBackward + tensor.name, tensor.shape, own.backward.data() + tensor.offset);
    }
    for (const std::int64_t seed : stored_.seeds[m]) {
      SeedClassifier& trained = own.seed_classifiers.emplace_back(
          SeedClassifier{seed, Vector<float>(model_.classifier_size())});
      for (const Tensor& tensor : model_.network->layout().tensors())
        if (of_classifier(tensor))
          take(prefix + seed_tensor(seed, tensor), tensor.shape,
               trained.params.data() + tensor.offset - first);
    }
    if (stored_.readouts[m].any()) own.readout = readout(stored_.readouts[m], prefix);
    return own;
  }

 private:
  void take(const std::string& name, const std::vector<Index>& shape, float* to) const {
    const auto stored = std::ranges::find(file_.tensors, name, &NamedTensor::name);
    if (stored == file_.tensors.end())
      throw unusable(path_, "tensor '" + name + "' is missing; train it again with this version");
    if (stored->shape != shape)
      throw unusable(path_, "tensor '" + name + "' has another shape than its configuration asks");
    std::copy(stored->values.begin(), stored->values.end(), to);
  }

  Readout readout(const StoredReadout& stored, const std::string& prefix) const {
    const Index size = summary_size(model_);
    Readout own = stored.readout;
    own.knots.resize(Readout::kKnots, size);
    own.state_rows = state_rows(model_);
    for (const Index row : own.indicators)
      if (row < 0 || row >= size) throw contradiction(path_);
    take(prefix + kKnotsTensor, {size, Readout::kKnots}, own.knots.data());
    const SummaryClassifier network = summary_classifier(model_, own);
    for (std::size_t k = 0; k < stored.networks; ++k) {
      Vector<float>& params = own.members.emplace_back(network.layout().size());
      for (const Tensor& tensor : network.layout().tensors())
        take(prefix + readout_tensor(k, tensor), tensor.shape, params.data() + tensor.offset);
    }
    if (!own.trees.empty()) take_trees(stored.nodes, prefix, own);
    return own;
  }

  void take_trees(std::size_t nodes, const std::string& prefix, Readout& readout) const {
    BoostedTrees& trees = readout.trees;
    if (trees.base.size() != BoostedTrees::outputs_for(model_.classes.size()) || nodes > numbers_)
      throw contradiction(path_);
    std::vector<float> numbers(nodes * BoostedTrees::kNumbers);
    take(prefix + kTreesTensor, {static_cast<Index>(nodes), BoostedTrees::kNumbers},
         numbers.data());
    if (!trees.set_numbers(numbers, summary_size(model_) - readout.state_rows))
      throw unusable(path_, "a tree of its readout is invalid");
  }

  const TensorFile& file_;
  const std::filesystem::path& path_;
  const StoredModel& stored_;
  const Model& model_;
  std::size_t numbers_ = 0;  // in the whole file
};

}  // namespace

Model from_tensors(const TensorFile& file, const std::filesystem::path& path) {
  StoredModel stored = read_metadata(file, path);
  Model& model = stored.model;
  set_protocol(model, path);
  check_parts(stored, file, path);
  model.network =
      make_network(model.config, model.features, static_cast<Index>(model.statics.size()),
                   stored.classifier ? static_cast<Index>(model.classes.size()) : 0);
  if (stored.readouts.front().any() && !model.network->has_distribution())
    throw contradiction(path);
  const NumberReader numbers(file, path, stored);
  for (std::size_t m = 0; m < stored.seeds.size(); ++m) {
    Member own = numbers.member(m);
    if (m > 0) {
      model.others.push_back(std::move(own));
      continue;
    }
    model.params = std::move(own.params);
    model.backward = std::move(own.backward);
    model.seed_classifiers = std::move(own.seed_classifiers);
    model.readout = std::move(own.readout);
  }
  if (const std::string wrong = wrong_parameters(model); !wrong.empty())
    throw unusable(path, wrong);
  return std::move(model);
}

void save_model(const Model& model, const std::filesystem::path& path) {
  write_tensors(to_tensors(model), path);
}

Model load_model(const std::filesystem::path& path) {
  const TensorFile file = read_tensors(path);
  if (file.metadata.contains("checkpoint"))
    throw Error(ErrorCode::mismatch,
                {.subject = path.string(),
                 .problem = "this is the checkpoint of a training and no model",
                 .remedy = "give the model that the training writes at its end, or continue it "
                           "with " +
                           option("resume")});
  return from_tensors(file, path);
}

}  // namespace edict

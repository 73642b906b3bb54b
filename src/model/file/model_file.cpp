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

// A member as the metadata tell it, without its numbers.
struct StoredMember {
  std::vector<std::int64_t> classifier_seeds;
  StoredReadout readout;
};

StoredMember member_from_json(const nlohmann::json& json) {
  return {seeds_from_json(json.at("classifier_seeds")), readout_from_json(json)};
}

nlohmann::json to_json(const Member& member) {
  nlohmann::json json = {{"classifier_seeds", seeds_of(member.seed_classifiers)}};
  const Readout& readout = member.readout;
  if (readout.empty()) return json;
  nlohmann::json& told = json["readout"];
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
  return json;
}

nlohmann::json metadata(const Model& model) {
  nlohmann::json meta = {
      {"format", model.members.size() > 1 ? kEnsembleFormat : kFormat},
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
  };
  meta.update(to_json(model.first()));  // what a single model says of itself
  for (std::size_t m = 1; m < model.members.size(); ++m)
    meta["others"].push_back(to_json(model.members[m]));
  if (!model.calibration.empty()) meta["calibration"] = to_json(model.calibration);
  if (model.has_backward()) meta["backward"] = true;
  if (!model.fusion.empty()) meta["fusion"] = to_json(model.fusion);
  return meta;
}

// The tensors of a member, named `prefix` and what they are.
void add_tensors(const Model& model, const Member& member, const std::string& prefix,
                 TensorFile& file) {
  const Index first = model.network->classifier_offset();
  const auto add = [&](const std::string& name, const Tensor& tensor, const float* begin) {
    file.tensors.push_back({prefix + name, tensor.shape, {begin, begin + tensor.size}});
  };
  const auto& tensors = model.network->layout().tensors();
  for (const Tensor& tensor : tensors)
    add(tensor.name, tensor, member.params.data() + tensor.offset);
  if (model.has_backward())
    for (const Tensor& tensor : tensors)
      if (tensor.offset < first)
        add(kBackward + tensor.name, tensor, member.backward.data() + tensor.offset);
  for (const SeedClassifier& c : member.seed_classifiers)
    for (const Tensor& tensor : tensors)
      if (tensor.offset >= first)
        add(seed_tensor(c.seed, tensor), tensor, c.params.data() + tensor.offset - first);
  const Readout& readout = member.readout;
  if (readout.empty()) return;
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

// Why a file is not a usable model.
struct UnusableModel {
  std::string why;
};
UnusableModel contradicts() { return {"its metadata contradicts itself"}; }

// Everything but the network and its numbers.
struct Stored {
  Model model;
  bool classifier = false, backward = false;
  std::vector<StoredMember> members = {};
};

Stored stored_from_json(const nlohmann::json& meta) {
  Stored stored;
  Model& model = stored.model;
  const bool several = meta.at("format") == kEnsembleFormat;
  if (meta.at("format") != kFormat && !several)
    throw UnusableModel{
        fmt::format("format {} is not known to this version", json_text(meta.at("format")))};
  from_stored_json(meta.at("config"), model.config);
  validate(model.config);
  meta.at("features").get_to(model.features);
  meta.at("statics").get_to(model.statics);
  meta.at("classes").get_to(model.classes);
  meta.at("classifier").get_to(stored.classifier);
  meta.at("horizon").get_to(model.protocol.horizon);
  if (meta.contains("least_scale"))  // not of version 1
    meta.at("least_scale").get_to(model.config.model.least_scale);
  if (meta.contains("unchanging"))  // nor these
    meta.at("unchanging").get_to(model.config.model.unchanging);
  if (meta.contains("sporadic")) meta.at("sporadic").get_to(model.config.model.sporadic);
  model.protocol.standardisation = standardisation_from_json(meta.at("standardisation"));
  model.protocol.population = standardisation_from_json(meta.at("population"));
  model.seen = seen_series_from_json(meta.at("seen"));
  // Models from before tables of every kind were read have neither.
  if (meta.contains("reading")) model.reading = reading_from_json(meta.at("reading"));
  if (meta.contains("time_axis")) model.time_axis = time_axis_from_json(meta.at("time_axis"));
  stored.members.push_back(member_from_json(meta));
  if (meta.contains("calibration"))
    model.calibration = calibration_from_json(meta.at("calibration"), model.features.size());
  if (meta.contains("backward")) meta.at("backward").get_to(stored.backward);
  if (meta.contains("fusion"))
    model.fusion = fusion_from_json(meta.at("fusion"), model.features.size());
  if (several)
    for (const auto& other : meta.at("others")) stored.members.push_back(member_from_json(other));
  return stored;
}

void resolve_protocol(Model& model) {
  const DataSettings& data = model.config.data;
  if (!data.t_cut) throw UnusableModel{"its data.t_cut is not resolved"};
  if (data.start == ClockStart::chosen) throw UnusableModel{"its data.start is not resolved"};
  if (data.start == ClockStart::origin && !data.origin)
    throw UnusableModel{"its data.origin is not resolved"};
  model.protocol.origin = data.clock_origin();
  model.protocol.start = data.start;
  model.protocol.time_unit = data.time_unit;
  model.protocol.t_cut = *data.t_cut;
  model.protocol.cut_share = data.cut_share;
  if (const std::string wrong = wrong_protocol(model); !wrong.empty()) throw UnusableModel{wrong};
}

// All members have a readout or none has; and so on.
void check_members(const Stored& stored, std::size_t tensors) {
  const auto& members = stored.members;
  const bool reads = members.front().readout.any();
  const bool same = std::ranges::all_of(members, [&](const StoredMember& own) {
    return own.readout.any() == reads && own.readout.networks <= tensors;
  });
  const bool any_seed = std::ranges::any_of(
      members, [](const StoredMember& own) { return !own.classifier_seeds.empty(); });
  if ((stored.classifier ? stored.model.classes.size() < 2 : any_seed) ||
      (!stored.backward && !stored.model.fusion.empty()) || !same || (reads && !stored.classifier))
    throw contradicts();
}

// Takes the numbers of members from the tensors of a file.
class NumberReader {
 public:
  NumberReader(const Model& model, const TensorFile& file) : model_(model), file_(file) {
    for (const NamedTensor& t : file.tensors) numbers_ += t.values.size();
  }
  std::size_t numbers() const { return numbers_; }

  Member member(const StoredMember& stored, const std::string& prefix, bool backward) const {
    const ParameterLayout& layout = model_.network->layout();
    const Index size = layout.size(), first = model_.network->classifier_offset();
    Member own{Vector<float>(size)};
    for (const Tensor& tensor : layout.tensors())
      take(prefix + tensor.name, tensor.shape, own.params.data() + tensor.offset);
    if (backward) {
      own.backward = Vector<float>::Zero(size);
      for (const Tensor& tensor : layout.tensors())
        if (tensor.offset < first)
          take(prefix + kBackward + tensor.name, tensor.shape, own.backward.data() + tensor.offset);
    }
    for (const std::int64_t seed : stored.classifier_seeds) {
      own.seed_classifiers.push_back({seed, Vector<float>(size - first)});
      for (const Tensor& tensor : layout.tensors())
        if (tensor.offset >= first)
          take(prefix + seed_tensor(seed, tensor), tensor.shape,
               own.seed_classifiers.back().params.data() + tensor.offset - first);
    }
    if (stored.readout.any()) own.readout = readout(stored.readout, prefix);
    return own;
  }

 private:
  Readout readout(const StoredReadout& stored, const std::string& prefix) const {
    Readout own = stored.readout;
    const Index size = summary_size(model_);
    own.knots.resize(Readout::kKnots, size);
    own.state_rows = state_rows(model_);
    for (const Index row : own.indicators)
      if (row < 0 || row >= size) throw contradicts();
    take(prefix + kKnotsTensor, {size, Readout::kKnots}, own.knots.data());
    const SummaryClassifier network = summary_classifier(model_, own);
    for (std::size_t k = 0; k < stored.networks; ++k) {
      Vector<float>& params = own.members.emplace_back(network.layout().size());
      for (const Tensor& tensor : network.layout().tensors())
        take(prefix + readout_tensor(k, tensor), tensor.shape, params.data() + tensor.offset);
    }
    if (BoostedTrees& trees = own.trees; !trees.empty()) {
      if (trees.base.size() != BoostedTrees::outputs_for(model_.classes.size()) ||
          stored.nodes > numbers_)
        throw contradicts();
      std::vector<float> numbers(stored.nodes * BoostedTrees::kNumbers);
      take(prefix + kTreesTensor, {static_cast<Index>(stored.nodes), BoostedTrees::kNumbers},
           numbers.data());
      if (!trees.set_numbers(numbers, size - own.state_rows))
        throw UnusableModel{"a tree of its readout is invalid"};
    }
    return own;
  }

  void take(const std::string& name, const std::vector<Index>& shape, float* to) const {
    const auto stored = std::ranges::find(file_.tensors, name, &NamedTensor::name);
    if (stored == file_.tensors.end())
      throw UnusableModel{"tensor '" + name + "' is missing; train it again with this version"};
    if (stored->shape != shape)
      throw UnusableModel{"tensor '" + name + "' has another shape than its configuration asks"};
    std::ranges::copy(stored->values, to);
  }

  const Model& model_;
  const TensorFile& file_;
  std::size_t numbers_ = 0;
};

Model read_model(const TensorFile& file, const std::filesystem::path& path) {
  const auto found = file.metadata.find("edict");
  if (found == file.metadata.end())
    throw UnusableModel{"it has no edict metadata (was it written by another program?)"};
  Stored stored;
  try {
    const nlohmann::json meta = parse_json(found->second);
    if (meta.at("format") == 1)
      throw Error(fmt::format(
          "{}: was written by an earlier version of edict; train it again with this one",
          path.string()));
    try {
      stored = stored_from_json(meta);
    } catch (const Error& error) {
      throw UnusableModel{error.what()};
    }
  } catch (const nlohmann::json::exception&) {
    throw UnusableModel{"its metadata is malformed"};
  }
  Model& model = stored.model;
  resolve_protocol(model);
  check_members(stored, file.tensors.size());
  model.network =
      make_network(model.config, model.features, static_cast<Index>(model.statics.size()),
                   stored.classifier ? static_cast<Index>(model.classes.size()) : 0);
  if (stored.members.front().readout.any() && !model.network->has_distribution())
    throw contradicts();
  const NumberReader reader(model, file);
  if (static_cast<std::size_t>(model.network->layout().size()) >
      reader.numbers() / stored.members.size())
    throw UnusableModel{"it holds fewer numbers than its configuration asks"};
  model.members.clear();
  for (std::size_t m = 0; m < stored.members.size(); ++m)
    model.members.push_back(reader.member(stored.members[m], member_prefix(m), stored.backward));
  if (const std::string wrong = wrong_parameters(model); !wrong.empty()) throw UnusableModel{wrong};
  return std::move(stored.model);
}

}  // namespace

TensorFile to_tensors(const Model& model) {
  TensorFile file;
  file.metadata["edict"] = json_text(metadata(model));
  for (std::size_t m = 0; m < model.members.size(); ++m)
    add_tensors(model, model.members[m], member_prefix(m), file);
  return file;
}

Model from_tensors(const TensorFile& file, const std::filesystem::path& path) {
  try {
    return read_model(file, path);
  } catch (const UnusableModel& unusable) {
    throw Error(fmt::format("{}: not a usable model file: {}", path.string(), unusable.why));
  }
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

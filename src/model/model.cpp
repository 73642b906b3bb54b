#include "model/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "base/hash.h"
#include "base/json/json.h"
#include "base/json/json_text.h"
#include "data/fingerprint.h"
#include "model/registry.h"
#include "protocol/resolution.h"

namespace edict {
namespace {

// Only where the network asks for them, so that other models carry no number that means nothing. A
// state that starts by remembering longer than one gap, and some of it longer than any series,
// learns faster and ends better (docs/evidence/trials.md).
void resolve_time_scales(const Protocol& protocol, const Dataset& data, const Split& split,
                         EngineSettings& settings) {
  if (settings.propagator != Propagation::closed_form && !settings.recall) return;
  const Gaps found = gaps(protocol, data, split.train);
  const auto allowed = [](double time) { return std::clamp(time, kShortestTime, kLongestTime); };
  if (!settings.shortest_timescale && found.median > 0)
    settings.shortest_timescale = allowed(std::min(10 * found.median, found.longest_series / 10));
  if (!settings.longest_timescale && found.longest_series > 0)
    settings.longest_timescale = allowed(5 * found.longest_series);
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
  if (model.config.model.recall) {
    Resolution found = find_resolution(data, split.train, model.protocol.standardisation);
    model.config.model.least_scale = std::move(found.least_scale);
    model.config.model.unchanging = std::move(found.unchanging);
    model.config.model.sporadic = std::move(found.sporadic);
  }
  validate(model.config);  // what was chosen by the data must be readable from the model's file
  // Not random, so that the same run writes the same file.
  model.seen =
      SeenSeries(Hash().number(config.data.seed).number(fingerprint(data)).text("salt").value());
  model.seen.add(data, split, config.data.split);
  // A kind without a distribution can do nothing but classify.
  with_classifier = with_classifier || !model_kind(config.model.kind).has_distribution;
  if (with_classifier && data.classes.size() < 2)
    throw Error(
        fmt::format("the data have {}; {} learns classes and needs a label column "
                    "with at least two",
                    data.classes.empty() ? "no labels" : "a single class", config.model.kind));
  model.network = make_network(model.config, data.features, static_cast<Index>(data.statics.size()),
                               with_classifier ? static_cast<Index>(data.classes.size()) : 0);
  model.first().params =
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
  Member& own = model.first();
  own.params = model.network->layout().initial<float>(
      static_cast<std::uint64_t>(model.config.classify.seed));
  // The classifier's parameters come last; everything before it is this model's, whether or not
  // that has a classifier already.
  const Index shared = own.params.size() - model.classifier_size();
  own.params.head(shared) = first().params.head(shared);
  model.calibration = calibration;  // of the distributions, which are the same
  if (has_backward()) {
    own.backward = Vector<float>::Zero(own.params.size());
    own.backward.head(shared) = first().backward.head(shared);
    model.fusion = fusion;
  }
  return model;
}

Index Model::classifier_size() const {
  return network->layout().size() - network->classifier_offset();
}

Model Model::member(std::size_t index) const {
  Model model = without_numbers(*this);
  model.config.train.seed += static_cast<std::int64_t>(index);
  model.network =
      make_network(config, features, static_cast<Index>(statics.size()), network->classes());
  model.members = {members[index]};
  return model;
}

Vector<float> Model::classifiers(std::optional<std::int64_t> seed) const {
  const Index size = classifier_size();
  Vector<float> all(size * static_cast<Index>(members.size()));
  for (std::size_t m = 0; m < members.size(); ++m) {
    auto own = all.segment(static_cast<Index>(m) * size, size);
    own = members[m].params.tail(size);
    if (!seed) continue;
    for (const SeedClassifier& c : members[m].seed_classifiers)
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
    if (members[m].members.size() > 1 ||
        whole.first().params.size() != members[m].first().params.size() ||
        shared(members[m]) != shared(whole))
      throw Error(
          fmt::format("member {} of the ensemble differs from the first by more than its seed; "
                      "train all of them on the same data with the same settings",
                      m + 1));
    whole.members.push_back(std::move(members[m].first()));
  }
  return whole;
}

bool Model::has_backward() const {
  return std::ranges::all_of(members, [](const Member& own) { return own.backward.size() > 0; });
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
  const auto add = [&](const Vector<float>& own) {
    hash.bytes(own.data(), static_cast<std::size_t>(own.size()) * sizeof(float));
  };
  for (const Member& own : model.members) add(own.params);
  if (model.has_backward())
    for (const Member& own : model.members) add(own.backward);
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

}  // namespace edict

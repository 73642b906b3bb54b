// Settings, models and everything else that is kept in files and given back by strangers. A
// checksum keeps no stranger out, who can compute it as well: where a format has one it is set
// right before the bytes are read, so that what it guards is looked at too.
#include <algorithm>
#include <cstring>

#include "ask/stream.h"
#include "base/hash.h"
#include "base/json/json.h"
#include "base/json/json_text.h"
#include "data/fingerprint.h"
#include "data/packed_checksum.h"
#include "data/packed_file.h"
#include "fuzz/promise.h"
#include "learn/checkpoint.h"
#include "model/classifier/summary.h"
#include "model/config.h"
#include "model/file/safetensors.h"

namespace edict::fuzz {
namespace {

std::string bytes_of(const void* from, std::size_t size) {
  return {static_cast<const char*>(from), size};
}

// ---- settings ----

void promise_settings(const Config& config) {
  const std::string text = to_toml(config);
  Config again;
  read_toml_text(text, "again.toml", again);
  promise(to_toml(again) == text, "settings are the same when they are read again");
}

// What is accepted as settings is written as settings that mean the same.
void toml(std::string_view bytes) {
  attempt("f.toml", [&] {
    Config config;
    read_toml_text(bytes, "f.toml", config);
    promise_settings(config);
  });
}

// A line is what follows one --set.
void assignment(std::string_view bytes) {
  attempt("", [&] {
    Config config;
    while (!bytes.empty()) {
      const std::size_t end = std::min(bytes.find('\n'), bytes.size());
      assign(config, bytes.substr(0, end));
      bytes.remove_prefix(std::min(end + 1, bytes.size()));
    }
    promise_settings(config);
  });
}

std::vector<std::string> settings() {
  return {to_toml(Config()), "[model]\nhidden = 8\nsolver = \"rk4\"\n[train]\nepochs = 3\n",
          "data.t_cut = \"auto\"\nloss = { kl = 0.1 }\n"};
}

std::vector<std::string> assignments() {
  return {"model.hidden=8", "data.t_cut=auto", "train.learning_rate=1e-3", "model.solver=dopri5",
          "train.calibrate=true\nmodel.hidden=4\ntrain.epochs=7"};
}

// ---- models ----

// Tensors that are accepted are written as the file that they came from means.
void tensors(std::string_view bytes) {
  attempt("f:", [&] {
    const TensorFile file = tensors_from(bytes, "f");
    const std::string again = tensor_bytes(file);
    promise(tensor_bytes(tensors_from(again, "f")) == again,
            "tensors are the same when they are read again");
  });
}

// A model is whole or refused: never one that writes something else than it read.
void model(std::string_view bytes) {
  attempt("f:", [&] {
    const Model read = from_tensors(tensors_from(bytes, "f"), "f");
    const std::string again = tensor_bytes(to_tensors(read));
    promise(tensor_bytes(to_tensors(from_tensors(tensors_from(again, "f"), "f"))) == again,
            "a model is the same when it is read again");
  });
}

// A state goes on as a stream of its model, whatever is in it. Which model it is of is set right
// like the checksum.
void stream_state(std::string_view bytes) {
  constexpr std::size_t kModelAt = 8;
  static const std::uint64_t model = fingerprint(*smallest());
  std::string sealed(bytes);
  std::uint64_t sum;
  if (sealed.size() >= kModelAt + sizeof model + sizeof sum) {
    std::memcpy(sealed.data() + kModelAt, &model, sizeof model);
    sum = Hash().bytes(sealed.data(), sealed.size() - sizeof sum).value();
    std::memcpy(sealed.data() + sealed.size() - sizeof sum, &sum, sizeof sum);
  }
  attempt("", [&] {
    const auto data = std::as_bytes(std::span(sealed));
    StreamState state = StreamState::from_bytes(data);
    promise(std::ranges::equal(data, state.to_bytes()),
            "a state is the bytes that it was read from");
    static Stream stream(smallest());
    stream.restore(std::move(state));
    promise_distributions(stream.distribution(stream.now()));
    const Observation observed{1, -0.5};
    stream.observe(stream.now() + 0.25, {&observed, 1});
    promise_distributions(stream.distribution(stream.now() + 0.5));
  });
}

void checkpoint(std::string_view bytes) {
  std::string sealed;
  const auto seal = [&] {
    TensorFile file = tensors_from(bytes, "f");
    file.metadata["checksum"] = checkpoint_checksum(file);
    sealed = tensor_bytes(file);
  };
  if (!attempt("f:", seal)) return;
  const std::filesystem::path path = written(sealed);
  attempt(path.string(), [&] {
    static Model model = from_tensors(to_tensors(*smallest()), "f");
    model.first().params = smallest()->first().params;
    Adam adam(model.first().params.size());
    load_checkpoint(path, 5, model, adam);
    promise(model.first().params.allFinite() && adam.m.allFinite() && adam.v.allFinite(),
            "a run goes on from numbers");
  });
}

void metrics(std::string_view bytes) {
  const std::filesystem::path path = written(bytes);
  attempt(path.string(), [&] {
    const std::vector<EpochRow> rows = read_metrics(path);
    write_metrics(rows, path);
    promise(read_metrics(path).size() == rows.size(), "metrics are the same when read again");
  });
}

std::vector<std::string> tensor_files() {
  return {tensor_bytes({{{"a", {2, 3}, {1, 2, 3, 4, 5, 6}}, {"b", {}, {7}}}, {{"k", "v"}}}),
          tensor_bytes({{}, {}})};
}

// A model that tells classes apart, also by networks and trees on summaries.
Model classifier() {
  Config config = smallest()->config;
  config.classify.readout.members = 1;
  config.classify.readout.width = 2;
  Model made = smallest()->with_classifier(config, {"u", "v"});
  Readout& readout = made.first().readout;
  readout.knots = Matrix<float>::Zero(Readout::kKnots, summary_size(made));
  readout.state_rows = state_rows(made);
  readout.members = {Vector<float>::Zero(summary_classifier(made, readout).layout().size())};
  readout.trees = {{{0, 0.5f, 1, true, 0}, {0, 0, 0, false, -1}, {0, 0, 0, false, 1}}, {0}, {0.1}};
  readout.tree_share = 0.5;
  return made;
}

// One as it is made, and others with what training may add to it.
std::vector<std::string> models() {
  Model rich = from_tensors(to_tensors(*smallest()), "f");
  const std::size_t features = rich.features.size();
  rich.calibration.features.assign(
      features, {0.1, 0.0, 1.0, 0.1, 1.0, 2.0, 5.0, -0.2, 9.0, {{2.0, {{0.5, 0.6}, {0.9, 0.95}}}}});
  rich.calibration.fit_series = rich.calibration.conformal_series = 3;
  rich.calibration.correlations = Correlations(
      Matrix<double>::Identity(static_cast<Index>(features), static_cast<Index>(features)));
  rich.first().backward = rich.first().params;
  rich.fusion.features.assign(features, {.dof = 5.0});
  rich.fusion.fit_series = 3;
  return {tensor_bytes(to_tensors(*smallest())), tensor_bytes(to_tensors(rich)),
          tensor_bytes(to_tensors(classifier()))};
}

std::vector<std::string> states() {
  Stream stream(smallest());
  const auto text = [&] {
    const std::vector<std::byte> bytes = stream.state().to_bytes();
    return bytes_of(bytes.data(), bytes.size());
  };
  std::vector<std::string> result = {text()};
  const Observation observed{0, 0.5};
  stream.observe(1.0, {&observed, 1});
  result.push_back(text());
  return result;
}

std::vector<std::string> checkpoints() {
  const TemporaryFolder folder;
  const Model& model = *smallest();
  EpochRow first;
  first.epoch = 1;
  first.best = true;
  save_checkpoint({5, 1, 0, {first}, model.first().params}, model,
                  Adam(model.first().params.size()), folder / "c");
  return {folder.read("c")};
}

std::vector<std::string> metrics_files() {
  const TemporaryFolder folder;
  write_metrics({EpochRow{}, EpochRow{}}, folder / "m");
  return {folder.read("m")};
}

// ---- packed data ----

// With the checksums that its bytes should have. The description begins with its first name.
std::string sealed_packed(std::string_view bytes) {
  constexpr std::size_t kHead = 16, kTail = 32;
  const std::size_t at = bytes.rfind("{\"classes\"");
  if (at == std::string_view::npos || at < kHead || bytes.size() < at + kTail)
    return std::string(bytes);
  std::string footer(bytes.substr(at, bytes.size() - kTail - at));
  if (nlohmann::json json = parse_json(footer); json.is_object() && json.contains("sections")) {
    for (nlohmann::json& section : json["sections"]) {
      if (!section.is_object()) continue;
      const auto number = [&](const char* name) {
        const auto found = section.find(name);
        return found != section.end() && found->is_number_unsigned() ? found->get<std::size_t>()
                                                                     : bytes.size();
      };
      const std::size_t offset = number("offset"), size = number("bytes");
      if (offset > at || size > at - offset) continue;
      PackedChecksum sum;
      sum.add(bytes.data() + offset, size);
      section["checksum"] = sum.hex();
    }
    footer = json_text(json);
  }
  const std::uint64_t tail[] = {at, footer.size(),
                                Hash().bytes(bytes.data(), kHead).text(footer).number(at).value()};
  return std::string(bytes.substr(0, at)) + footer + bytes_of(tail, sizeof tail) + "edictend";
}

// Every array is checked before anybody follows an index in it.
void packed(std::string_view bytes) {
  const std::string sealed = sealed_packed(bytes);
  attempt("f:", [&] {
    const Dataset data = packed_from(std::as_bytes(std::span(sealed)), "f");
    data.check();
    fingerprint(data);
  });
}

std::vector<std::string> packed_files() {
  const TemporaryFolder folder;
  Dataset data;
  data.features = {"x", "y"};
  data.statics = {"age"};
  data.classes = {"u", "v"};
  data.groups = {"g"};
  data.ids = {"a", "b"};
  data.labels = {0, 1};
  data.group_of = {0, -1};
  data.static_values = {3, 4};
  data.first_event = {0, 2, 3};
  data.times = {0, 1, 0.5};
  data.first_observation = {0, 2, 3, 4};
  data.feature = {0, 1, 1, 0};
  data.value = {1, 2, 3, 4};
  data.check();
  write_packed(data, folder / "small");
  write_packed(few_series(), folder / "few");
  return {folder.read("small"), folder.read("few")};
}

}  // namespace

std::vector<Target> file_targets() {
  return {{"toml", toml, settings},
          {"assignment", assignment, assignments},
          {"tensors", tensors, tensor_files},
          {"model", model, models},
          {"stream_state", stream_state, states},
          {"checkpoint", checkpoint, checkpoints},
          {"metrics", metrics, metrics_files},
          {"packed", packed, packed_files}};
}

}  // namespace edict::fuzz

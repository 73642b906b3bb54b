#include "edict/train/checkpoint.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "edict/core/atomic_file.h"
#include "edict/core/error.h"
#include "edict/core/json_text.h"

namespace edict {
namespace {

NamedTensor flat(const char* name, const Vector<float>& values) {
  return {name, {values.size()}, {values.data(), values.data() + values.size()}};
}

void restore(const TensorFile& file, const char* name, Vector<float>& values) {
  const NamedTensor& stored = file.tensor(name);
  if (static_cast<Index>(stored.values.size()) != values.size())
    throw Error(
        fmt::format("the checkpoint's '{}' has the wrong size; start without --resume", name));
  std::copy(stored.values.begin(), stored.values.end(), values.data());
}

}  // namespace

void save_checkpoint(const Checkpoint& state, const Model& model, const Adam& adam,
                     const std::filesystem::path& path) {
  TensorFile file = to_tensors(model);
  file.tensors.push_back(flat("adam.m", adam.m));
  file.tensors.push_back(flat("adam.v", adam.v));
  file.tensors.push_back(flat("best", state.best));
  nlohmann::json rows = nlohmann::json::array();
  for (const EpochRow& r : state.rows)
    rows.push_back({r.epoch, r.learning_rate, r.nll, r.kl, r.evidence, r.loss, r.validation_nll,
                    r.validation_mse, r.best, r.cross_entropy, r.validation_cross_entropy,
                    r.validation_accuracy});
  file.metadata["checkpoint"] = json_text({{"fingerprint", state.fingerprint},
                                           {"epochs_done", state.epochs_done},
                                           {"since_best", state.since_best},
                                           {"adam_steps", adam.steps},
                                           {"rows", rows}});
  write_tensors(file, path);
}

Checkpoint load_checkpoint(const std::filesystem::path& path, std::uint64_t fingerprint,
                           Model& model, Adam& adam) {
  const TensorFile file = read_tensors(path);
  Model stored = from_tensors(file, path);
  nlohmann::json before = to_json(stored.config), now = to_json(model.config);
  before["train"].erase("epochs");  // a run may be made longer
  now["train"].erase("epochs");
  for (const auto& difference : nlohmann::json::diff(before, now)) {
    std::string key = difference.at("path").get<std::string>().substr(1);
    std::replace(key.begin(), key.end(), '/', '.');
    throw Error(
        fmt::format("{}: was written with another {}; use the same settings, or start "
                    "without --resume",
                    path.string(), key));
  }
  const auto found = file.metadata.find("checkpoint");
  if (found == file.metadata.end())
    throw Error(
        fmt::format("{}: is a model, not a checkpoint; start without --resume", path.string()));
  Checkpoint state;
  try {
    const nlohmann::json json = parse_json(found->second);
    json.at("fingerprint").get_to(state.fingerprint);
    json.at("epochs_done").get_to(state.epochs_done);
    json.at("since_best").get_to(state.since_best);
    json.at("adam_steps").get_to(adam.steps);
    for (const auto& r : json.at("rows"))
      state.rows.push_back({r.at(0), r.at(1), r.at(2), r.at(3), r.at(4), r.at(5), r.at(6), r.at(7),
                            r.at(8), r.at(9), r.at(10), r.at(11)});
  } catch (const nlohmann::json::exception&) {
    throw Error(fmt::format("{}: its state is malformed; start without --resume", path.string()));
  }
  if (state.fingerprint != fingerprint)
    throw Error(
        fmt::format("{}: was written for other data; use the same file, or start without "
                    "--resume",
                    path.string()));
  state.best.resize(model.params.size());
  restore(file, "adam.m", adam.m);
  restore(file, "adam.v", adam.v);
  restore(file, "best", state.best);
  model.params = stored.params;
  return state;
}

void write_metrics(const std::vector<EpochRow>& rows, const std::filesystem::path& path) {
  AtomicFile out(path);
  out.write(
      "epoch,learning_rate,nll,kl,evidence,loss,validation_nll,validation_mse,best,"
      "cross_entropy,validation_cross_entropy,validation_accuracy\n");
  for (const EpochRow& r : rows)
    out.write(fmt::format("{},{},{},{},{},{},{},{},{},{},{},{}\n", r.epoch, r.learning_rate, r.nll,
                          r.kl, r.evidence, r.loss, r.validation_nll, r.validation_mse,
                          r.best ? 1 : 0, r.cross_entropy, r.validation_cross_entropy,
                          r.validation_accuracy));
  out.commit();
}

}  // namespace edict

#include "learn/checkpoint.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <map>
#include <span>
#include <utility>

#include "base/error.h"
#include "base/files/atomic_file.h"
#include "base/files/read_file.h"
#include "base/hash.h"
#include "base/json/json.h"
#include "base/json/json_text.h"
#include "learn/schedule.h"

namespace edict {
namespace {

// The metadata that a checkpoint has beyond a model's.
constexpr const char *kState = "checkpoint", *kChecksum = "checksum";

std::string start_anew() { return "start without " + option("resume"); }

NamedTensor flat(const char* name, const Vector<float>& values) {
  return {name, {values.size()}, {values.data(), values.data() + values.size()}};
}

// What is wrong with a file that can be read; load_checkpoint adds which one and what to do.
struct Unusable {
  std::string why;
  std::string instead = {};  // of starting anew
};

void restore(const TensorFile& file, const char* name, Vector<float>& values) {
  for (const NamedTensor& stored : file.tensors) {
    if (stored.name != name) continue;
    if (static_cast<Index>(stored.values.size()) != values.size())
      throw Unusable{fmt::format("its '{}' has the wrong size", name)};
    std::copy(stored.values.begin(), stored.values.end(), values.data());
    if (!values.allFinite())
      throw Unusable{fmt::format("its '{}' holds a number that is not finite", name)};
    return;
  }
  throw Unusable{fmt::format("its '{}' is missing", name)};
}

std::int64_t whole(const nlohmann::json& value) {
  if (!value.is_number_integer()) throw Unusable{"its state is malformed"};
  return value.get<std::int64_t>();
}

nlohmann::json to_json(const EpochRow& r) {
  return {r.epoch,
          r.learning_rate,
          r.nll,
          r.kl,
          r.evidence,
          r.loss,
          r.validation_nll,
          r.validation_mse,
          r.best,
          r.cross_entropy,
          r.validation_cross_entropy,
          r.validation_accuracy,
          r.validation_crps};
}

EpochRow row_from_json(const nlohmann::json& r) {
  if (r.size() != 13) throw Unusable{"its state is malformed"};
  return {whole(r.at(0)), r.at(1), r.at(2), r.at(3),  r.at(4),  r.at(5), r.at(6),
          r.at(7),        r.at(8), r.at(9), r.at(10), r.at(11), r.at(12)};
}

// Everything but the tensors. A run writes one row an epoch, counts from the best of them, and the
// first is always the best so far; where training went on from a trained model, that is row 0.
Checkpoint state_from_json(const nlohmann::json& json, Adam& adam) {
  Checkpoint state;
  if (!json.at("fingerprint").is_number_unsigned()) throw Unusable{"its state is malformed"};
  json.at("fingerprint").get_to(state.fingerprint);
  state.epochs_done = whole(json.at("epochs_done"));
  state.since_best = whole(json.at("since_best"));
  adam.steps = whole(json.at("adam_steps"));
  state.rate_factor = json.at("rate_factor");
  state.skipped_batches = whole(json.at("skipped_batches"));
  std::int64_t since_best = 0;
  for (const auto& r : json.at("rows")) {
    state.rows.push_back(row_from_json(r));
    since_best = state.rows.back().best ? 0 : since_best + 1;
    const std::int64_t first = state.rows.front().epoch == 0 ? 0 : 1;
    if (state.rows.back().epoch != first + static_cast<std::int64_t>(state.rows.size()) - 1)
      throw Unusable{"its epochs are not in order"};
  }
  if (state.rows.empty() || !state.rows.front().best || state.since_best != since_best ||
      state.epochs_done != state.rows.back().epoch || adam.steps < 0 ||
      !(state.rate_factor > 0 && state.rate_factor <= 1) || state.skipped_batches < 0)
    throw Unusable{"its state contradicts itself"};
  return state;
}

// The settings must be those of the run that is to be continued, but for what it may change.
void check_settings(const Config& stored, const Config& asked) {
  nlohmann::json before = to_json(stored), now = to_json(asked);
  if (!depends_on_epochs(asked.train)) {
    before["train"].erase("epochs");
    now["train"].erase("epochs");
  } else if (stored.train.epochs != asked.train.epochs && depends_on_epochs(stored.train)) {
    throw Unusable{
        fmt::format("its learning rate was laid out over {} epochs (train.schedule = {}, "
                    "train.warmup = {}) and would jump",
                    stored.train.epochs, settings::name_of(asked.train.schedule),
                    asked.train.warmup),
        "keep train.epochs"};
  }
  for (const auto& difference : nlohmann::json::diff(before, now)) {
    std::string key = difference.at("path").get<std::string>().substr(1);
    std::replace(key.begin(), key.end(), '/', '.');
    throw Unusable{fmt::format("it was written with another {}", key), "use the same settings"};
  }
}

Checkpoint read_checkpoint(const std::filesystem::path& path, std::uint64_t fingerprint,
                           Model& model, Adam& adam) {
  const TensorFile file = read_tensors(path, start_anew().c_str());
  const auto found = file.metadata.find(kState);
  if (found == file.metadata.end()) throw Unusable{"it is a model and no checkpoint"};
  const auto sum = file.metadata.find(kChecksum);
  if (sum == file.metadata.end()) throw Unusable{"it was written by another version of edict"};
  if (sum->second != checkpoint_checksum(file))
    throw Unusable{"it was changed since it was written"};
  Vector<float> params;
  try {
    Model stored = from_tensors(file, path);
    check_settings(stored.config, model.config);
    params = std::move(stored.first().params);
  } catch (const Error& e) {
    throw Error(e.code(), {.problem = e.message(option), .remedy = start_anew()});
  }
  Checkpoint state;
  try {
    state = state_from_json(parse_json(found->second), adam);
  } catch (const nlohmann::json::exception&) {
    throw Unusable{"its state is malformed"};
  }
  if (state.fingerprint != fingerprint)
    throw Unusable{"it was written for other data", "use the same file"};
  state.best.resize(model.first().params.size());
  restore(file, "adam.m", adam.m);
  restore(file, "adam.v", adam.v);
  restore(file, "best", state.best);
  if (model.config.train.average) {
    state.average.resize(model.first().params.size());
    restore(file, "average", state.average);
  }
  // The same settings on the same data: the same layout. Anything else is a file put together.
  if (params.size() != model.first().params.size())
    throw Unusable{"its parameters have the wrong size"};
  model.first().params = std::move(params);
  return state;
}

}  // namespace

std::string checkpoint_checksum(const TensorFile& file) {
  Hash hash;
  for (const auto& [name, text] : file.metadata)
    if (name != kChecksum) hash.text(name).text(text);
  std::map<std::string_view, const NamedTensor*> tensors;  // a file need not keep their order
  for (const NamedTensor& tensor : file.tensors) tensors[tensor.name] = &tensor;
  for (const auto& [name, tensor] : tensors)
    hash.text(name)
        .numbers(std::span(std::as_const(tensor->shape)))
        .numbers(std::span(std::as_const(tensor->values)));
  return hash.hex();
}

void save_checkpoint(const Checkpoint& state, const Model& model, const Adam& adam,
                     const std::filesystem::path& path) {
  TensorFile file = to_tensors(model);
  file.tensors.push_back(flat("adam.m", adam.m));
  file.tensors.push_back(flat("adam.v", adam.v));
  file.tensors.push_back(flat("best", state.best));
  if (state.average.size() > 0) file.tensors.push_back(flat("average", state.average));
  nlohmann::json rows = nlohmann::json::array();
  for (const EpochRow& row : state.rows) rows.push_back(to_json(row));
  file.metadata[kState] = json_text({{"fingerprint", state.fingerprint},
                                     {"epochs_done", state.epochs_done},
                                     {"since_best", state.since_best},
                                     {"adam_steps", adam.steps},
                                     {"rate_factor", state.rate_factor},
                                     {"skipped_batches", state.skipped_batches},
                                     {"rows", rows}});
  file.metadata[kChecksum] = checkpoint_checksum(file);
  write_tensors(file, path);
}

Checkpoint load_checkpoint(const std::filesystem::path& path, std::uint64_t fingerprint,
                           Model& model, Adam& adam) {
  try {
    return read_checkpoint(path, fingerprint, model, adam);
  } catch (const Unusable& unusable) {
    throw Error(
        ErrorCode::mismatch,
        {.subject = path.string(),
         .problem = "cannot be resumed from: " + unusable.why,
         .remedy = (unusable.instead.empty() ? "" : unusable.instead + ", or ") + start_anew()});
  }
}

namespace {

constexpr std::string_view kMetricsHeader =
    "epoch,learning_rate,nll,kl,evidence,loss,validation_nll,validation_mse,best,"
    "cross_entropy,validation_cross_entropy,validation_accuracy,validation_crps\n";

}  // namespace

void write_metrics(const std::vector<EpochRow>& rows, const std::filesystem::path& path) {
  AtomicFile out(path);
  out.write(kMetricsHeader);
  for (const EpochRow& r : rows)
    out.write(fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{}\n", r.epoch, r.learning_rate,
                          r.nll, r.kl, r.evidence, r.loss, r.validation_nll, r.validation_mse,
                          r.best ? 1 : 0, r.cross_entropy, r.validation_cross_entropy,
                          r.validation_accuracy, r.validation_crps));
  out.commit();
}

std::vector<EpochRow> read_metrics(const std::filesystem::path& path) {
  const auto refuse = [&] {
    return Error(
        fmt::format("{}: is not the metrics file of a training run; remove it", path.string()));
  };
  const std::string text = read_file(path);
  if (!text.starts_with(kMetricsHeader)) throw refuse();
  std::vector<EpochRow> rows;
  const char *at = text.data() + kMetricsHeader.size(), *const end = text.data() + text.size();
  while (at != end) {
    EpochRow r;
    double epoch = 0, best = 0;
    double* const cells[] = {&epoch,
                             &r.learning_rate,
                             &r.nll,
                             &r.kl,
                             &r.evidence,
                             &r.loss,
                             &r.validation_nll,
                             &r.validation_mse,
                             &best,
                             &r.cross_entropy,
                             &r.validation_cross_entropy,
                             &r.validation_accuracy,
                             &r.validation_crps};
    for (double* const cell : cells) {
      const auto [next, error] = std::from_chars(at, end, *cell);
      const char expected = cell == cells[std::size(cells) - 1] ? '\n' : ',';
      if (error != std::errc() || next == end || *next != expected) throw refuse();
      at = next + 1;
    }
    if (epoch != std::floor(epoch) || std::abs(epoch) > 1e15) throw refuse();  // NaN too
    r.epoch = static_cast<std::int64_t>(epoch);
    r.best = best != 0;
    rows.push_back(r);
  }
  return rows;
}

}  // namespace edict

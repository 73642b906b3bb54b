#include "edict/train/ensemble_training.h"

#include <fmt/core.h>

#include <algorithm>

#include "edict/core/error.h"
#include "edict/train/recalibrate.h"

namespace edict {

std::filesystem::path members_path(const std::filesystem::path& out) {
  return out.string() + ".members";
}

const EpochRow& best_epoch(const TrainResult& result) {
  const auto best = std::find_if(result.rows.rbegin(), result.rows.rend(),
                                 [](const EpochRow& row) { return row.best; });
  if (best == result.rows.rend()) throw Error("a run without an epoch has no best one");
  return *best;
}

EnsembleResult train_ensemble(const std::function<Model(std::int64_t seed)>& fresh,
                              std::int64_t seed, const Dataset& data, const Split& split,
                              ThreadPool& pool, const EnsembleOptions& options) {
  const auto count = static_cast<std::int64_t>(options.members);
  if (count < 1) throw Error("an ensemble needs at least one member");
  if (static_cast<double>(seed) > settings::kMaxSeed - static_cast<double>(count - 1))
    throw Error(fmt::format("train.seed = {} leaves no seeds for {} members; give a smaller one",
                            seed, count));
  const std::filesystem::path out = options.training.out;
  const bool one = count == 1;
  if (!one && !out.empty()) std::filesystem::create_directories(members_path(out));
  EnsembleResult result;
  std::vector<Model> members;
  for (std::int64_t m = 0; m < count; ++m) {
    if (options.on_member) options.on_member(static_cast<std::size_t>(m));
    TrainOptions own = options.training;
    if (!one && !out.empty()) own.out = members_path(out) / fmt::format("{}.model", m + 1);
    Model& model = members.emplace_back(fresh(seed + m));
    result.members.push_back(train(model, data, split, pool, own));
    result.interrupted = result.members.back().interrupted;
    if (result.interrupted) return result;
  }
  result.model = ensemble(std::move(members));
  if (one) return result;
  if (result.model.config.train.recalibrate) {
    try {
      const TrainingSet set = distribution_training_set(result.model, data, split);
      recalibrate(result.model, set.validation, pool, options.training.stop);
    } catch (const Interrupted&) {
      result.interrupted = true;
      return result;
    }
  }
  if (!out.empty()) save_model(result.model, out);
  return result;
}

}  // namespace edict

#include "learn/ensemble_training.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>

#include "base/error.h"
#include "base/files/atomic_file.h"
#include "base/files/claims.h"
#include "learn/posthoc/calibrate.h"

namespace edict {

std::filesystem::path members_path(const std::filesystem::path& out) {
  return out.string() + ".members";
}

std::filesystem::path member_path(const std::filesystem::path& out, std::size_t member) {
  return members_path(out) / fmt::format("{}.model", member + 1);
}

const EpochRow& best_epoch(std::span<const EpochRow> rows) {
  const auto best =
      std::find_if(rows.rbegin(), rows.rend(), [](const EpochRow& row) { return row.best; });
  if (best == rows.rend()) throw Error("a run without an epoch has no best one");
  return *best;
}

namespace {

// The members that nobody else trains, until all are trained.
void train_claimed(const std::function<Model(std::int64_t seed)>& fresh, std::int64_t seed,
                   const Dataset& data, const Split& split, ThreadPool& pool,
                   const EnsembleOptions& options) {
  const std::filesystem::path out = options.training.out, folder = members_path(out) / "claims";
  if (out.empty() || options.members < 2)
    throw Error(ErrorCode::invalid,
                {.subject = option("claim"),
                 .problem = "claims are for the members of an ensemble that is kept",
                 .remedy = "give " + option("members") + " and " + option("out")});
  const auto marker = [&](std::size_t m) { return folder / fmt::format("{}.done", m + 1); };
  work_through(
      Claims(folder), options.members, [](std::size_t m) { return fmt::format("{}", m + 1); },
      [&](std::size_t m) { return std::filesystem::exists(marker(m)); },
      [&](std::size_t m) {
        if (options.on_member) options.on_member(m);
        TrainOptions own = options.training;
        own.out = member_path(out, m);
        own.resume = true;
        Model model = fresh(seed + static_cast<std::int64_t>(m));
        if (train(model, data, split, pool, own).interrupted) throw Interrupted();
        write_atomically(marker(m), "");
      },
      options.training.stop);
}

}  // namespace

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
  if (!one && !out.empty()) make_folder(members_path(out));
  EnsembleResult result;
  if (options.claim) {
    try {
      train_claimed(fresh, seed, data, split, pool, options);
    } catch (const Interrupted&) {
      result.interrupted = true;
      return result;
    }
  }
  std::vector<Model> members;
  for (std::int64_t m = 0; m < count; ++m) {
    if (options.on_member) options.on_member(static_cast<std::size_t>(m));
    TrainOptions own = options.training;
    own.resume |= options.claim;  // what was trained above, by whomever
    if (!one && !out.empty()) own.out = member_path(out, static_cast<std::size_t>(m));
    if (own.deadline && !one) {
      const auto now = std::chrono::steady_clock::now();
      own.deadline = now + (*own.deadline - now) / (count - m);
    }
    Model& model = members.emplace_back(fresh(seed + m));
    result.members.push_back(train(model, data, split, pool, own));
    if (!one && !result.members.back().interrupted && result.members.back().rows.empty())
      throw Error(
          fmt::format("the time was over before the first epoch of member {} of {}; give more "
                      "time or fewer members",
                      m + 1, count));
    result.interrupted = result.members.back().interrupted;
    if (result.interrupted) return result;
  }
  result.model = ensemble(std::move(members));
  if (one) return result;
  if (result.model.network->has_distribution()) {
    try {
      calibrate_trained(result.model, data, split.validation, pool, options.training.stop);
    } catch (const Interrupted&) {
      result.interrupted = true;
      return result;
    }
  }
  if (!out.empty()) save_model(result.model, out);
  return result;
}

EnsembleResult train_ensemble(const Config& config, const Dataset& data, const Split& split,
                              ThreadPool& pool, const EnsembleOptions& options) {
  const auto fresh = [&](std::int64_t seed) {
    Config own = config;
    own.train.seed = seed;
    return Model::create(own, data, split);
  };
  return train_ensemble(fresh, config.train.seed, data, split, pool, options);
}

}  // namespace edict

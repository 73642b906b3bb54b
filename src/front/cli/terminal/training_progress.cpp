#include "front/cli/terminal/training_progress.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "front/cli/terminal/score_tables.h"
#include "model/registry.h"

namespace edict::cli {

namespace {

// Only where the epoch is chosen by it.
std::string crps_of(const EpochRow& row) {
  return row.validation_crps > 0 ? fmt::format(", crps {}", decimals(row.validation_crps, 4)) : "";
}

}  // namespace

std::string validation_scores(const EpochRow& row, bool classes_only) {
  if (classes_only)
    return fmt::format("cross-entropy {:.4f}, accuracy {:.4f}", row.validation_cross_entropy,
                       row.validation_accuracy);
  return fmt::format("nll {}, mse {}{}", decimals(row.validation_nll, 4),
                     decimals(row.validation_mse, 5), crps_of(row));
}

bool only_classifies(const Config& config) {
  return !model_kind(config.model.kind).has_distribution;
}

TrainingProgress::TrainingProgress(Progress& progress, const Config& config, std::size_t runs,
                                   std::vector<std::string> header)
    : progress_(progress),
      epochs_(config.train.epochs),
      classes_only_(only_classifies(config)),
      runs_(runs),
      header_(std::move(header)) {}

void TrainingProgress::follow(app::TrainingProgress& training) {
  training.on_start = [this](std::int64_t epochs_done) { start(epochs_done); };
  training.on_batch = [this](std::int64_t number, std::int64_t at, std::int64_t batches,
                             const LossSums& sums) { batch(number, at, batches, sums); };
  training.on_epoch = [this](const EpochRow& row) { epoch(row); };
}

void TrainingProgress::next(std::string name) {
  ++run_;
  name_ = std::move(name) + ": ";
  validation_.clear();
}

void TrainingProgress::start(std::int64_t epochs_done) {
  for (const std::string& line : std::exchange(header_, {})) progress_.line(line);
  if (epochs_done > 0)
    progress_.line(fmt::format("{}continued after epoch {}", name_, epochs_done));
  const auto before = static_cast<double>(run_ > 0 ? run_ - 1 : 0);
  const double share = static_cast<double>(epochs_done) / static_cast<double>(epochs_);
  if (epochs_done < epochs_)
    progress_.begin(fmt::format("{}epoch {}", name_, epochs_done + 1),
                    (before + share) / static_cast<double>(runs_));
}

void TrainingProgress::batch(std::int64_t epoch, std::int64_t batch, std::int64_t batches,
                             const LossSums& sums) {
  const double n = std::max(1.0, sums.observations);
  const std::string losses =
      classes_only_
          ? fmt::format("cross-entropy {:.4f}", sums.classification / std::max(1.0, sums.series))
          : fmt::format("nll {:.3f}  kl {:.3f}  evidence {:.3f}", sums.nll / n, sums.kl / n,
                        sums.evidence / n);
  const double share =
      (static_cast<double>(epoch - 1) + static_cast<double>(batch) / static_cast<double>(batches)) /
      static_cast<double>(epochs_);
  const auto before = static_cast<double>(run_ > 0 ? run_ - 1 : 0);
  progress_.update((before + share) / static_cast<double>(runs_),
                   fmt::format("{}epoch {}  {}{}", name_, epoch, losses, validation_));
}

void TrainingProgress::epoch(const EpochRow& row) {
  if (classes_only_) {
    validation_ = fmt::format("  | validation {}", validation_scores(row, true));
    progress_.line(fmt::format("{}epoch {:3}  cross-entropy {:.4f}  | validation {}{}", name_,
                               row.epoch, row.cross_entropy, validation_scores(row, true),
                               row.best ? "  best" : ""));
    return;
  }
  validation_ = fmt::format("  | validation nll {}  mse {}", decimals(row.validation_nll, 3),
                            decimals(row.validation_mse, 4));
  if (row.epoch == 0) {  // of the model that training starts from
    progress_.line(fmt::format("{}before: validation {}", name_, validation_scores(row, false)));
    return;
  }
  const std::string judged =
      fmt::format("  | validation nll {:>7}, mse {}{}{}", decimals(row.validation_nll, 4),
                  decimals(row.validation_mse, 4), crps_of(row), row.best ? " best" : "");
  const std::string learnt = fmt::format("{}epoch {:3}  nll {:8.4f}", name_, row.epoch, row.nll);
  const std::string whole =
      fmt::format("{}  kl {:7.4f}  evidence {:7.3f}{}", learnt, row.kl, row.evidence, judged);
  progress_.line(progress_.too_wide(whole.size()) ? learnt + judged : whole);
}

}  // namespace edict::cli

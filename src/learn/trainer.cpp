#include "learn/trainer.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/not_finite.h"
#include "base/threads/interrupted.h"
#include "base/threads/share_chunks.h"
#include "data/fingerprint.h"
#include "learn/batches.h"
#include "learn/checkpoint.h"
#include "learn/gradient_sum.h"
#include "learn/posthoc/calibrate.h"
#include "learn/schedule.h"
#include "learn/validation.h"

namespace edict {
namespace {

// Thrown in the middle of an epoch that the deadline ends.
struct OutOfTime {};

// Thrown where an epoch cannot go on: it is begun again with a lower rate.
struct Diverged {};

// Of the batches of an epoch, how many in a row may be without a finite gradient, and how often an
// epoch is begun again before the run is given up.
constexpr int kMostBadBatches = 4, kMostRestarts = 12;
constexpr double kLowerRate = 0.5;  // after each of them

// The mean of the weights (train.average) reaches back over a share of the steps so far, whatever
// their number: (1 − 1/t)^(γ+1) is what is kept of it at step t (Karras et al. 2024, "Analyzing and
// improving the training dynamics of diffusion models", power-function averages; γ = 7 is about a
// tenth of the run).
constexpr double kAveragePower = 8.0;

// Runs when the scope is left, whichever way.
template <class F>
class OnLeaving {
 public:
  explicit OnLeaving(F run) : run_(std::move(run)) {}
  ~OnLeaving() { run_(); }
  OnLeaving(const OnLeaving&) = delete;
  OnLeaving& operator=(const OnLeaving&) = delete;

 private:
  F run_;
};

class Trainer {
 public:
  Trainer(Model& model, const TrainingSet& set, const TrainSettings& settings,
          std::uint64_t data_fingerprint, ThreadPool& pool, const TrainOptions& options)
      : model_(model),
        set_(set),
        settings_(settings),
        pool_(pool),
        options_(options),
        gradient_(*model.network, static_cast<std::size_t>(settings.chunk), pool),
        batches_(model, set, settings_, pool),
        adam_(model.first().params.size()) {
    for (const std::int32_t label : set.train_labels) labelled_ += label != Dataset::kNone;
    state_.fingerprint = data_fingerprint;
    state_.best = model.first().params;
    if (settings.average) state_.average = model.first().params;
    batches_a_run_ = settings_.epochs * batches_.count();
  }

  TrainResult run() {
    TrainResult result;
    const bool begun = !options_.out.empty() && options_.resume &&
                       std::filesystem::exists(checkpoint_path(options_.out));
    if (begun) {
      state_ = load_checkpoint(checkpoint_path(options_.out), state_.fingerprint, model_, adam_);
      result.resumed_from = state_.epochs_done;
    }
    if (options_.on_start) options_.on_start(result.resumed_from);
    try {
      result.stopped_early = run_epochs();
    } catch (const OutOfTime&) {
      result.out_of_time = true;
      if (state_.rows.empty() && adam_.steps > 0) finish_early();
    } catch (const Diverged&) {
      if (!options_.out.empty() && !begun)
        for (const auto& file :
             {options_.out, checkpoint_path(options_.out), metrics_path(options_.out)})
          std::filesystem::remove(file);
      const std::string where = gradient_.failure();
      throw MachineError(fmt::format(
          "training failed: numbers were not finite at any learning rate down to {:.2g} ({}); this "
          "should not happen: please report it",
          state_.rate_factor * settings_.learning_rate,
          where.empty() ? "in a batch that begins with series " + batches_.first_series() : where));
    } catch (const Interrupted&) {
      // The epoch that was left half-way is forgotten: the state, the checkpoint and the model file
      // are those of the last complete one, and a resumed run begins that epoch again.
      result.interrupted = true;
    }
    model_.first().params = state_.best;
    result.rows = state_.rows;
    result.skipped_batches = state_.skipped_batches;
    result.validated = judged_;
    // It may have been killed after the checkpoint and before these were written, or the files may
    // have been moved away since.
    if (begun) {
      write_metrics(state_.rows, metrics_path(options_.out));
      save_model(model_, options_.out);
    }
    return result;
  }

 private:
  // Whether it ended because validation no longer improved. Throws Interrupted and OutOfTime.
  bool run_epochs() {
    if ((set_.start_counts || options_.start_counts) && state_.rows.empty()) {
      EpochRow start;
      validate(start);
      finish(start);
    }
    std::chrono::duration<double> longest{0};
    while (state_.epochs_done < settings_.epochs) {
      if (settings_.patience > 0 && state_.since_best >= settings_.patience) return true;
      const auto begin = std::chrono::steady_clock::now();
      if (options_.deadline && begin + longest > *options_.deadline) throw OutOfTime();
      EpochRow row = stable_epoch(state_.epochs_done);
      ++state_.epochs_done;
      state_.since_best = row.best ? 0 : state_.since_best + 1;
      finish(row);
      longest = std::max<std::chrono::duration<double>>(longest,
                                                        std::chrono::steady_clock::now() - begin);
    }
    return false;
  }

  // The time is over before the first epoch is: what it has come to is better than nothing.
  void finish_early() {
    EpochRow row;
    row.epoch = ++state_.epochs_done;
    validate(row);
    finish(row);
  }

  // Remembers an epoch, on disk too, and tells of it.
  void finish(const EpochRow& row) {
    state_.rows.push_back(row);
    if (row.best) state_.best = kept_params();
    if (!options_.out.empty()) {
      // The checkpoint comes first: where there is a model there is a checkpoint it can be
      // continued from. A run that is killed after it writes the others when it is resumed.
      save_checkpoint(state_, model_, adam_, checkpoint_path(options_.out));
      write_metrics(state_.rows, metrics_path(options_.out));
      if (row.best) {
        std::swap(model_.first().params, state_.best);
        save_model(model_, options_.out);
        std::swap(model_.first().params, state_.best);
      }
    }
    if (options_.on_epoch) options_.on_epoch(row);
  }

  const Vector<float>& kept_params() const {
    return settings_.average ? state_.average : model_.first().params;
  }

  // An epoch and its validation. Where it comes to numbers that are not finite it is begun again at
  // a lower rate, which then stays.
  EpochRow stable_epoch(std::int64_t number) {
    const Vector<float> params = model_.first().params, average = state_.average;
    const Adam adam = adam_;
    for (int restarts = 0;; ++restarts) {
      try {
        EpochRow row = epoch(number);
        validate(row);
        return row;
      } catch (const Diverged&) {
        if (restarts == kMostRestarts) throw;
      } catch (const NotFinite&) {  // while it was validated
        if (restarts == kMostRestarts) throw Diverged();
      }
      model_.first().params = params;
      state_.average = average;
      adam_ = adam;
      state_.rate_factor *= kLowerRate;
    }
  }

  // One pass over the training series.
  EpochRow epoch(std::int64_t number) {
    batches_.begin(number, options_.stop);
    const std::int64_t batches = batches_.count();
    LossSums total;
    EpochRow row;
    row.epoch = number + 1;
    int bad_in_a_row = 0;
    for (std::int64_t batch = 0; batch < batches; ++batch) {
      leave_if_stopped(options_.stop);
      if (options_.deadline && std::chrono::steady_clock::now() > *options_.deadline)
        throw OutOfTime();
      const std::int64_t step = number * batches + batch;
      row.learning_rate =
          state_.rate_factor *
          learning_rate(settings_, std::min(step, batches_a_run_ - 1), batches_a_run_);
      const LossSums sums = learn(batches_.write(batch));
      // Adam would spread a single NaN over its moments, from which no later batch recovers.
      if (!grads_.allFinite()) {
        ++state_.skipped_batches;
        state_.rate_factor *= kLowerRate;
        if (++bad_in_a_row == std::min<std::int64_t>(kMostBadBatches, batches)) throw Diverged();
        continue;
      }
      bad_in_a_row = 0;
      total += sums;
      clip_gradient(settings_.clip, settings_.clip_norm, grads_);
      adam_.step(grads_, row.learning_rate, settings_.weight_decay, model_.first().params);
      if (settings_.average) add_to_average();
      if (options_.on_batch) options_.on_batch(row.epoch, batch + 1, batches, total);
    }
    add_means(total, row);
    return row;
  }

  void add_to_average() {
    const double t = static_cast<double>(adam_.steps);
    const auto kept = static_cast<float>(std::pow(1.0 - 1.0 / t, kAveragePower));
    state_.average = kept * state_.average + (1.0f - kept) * model_.first().params;
  }

  // The means of the epoch, each of the parameters that its batch met: what the metrics show is a
  // little behind the model that the epoch ends with.
  void add_means(const LossSums& total, EpochRow& row) const {
    const double n = std::max(1.0, total.observations);
    row.nll = total.nll / n;
    row.kl = total.kl / n;
    row.evidence = total.evidence / n;
    row.cross_entropy = total.classification / std::max(1.0, labelled_);
    row.loss =
        set_.evidential * (row.nll + model_.config.loss.kl * row.kl +
                           model_.config.loss.evidence * row.evidence) +
        set_.classification * (row.cross_entropy + total.reconstruction / std::max(1.0, labelled_));
  }

  // The gradient of one batch into grads_.
  LossSums learn(const Batch& batch) {
    // The loss is a mean over the batch's observations, not over its series: a long series counts
    // for as much as it says. `scale` multiplies all three evidential terms.
    LossWeights weights{set_.evidential / std::max(1.0, batch.observations), 0.0, 0.0,
                        set_.classification / std::max(1.0, batch.labelled), options_.stop};
    if (set_.evidential > 0) {
      weights.kl = model_.config.loss.kl;
      weights.evidence = model_.config.loss.evidence;
    }
    return gradient_.batch(model_.first().params, batch.examples, weights, grads_);
  }

  void validate(EpochRow& row) {
    leave_if_stopped(options_.stop);
    if (settings_.average) std::swap(model_.first().params, state_.average);
    const OnLeaving back([&] {
      if (settings_.average) std::swap(model_.first().params, state_.average);
    });
    const Validation found = edict::validate(model_, set_, pool_, options_.stop);
    row.validation_nll = found.nll;
    row.validation_mse = found.mse;
    row.validation_crps = found.crps;
    row.validation_cross_entropy = found.cross_entropy;
    row.validation_accuracy = found.accuracy;
    judged_ = found.judged;
    // Against every earlier row and not only the best: equals keep the earlier parameters. Where
    // nothing is judged, nothing but the number of epochs tells when to stop.
    row.best = !judged_ ||
               std::all_of(state_.rows.begin(), state_.rows.end(), [&](const EpochRow& earlier) {
                 return criterion(row) < criterion(earlier);
               });
  }

  double criterion(const EpochRow& row) const {
    return set_.criterion == Criterion::nll    ? row.validation_nll
           : set_.criterion == Criterion::crps ? row.validation_crps
                                               : row.validation_cross_entropy;
  }

  Model& model_;
  const TrainingSet& set_;
  const TrainSettings settings_;
  ThreadPool& pool_;
  const TrainOptions& options_;
  GradientSum gradient_;
  Batches batches_;
  Adam adam_;
  Checkpoint state_;  // after the last complete epoch, but for the parameters and Adam
  Vector<float> grads_;
  std::int64_t batches_a_run_ = 0;
  bool judged_ = true;   // there was something to validate by
  double labelled_ = 0;  // training series with a label
};

// Trains the backward network of a model: from its own backward parameters where it was given some,
// else anew.
TrainResult train_backward(Model& model, const TrainingSet& set, std::uint64_t data_fingerprint,
                           ThreadPool& pool, const TrainOptions& options) {
  if (options.on_backward) options.on_backward();
  Model backward = model.member(0);
  backward.first().backward = {};
  backward.first().params = model.has_backward()
                                ? model.first().backward
                                : backward.network->layout().initial<float>(
                                      static_cast<std::uint64_t>(model.config.train.seed));
  TrainOptions own = options;
  own.start_counts &= model.has_backward();
  if (!own.out.empty()) own.out = backward_path(own.out);
  TrainResult result =
      Trainer(backward, reversed_training_set(set), model.config.train, data_fingerprint, pool, own)
          .run();
  if (result.rows.empty() && !result.interrupted)
    throw Error(
        "the time was over before the first epoch of the network that reads series from their "
        "end; give more time, or leave train.smooth out");
  model.first().backward = std::move(backward.first().params);
  return result;
}

}  // namespace

std::filesystem::path checkpoint_path(const std::filesystem::path& out) {
  return out.string() + ".checkpoint";
}

std::filesystem::path metrics_path(const std::filesystem::path& out) {
  return out.string() + ".metrics.csv";
}

std::filesystem::path backward_path(const std::filesystem::path& out) {
  return out.string() + ".backward";
}

TrainResult train(Model& model, const Dataset& data, const Split& split, ThreadPool& pool,
                  const TrainOptions& options) {
  check_trainable(split, model.config.data);
  const TrainSettings& settings = model.config.train;
  const bool adjusted = settings.calibrate || settings.smooth;
  if (adjusted && !model.network->has_distribution()) {
    const char* const what = settings.calibrate ? "calibrate" : "smooth";
    throw Error(fmt::format("train.{}: {} has no distribution to {}; leave it out", what,
                            model.config.model.kind, what));
  }
  model.calibration = {};  // of the distributions before
  model.fusion = {};
  const TrainingSet set = model.network->has_distribution()
                              ? distribution_training_set(model, data, split)
                              : class_training_set(model, data, split);
  const std::uint64_t own = options.out.empty() ? 0 : fingerprint(data);
  if (Ranks* const ranks = pool.ranks()) check_alike(*ranks, own, "the data");
  TrainOptions forward = options;
  if (options.deadline && settings.smooth) {  // half of the time is the backward network's
    const auto now = std::chrono::steady_clock::now();
    forward.deadline = now + (*options.deadline - now) / 2;
  }
  TrainResult result = Trainer(model, set, model.config.train, own, pool, forward).run();
  if (!settings.smooth) model.first().backward = {};  // it belonged to the network before
  if (adjusted && !result.interrupted && !result.rows.empty()) {
    // Interrupted here, the model file stays as the last epoch left it; a resumed run finds no
    // epoch left to train and ends with this step.
    try {
      if (settings.smooth) {
        TrainResult backward = train_backward(model, set, own, pool, options);
        result.backward_rows = std::move(backward.rows);
        result.out_of_time |= backward.out_of_time;
        if (backward.interrupted) throw Interrupted();
      }
      calibrate_trained(model, data, split.validation, pool, options.stop);
      if (!options.out.empty()) save_model(model, options.out);
    } catch (const Interrupted&) {
      result.interrupted = true;
    }
  }
  return result;
}

TrainResult train(Model& model, const TrainingSet& set, const TrainSettings& settings,
                  ThreadPool& pool, const TrainOptions& options) {
  return Trainer(model, set, settings, 0, pool, options).run();
}

}  // namespace edict

#include "learn/trainer.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "base/generator.h"
#include "base/not_finite.h"
#include "base/threads/interrupted.h"
#include "base/threads/share_chunks.h"
#include "data/fingerprint.h"
#include "learn/checkpoint.h"
#include "learn/gradient_sum.h"
#include "learn/posthoc/calibrate.h"
#include "learn/schedule.h"
#include "model/classifier/state_classifier.h"
#include "model/infer.h"

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

// Solver steps and stops of a series: about what it costs.
double cost(const Model& model, const Timeline<float>& timeline) {
  if (timeline.stops.empty()) return 0;
  const bool stepped = model.config.model.propagator == "gru-ode";
  const double steps = (timeline.stops.back().time - timeline.start) / model.config.model.step;
  return (stepped ? steps : 0.0) + static_cast<double>(timeline.stops.size());
}

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

// A copy without a `share` of the observations, and without the stops that this empties.
void thin(const Timeline<float>& whole, double share, Generator rng, Timeline<float>& result) {
  result = {whole.id, whole.unit, whole.start, {}, {}, {}, whole.covariates};
  for (const auto& stop : whole.stops) {
    result.stop(stop.time, stop.what);
    for (std::uint32_t k = stop.first; k < stop.first + stop.count; ++k)
      if (rng.uniform() >= share) result.observe(whole.feature[k], whole.value[k]);
    if (result.stops.back().count == 0 && stop.count > 0 && !(stop.what & Timeline<float>::kQuery))
      result.stops.pop_back();
  }
}

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
        adam_(model.params.size()) {
    learn_from(set.train);
    for (const std::int32_t label : set.train_labels) labelled_ += label != Dataset::kNone;
    state_.fingerprint = data_fingerprint;
    state_.best = model.params;
    if (settings.average) state_.average = model.params;
    batches_a_run_ = settings_.epochs * batches_;
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
          where.empty() ? "in a batch that begins with series " + written_.front().id : where));
    } catch (const Interrupted&) {
      // The epoch that was left half-way is forgotten: the state, the checkpoint and the model file
      // are those of the last complete one, and a resumed run begins that epoch again.
      result.interrupted = true;
    }
    model_.params = state_.best;
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
        std::swap(model_.params, state_.best);
        save_model(model_, options_.out);
        std::swap(model_.params, state_.best);
      }
    }
    if (options_.on_epoch) options_.on_epoch(row);
  }

  const Vector<float>& kept_params() const {
    return settings_.average ? state_.average : model_.params;
  }

  // The timelines of the epochs from here on.
  void learn_from(const Timelines& timelines) {
    train_ = timelines;
    costs_.resize(train_.size());
    pool_.for_each(costs_.size(),
                   [&](std::size_t i, std::size_t) { costs_[i] = cost(model_, train_[i]); });
    batches_ = (static_cast<std::int64_t>(train_.size()) + settings_.batch - 1) / settings_.batch;
  }

  // An epoch and its validation. Where it comes to numbers that are not finite it is begun again at
  // a lower rate, which then stays.
  EpochRow stable_epoch(std::int64_t number) {
    const Vector<float> params = model_.params, average = state_.average;
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
      model_.params = params;
      state_.average = average;
      adam_ = adam;
      state_.rate_factor *= kLowerRate;
    }
  }

  // One pass over the training series. Everything drawn is keyed by the epoch's number, so that an
  // epoch needs nothing from the ones before it but the parameters and Adam's moments.
  EpochRow epoch(std::int64_t number) {
    if (set_.windows) {
      if (number != cut_for_) learn_from(set_.windows(number));
      cut_for_ = number;
      InferenceOptions options;
      options.stop = options_.stop;
      carried_ = train_.states(model_, pool_, options);
    }
    std::vector<std::size_t> order(train_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    Generator rng(static_cast<std::uint64_t>(settings_.seed), "order",
                  static_cast<std::uint64_t>(number));
    rng.shuffle(std::span(order));

    const auto places_of = [&](std::int64_t batch) {
      const auto first = static_cast<std::size_t>(batch * settings_.batch);
      return std::span(order).subspan(
          first, std::min(static_cast<std::size_t>(settings_.batch), order.size() - first));
    };
    LossSums total;
    EpochRow row;
    row.epoch = number + 1;
    if (batches_ > 0) train_.read_ahead(places_of(0));
    int bad_in_a_row = 0;
    for (std::int64_t batch = 0; batch < batches_; ++batch) {
      leave_if_stopped(options_.stop);
      if (options_.deadline && std::chrono::steady_clock::now() > *options_.deadline)
        throw OutOfTime();
      const std::int64_t step = number * batches_ + batch;
      row.learning_rate =
          state_.rate_factor *
          learning_rate(settings_, std::min(step, batches_a_run_ - 1), batches_a_run_);
      // While this batch is learnt, the disk looks for the next.
      if (batch + 1 < batches_) train_.read_ahead(places_of(batch + 1));
      const LossSums sums = learn(places_of(batch), number);
      // Adam would spread a single NaN over its moments, from which no later batch recovers.
      if (!grads_.allFinite()) {
        ++state_.skipped_batches;
        state_.rate_factor *= kLowerRate;
        if (++bad_in_a_row == std::min<std::int64_t>(kMostBadBatches, batches_)) throw Diverged();
        continue;
      }
      bad_in_a_row = 0;
      total += sums;
      clip_gradient(settings_.clip, settings_.clip_norm, grads_);
      adam_.step(grads_, row.learning_rate, settings_.weight_decay, model_.params);
      if (settings_.average) {
        const double t = static_cast<double>(adam_.steps);
        const auto kept = static_cast<float>(std::pow(1.0 - 1.0 / t, kAveragePower));
        state_.average = kept * state_.average + (1.0f - kept) * model_.params;
      }
      if (options_.on_batch) options_.on_batch(row.epoch, batch + 1, batches_, total);
    }
    // The means of the epoch, each of the parameters that its batch met: what the metrics show is
    // a little behind the model that the epoch ends with.
    const double n = std::max(1.0, total.observations);
    row.nll = total.nll / n;
    row.kl = total.kl / n;
    row.evidence = total.evidence / n;
    row.cross_entropy = total.classification / std::max(1.0, labelled_);
    row.loss =
        set_.evidential * (row.nll + model_.config.loss.kl * row.kl +
                           model_.config.loss.evidence * row.evidence) +
        set_.classification * (row.cross_entropy + total.reconstruction / std::max(1.0, labelled_));
    return row;
  }

  // The gradient of one batch into grads_.
  LossSums learn(std::span<std::size_t> batch, std::int64_t epoch_number) {
    // The dearest first, so that a chunk holds equals: in a chunk all wait for the longest series,
    // and the threads end together when the last chunks are the cheap ones. Equal costs are told
    // apart by index, because the order decides the bits of the sum.
    std::sort(batch.begin(), batch.end(), [&](std::size_t a, std::size_t b) {
      return costs_[a] != costs_[b] ? costs_[a] > costs_[b] : a < b;
    });
    double observations = 0, labelled = 0;
    std::vector<Example> examples;
    // Grown before the loop and never inside of it: the examples point into them.
    written_.resize(std::max(written_.size(), batch.size()));
    thinned_.resize(std::max(thinned_.size(), batch.size()));
    pool_.for_each(batch.size(),
                   [&](std::size_t k, std::size_t) { written_[k] = train_[batch[k]]; });
    for (std::size_t i : batch) {
      const Timeline<float>& whole = written_[examples.size()];
      const Timeline<float>* timeline = &whole;
      if (settings_.thin > 0) {
        Timeline<float>& copy = thinned_[examples.size()];
        thin(*timeline, settings_.thin, draws("thin", i, epoch_number), copy);
        timeline = &copy;
      }
      examples.push_back({timeline, absorb_until(whole, i, epoch_number), label_of(i),
                          draws("dropout", i, epoch_number).bits()});
      if (!carried_.empty() && !carried_[i].empty()) examples.back().state = carried_[i].data();
      observations += static_cast<double>(timeline->feature.size());
      labelled += label_of(i) != Dataset::kNone;
    }
    // The loss is a mean over the batch's observations, not over its series: a long series counts
    // for as much as it says. `scale` multiplies all three evidential terms.
    LossWeights weights{set_.evidential / std::max(1.0, observations), 0.0, 0.0,
                        set_.classification / std::max(1.0, labelled), options_.stop};
    if (set_.evidential > 0) {
      weights.kl = model_.config.loss.kl;
      weights.evidence = model_.config.loss.evidence;
    }
    return gradient_.batch(model_.params, examples, weights, grads_);
  }

  std::int32_t label_of(std::size_t i) const {
    return set_.windows ? Dataset::kNone : set_.train_labels[i];
  }

  // What series i draws in an epoch: a generator of its own, so that neither the batch it falls
  // into nor the thread that asks changes it.
  Generator draws(std::string_view purpose, std::size_t i, std::int64_t epoch_number) const {
    return Generator(static_cast<std::uint64_t>(settings_.seed), purpose,
                     static_cast<std::uint64_t>(epoch_number) * train_.size() + i);
  }

  // With probability train.forecast a series is only forecast after a random moment of this epoch;
  // a class is always told from everything.
  double absorb_until(const Timeline<float>& timeline, std::size_t i,
                      std::int64_t epoch_number) const {
    if (settings_.forecast <= 0 || set_.classification > 0 || timeline.stops.empty())
      return kInfinity;
    Generator rng = draws("forecast", i, epoch_number);
    if (rng.uniform() >= settings_.forecast) return kInfinity;
    return rng.uniform(timeline.start, timeline.stops.back().time);
  }

  void validate(EpochRow& row) {
    leave_if_stopped(options_.stop);
    if (settings_.average) std::swap(model_.params, state_.average);
    const OnLeaving back([&] {
      if (settings_.average) std::swap(model_.params, state_.average);
    });
    LossSums sums;
    Matrix<float> scores(model_.network->classes(), static_cast<Index>(set_.validation.size()));
    const std::size_t block = block_of_series(model_);
    for (std::size_t begin = 0; begin < set_.validation.size(); begin += block) {
      const std::size_t count = std::min(block, set_.validation.size() - begin);
      InferenceOptions stoppable;
      stoppable.stop = options_.stop;
      const std::vector<Timeline<float>> timelines =
          set_.validation.written(model_, begin, count, pool_, stoppable);
      const std::vector<Example> examples = examples_of(timelines);
      if (set_.criterion != Criterion::cross_entropy)
        add_losses(model_, examples, pool_, set_.criterion == Criterion::crps, options_.stop, sums);
      else
        scores.middleCols(static_cast<Index>(begin), static_cast<Index>(count)) =
            infer_classes(model_, examples, pool_);
    }
    if (set_.criterion != Criterion::cross_entropy) {
      const double n = std::max(1.0, sums.observations);
      row.validation_nll = sums.nll / n;
      row.validation_mse = sums.squared_error / n;
      row.validation_crps = sums.crps / n;
      judged_ = sums.observations > 0;
    } else {
      const LabelFit fit = label_fit(scores, set_.validation_labels);
      row.validation_cross_entropy = fit.mean_cross_entropy();
      row.validation_accuracy = fit.accuracy();
    }
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
  Adam adam_;
  Checkpoint state_;          // after the last complete epoch, but for the parameters and Adam
  Timelines train_;           // of the epoch
  std::int64_t cut_for_ = 0;  // the epoch that they were cut for, where series are long
  std::vector<double> costs_;
  std::vector<std::vector<float>> carried_;  // states in which they start, where series are long
  std::vector<Timeline<float>> written_, thinned_;  // of the batch
  Vector<float> grads_;
  std::int64_t batches_ = 0, batches_a_run_ = 0;
  bool judged_ = true;   // there was something to validate by
  double labelled_ = 0;  // training series with a label
};

// Trains the backward network of a model: from its own backward parameters where it was given some,
// else anew.
TrainResult train_backward(Model& model, const TrainingSet& set, std::uint64_t data_fingerprint,
                           ThreadPool& pool, const TrainOptions& options) {
  if (options.on_backward) options.on_backward();
  Model backward = model.member(0);
  backward.backward = {};
  backward.params = model.has_backward() ? model.backward
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
  model.backward = std::move(backward.params);
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
  if (!settings.smooth) model.backward = {};  // it belonged to the network before
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

#include "edict/train/trainer.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "edict/core/error.h"
#include "edict/core/generator.h"
#include "edict/data/fingerprint.h"
#include "edict/model/infer.h"
#include "edict/model/state_classifier.h"
#include "edict/train/checkpoint.h"
#include "edict/train/recalibrate.h"
#include "edict/train/schedule.h"

namespace edict {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
// Solver steps and stops of a series: its cost, by which chunks are filled with equals.
double cost(const Model& model, const Agenda<float>& agenda) {
  if (agenda.stops.empty()) return 0;
  return (agenda.stops.back().time - agenda.start) / model.config.model.step +
         static_cast<double>(agenda.stops.size());
}

// A copy without a `share` of the observations, and without the stops that this empties.
void thin(const Agenda<float>& whole, double share, Generator rng, Agenda<float>& result) {
  result = {whole.id, whole.start, {}, {}, {}, whole.covariates};
  for (const auto& stop : whole.stops) {
    result.stop(stop.time, stop.what);
    for (std::uint32_t k = stop.first; k < stop.first + stop.count; ++k)
      if (rng.uniform() >= share) result.observe(whole.feature[k], whole.value[k]);
    if (result.stops.back().count == 0 && stop.count > 0 && !(stop.what & Agenda<float>::kQuery))
      result.stops.pop_back();
  }
}

class Trainer {
 public:
  Trainer(Model& model, const Lessons& lessons, const TrainSettings& settings,
          std::uint64_t data_fingerprint, ThreadPool& pool, const TrainOptions& options)
      : model_(model),
        lessons_(lessons),
        agendas_(lessons.train),
        settings_(settings),
        pool_(pool),
        options_(options),
        adam_(model.params.size()) {
    for (const auto& agenda : agendas_) costs_.push_back(cost(model, agenda));
    for (std::size_t i = 0; i < pool.size(); ++i) workers_.push_back(model.network->worker());
    for (const std::int32_t label : lessons.train_labels) labelled_ += label != Dataset::kNone;
    state_.fingerprint = data_fingerprint;
    state_.best = model.params;
    batches_ = (static_cast<std::int64_t>(agendas_.size()) + settings.batch - 1) / settings.batch;
  }

  TrainResult run() {
    TrainResult result;
    const TrainSettings& config = settings_;
    const auto checkpoint = checkpoint_path(options_.out);
    if (options_.resume && std::filesystem::exists(checkpoint)) {
      state_ = load_checkpoint(checkpoint, state_.fingerprint, model_, adam_);
      result.resumed_from = state_.epochs_done;
    }
    if (options_.on_start) options_.on_start(result.resumed_from);
    if (lessons_.start_counts && state_.rows.empty()) {
      EpochRow start;
      validate(start);
      record(start);
      if (options_.on_epoch) options_.on_epoch(start);
    }
    while (state_.epochs_done < config.epochs) {
      if (config.patience > 0 && state_.since_best >= config.patience) {
        result.stopped_early = true;
        break;
      }
      EpochRow row = epoch(state_.epochs_done);
      if (interrupted()) {
        result.interrupted = true;
        break;
      }
      validate(row);
      ++state_.epochs_done;
      state_.since_best = row.best ? 0 : state_.since_best + 1;
      record(row);
      if (!options_.out.empty()) {
        if (row.best) save_model(model_, options_.out);
        write_metrics(state_.rows, metrics_path(options_.out));
        save_checkpoint(state_, model_, adam_, checkpoint);
      }
      if (options_.on_epoch) options_.on_epoch(row);
    }
    model_.params = state_.best;
    result.rows = state_.rows;
    return result;
  }

 private:
  bool interrupted() const { return options_.stop && options_.stop->load(); }

  void record(const EpochRow& row) {
    state_.rows.push_back(row);
    if (row.best) state_.best = model_.params;
  }

  EpochRow epoch(std::int64_t number) {
    const TrainSettings& config = settings_;
    std::vector<std::size_t> order(agendas_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    Generator rng(static_cast<std::uint64_t>(config.seed), "order",
                  static_cast<std::uint64_t>(number));
    rng.shuffle(std::span(order));

    LossSums total;
    EpochRow row;
    row.epoch = number + 1;
    for (std::int64_t batch = 0; batch < batches_ && !interrupted(); ++batch) {
      const std::int64_t step = number * batches_ + batch;
      row.learning_rate = learning_rate(config, step, config.epochs * batches_);
      const auto first = static_cast<std::size_t>(batch * config.batch);
      const std::size_t count =
          std::min(static_cast<std::size_t>(config.batch), order.size() - first);
      total += learn({order.data() + first, count}, number);
      clip_gradient(config.clip, config.clip_norm, grads_);
      adam_.step(grads_, row.learning_rate, config.weight_decay, model_.params);
      if (options_.on_batch) options_.on_batch(row.epoch, batch + 1, batches_, total);
    }
    const double n = std::max(1.0, total.observations);
    row.nll = total.nll / n;
    row.kl = total.kl / n;
    row.evidence = total.evidence / n;
    row.cross_entropy = total.classification / std::max(1.0, labelled_);
    row.loss = lessons_.evidential * (row.nll + model_.config.loss.kl * row.kl +
                                      model_.config.loss.evidence * row.evidence) +
               lessons_.classification *
                   (row.cross_entropy + total.reconstruction / std::max(1.0, labelled_));
    return row;
  }

  // The gradient of one batch into grads_. Chunks depend on the batch alone, each has a buffer of
  // its own, and the buffers are added in order: the same bits for any number of threads.
  LossSums learn(std::span<std::size_t> batch, std::int64_t epoch_number) {
    const TrainSettings& config = settings_;
    std::sort(batch.begin(), batch.end(), [&](std::size_t a, std::size_t b) {
      return costs_[a] != costs_[b] ? costs_[a] > costs_[b] : a < b;
    });
    double observations = 0, labelled = 0;
    std::vector<Example> examples;
    thinned_.resize(std::max(thinned_.size(), batch.size()));  // examples point into it
    for (std::size_t i : batch) {
      const Agenda<float>* agenda = &agendas_[i];
      if (config.thin > 0) {
        Agenda<float>& copy = thinned_[examples.size()];
        thin(*agenda, config.thin, draws("thin", i, epoch_number), copy);
        agenda = &copy;
      }
      examples.push_back({agenda, absorb_until(i, epoch_number), lessons_.train_labels[i],
                          draws("dropout", i, epoch_number).bits()});
      observations += static_cast<double>(agenda->feature.size());
      labelled += lessons_.train_labels[i] != Dataset::kNone;
    }
    LossWeights weights{lessons_.evidential / std::max(1.0, observations), 0.0, 0.0,
                        lessons_.classification / std::max(1.0, labelled), options_.stop};
    if (lessons_.evidential > 0) {
      weights.kl = model_.config.loss.kl;
      weights.evidence = model_.config.loss.evidence;
    }
    const auto chunk = static_cast<std::size_t>(config.chunk);
    const std::size_t chunks = (batch.size() + chunk - 1) / chunk;
    while (chunk_grads_.size() < chunks)
      chunk_grads_.push_back(Vector<float>::Zero(model_.params.size()));
    std::vector<LossSums> sums(chunks);
    pool_.for_each(chunks, [&](std::size_t c, std::size_t worker) {
      chunk_grads_[c].setZero();
      const std::size_t first = c * chunk, count = std::min(chunk, batch.size() - first);
      sums[c] = workers_[worker]->learn(model_.params.data(), {examples.data() + first, count},
                                        weights, chunk_grads_[c].data());
    });
    grads_ = chunk_grads_[0];
    for (std::size_t c = 1; c < chunks; ++c) grads_ += chunk_grads_[c];
    LossSums total;
    for (const LossSums& s : sums) total += s;
    if (!grads_.allFinite())
      throw Error(fmt::format(
          "the gradient of epoch {} is not finite (its batch begins with series {}); lower "
          "train.learning_rate or set train.clip_norm",
          epoch_number + 1, agendas_[batch.front()].id));
    return total;
  }

  Generator draws(std::string_view purpose, std::size_t i, std::int64_t epoch_number) const {
    return Generator(static_cast<std::uint64_t>(settings_.seed), purpose,
                     static_cast<std::uint64_t>(epoch_number) * agendas_.size() + i);
  }

  // With probability train.forecast a series is only forecast after a random moment of this epoch;
  // a class is always told from everything.
  double absorb_until(std::size_t i, std::int64_t epoch_number) const {
    if (settings_.forecast <= 0 || lessons_.classification > 0 || agendas_[i].stops.empty())
      return kInf;
    Generator rng = draws("forecast", i, epoch_number);
    if (rng.uniform() >= settings_.forecast) return kInf;
    return rng.uniform(agendas_[i].start, agendas_[i].stops.back().time);
  }

  void validate(EpochRow& row) {
    std::vector<Example> examples;
    for (const auto& agenda : lessons_.validation) examples.push_back({&agenda});
    if (lessons_.judge == Lessons::Judge::nll) {
      const LossSums sums = infer_losses(model_, examples, pool_, options_.stop);
      const double n = std::max(1.0, sums.observations);
      row.validation_nll = sums.nll / n;
      row.validation_mse = sums.squared_error / n;
    } else {
      const LabelFit fit =
          label_fit(infer_classes(model_, examples, pool_), lessons_.validation_labels);
      row.validation_cross_entropy = fit.mean_cross_entropy();
      row.validation_accuracy = fit.accuracy();
    }
    row.best = std::all_of(state_.rows.begin(), state_.rows.end(),
                           [&](const EpochRow& earlier) { return better(row, earlier); });
  }

  bool better(const EpochRow& a, const EpochRow& b) const {
    if (lessons_.judge == Lessons::Judge::nll) return a.validation_nll < b.validation_nll;
    if (lessons_.judge == Lessons::Judge::accuracy &&
        a.validation_accuracy != b.validation_accuracy)
      return a.validation_accuracy > b.validation_accuracy;
    return a.validation_cross_entropy < b.validation_cross_entropy;
  }

  Model& model_;
  const Lessons& lessons_;
  const std::vector<Agenda<float>>& agendas_;
  const TrainSettings settings_;
  ThreadPool& pool_;
  const TrainOptions& options_;
  Adam adam_;
  Checkpoint state_;
  std::vector<double> costs_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<Agenda<float>> thinned_;  // of the batch
  std::vector<Vector<float>> chunk_grads_;
  Vector<float> grads_;
  std::int64_t batches_ = 0;
  double labelled_ = 0;  // training series with a label
};

}  // namespace

std::filesystem::path checkpoint_path(const std::filesystem::path& out) {
  return out.string() + ".checkpoint";
}

std::filesystem::path metrics_path(const std::filesystem::path& out) {
  return out.string() + ".metrics.csv";
}

TrainResult train(Model& model, const Dataset& data, const Split& split, ThreadPool& pool,
                  const TrainOptions& options) {
  check_trainable(split, model.config.data);
  if (model.config.train.recalibrate && !model.network->has_distribution())
    throw Error(
        fmt::format("train.recalibrate: {} has no distribution to recalibrate; leave it out",
                    model.config.model.kind));
  const Lessons lessons = model.network->has_distribution()
                              ? distribution_lessons(model, data, split)
                              : class_lessons(model, data, split);
  TrainResult result = Trainer(model, lessons, model.config.train,
                               options.out.empty() ? 0 : fingerprint(data), pool, options)
                           .run();
  if (model.config.train.recalibrate && !result.interrupted) {
    model.network->rescale(spread_factors(model, lessons.validation, pool), model.params.data());
    if (!options.out.empty()) save_model(model, options.out);
  }
  return result;
}

TrainResult train(Model& model, const Lessons& lessons, const TrainSettings& settings,
                  ThreadPool& pool, const TrainOptions& options) {
  return Trainer(model, lessons, settings, 0, pool, options).run();
}

}  // namespace edict

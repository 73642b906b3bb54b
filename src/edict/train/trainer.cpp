#include "edict/train/trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "edict/core/error.h"
#include "edict/core/rng.h"
#include "edict/data/holdout.h"
#include "edict/models/ask_all.h"
#include "edict/train/checkpoint.h"
#include "edict/train/schedule.h"

namespace edict {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr std::uint64_t kForecastStream = 0x666f7265;  // keeps the draws apart from the shuffle's

// Solver steps and stops of a series: its cost, by which chunks are filled with equals.
double cost(const Model& model, const Agenda<float>& agenda) {
  if (agenda.stops.empty()) return 0;
  return (agenda.stops.back().time - agenda.start) / model.config.model.step +
         static_cast<double>(agenda.stops.size());
}

class Trainer {
 public:
  Trainer(Model& model, const Dataset& data, const Split& split, ThreadPool& pool,
          const TrainOptions& options)
      : model_(model), pool_(pool), options_(options), adam_(model.params.size()) {
    for (std::size_t i : split.train) agendas_.push_back(training_agenda(model, data, i));
    for (const auto& agenda : agendas_) costs_.push_back(cost(model, agenda));
    const auto holdout = draw_holdout(data, model.config.data.t_cut, model.config.data.holdout,
                                      static_cast<std::uint64_t>(model.config.data.seed));
    for (std::size_t i : split.validation)
      validation_.push_back(evaluation_agenda(model, data, i, holdout));
    for (std::size_t i = 0; i < pool.size(); ++i) workers_.push_back(model.network->worker());
    if (!options.out.empty()) state_.fingerprint = fingerprint(data);
    state_.best = model.params;
    const TrainConfig& config = model.config.train;
    batches_ = (static_cast<std::int64_t>(agendas_.size()) + config.batch - 1) / config.batch;
  }

  TrainResult run() {
    TrainResult result;
    const TrainConfig& config = model_.config.train;
    const auto checkpoint = checkpoint_path(options_.out);
    if (options_.resume && std::filesystem::exists(checkpoint)) {
      state_ = load_checkpoint(checkpoint, state_.fingerprint, model_, adam_);
      result.resumed_from = state_.epochs_done;
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
      state_.rows.push_back(row);
      if (row.best) state_.best = model_.params;
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

  EpochRow epoch(std::int64_t number) {
    const TrainConfig& config = model_.config.train;
    std::vector<std::size_t> order(agendas_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    Rng rng(static_cast<std::uint64_t>(config.seed), static_cast<std::uint64_t>(number));
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
    row.loss =
        row.nll + model_.config.loss.kl * row.kl + model_.config.loss.evidence * row.evidence;
    return row;
  }

  // The gradient of one batch into grads_. Chunks depend on the batch alone, each has a buffer of
  // its own, and the buffers are added in order: the same bits for any number of threads.
  LossSums learn(std::span<std::size_t> batch, std::int64_t epoch_number) {
    const TrainConfig& config = model_.config.train;
    std::sort(batch.begin(), batch.end(), [&](std::size_t a, std::size_t b) {
      return costs_[a] != costs_[b] ? costs_[a] > costs_[b] : a < b;
    });
    double observations = 0;
    std::vector<Example> examples;
    for (std::size_t i : batch) {
      examples.push_back({&agendas_[i], absorb_until(i, epoch_number), -1, 0});
      observations += static_cast<double>(agendas_[i].feature.size());
    }
    const LossWeights weights{1.0 / std::max(1.0, observations), model_.config.loss.kl,
                              model_.config.loss.evidence};
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

  // With probability train.forecast a series is only forecast after a random moment of this epoch.
  double absorb_until(std::size_t i, std::int64_t epoch_number) const {
    const TrainConfig& config = model_.config.train;
    if (config.forecast <= 0 || agendas_[i].stops.empty()) return kInf;
    Rng rng(static_cast<std::uint64_t>(config.seed) ^ kForecastStream,
            static_cast<std::uint64_t>(epoch_number) * agendas_.size() + i);
    if (rng.uniform() >= config.forecast) return kInf;
    return rng.uniform(agendas_[i].start, agendas_[i].stops.back().time);
  }

  void validate(EpochRow& row) {
    std::vector<Example> examples;
    for (const auto& agenda : validation_) examples.push_back({&agenda, kInf, -1, 0});
    const LossSums sums = ask_all(model_, examples, pool_);
    const double n = std::max(1.0, sums.observations);
    row.validation_nll = sums.nll / n;
    row.validation_mse = sums.squared_error / n;
    row.best = std::all_of(state_.rows.begin(), state_.rows.end(), [&](const EpochRow& earlier) {
      return row.validation_nll < earlier.validation_nll;
    });
  }

  Model& model_;
  ThreadPool& pool_;
  const TrainOptions& options_;
  Adam adam_;
  Checkpoint state_;
  std::vector<Agenda<float>> agendas_, validation_;
  std::vector<double> costs_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<Vector<float>> chunk_grads_;
  Vector<float> grads_;
  std::int64_t batches_ = 0;
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
  return Trainer(model, data, split, pool, options).run();
}

}  // namespace edict

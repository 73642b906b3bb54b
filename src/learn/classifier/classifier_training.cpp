#include "learn/classifier/classifier_training.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "base/error.h"
#include "base/generator.h"
#include "learn/adam.h"
#include "learn/classifier/readout_training.h"
#include "learn/posthoc/calibrate.h"
#include "learn/training_set.h"
#include "model/encode.h"

namespace edict {
namespace {

struct Labelled {
  Matrix<float> states;  // H × series
  std::vector<std::int32_t> labels;
};

bool better(const ClassifierRun& a, const ClassifierRun& b) {
  if (a.validation_accuracy != b.validation_accuracy)
    return a.validation_accuracy > b.validation_accuracy;
  return a.validation_cross_entropy < b.validation_cross_entropy;
}

// One seed, from its initial parameters.
ClassifierRun train_seed(const StateClassifier& classifier, const ClassifySettings& config,
                         std::int64_t seed, Vector<float> params, const Labelled& train,
                         const Labelled& validation, StopFlag stop) {
  const Index n = train.states.cols(), hidden = train.states.rows();
  std::vector<Index> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), Index{0});
  Matrix<float> h(hidden, std::min<Index>(n, config.batch)), d_h(h.rows(), h.cols());
  std::vector<std::int32_t> labels(static_cast<std::size_t>(h.cols()));
  Vector<float> grads(params.size());
  Arena<float> scratch;
  Adam adam(params.size());
  ClassifierRun best;
  for (std::int64_t epoch = 1; epoch <= config.epochs; ++epoch) {
    leave_if_stopped(stop);
    Generator rng(static_cast<std::uint64_t>(seed), "classifier order",
                  static_cast<std::uint64_t>(epoch));
    rng.shuffle(std::span(order));
    for (Index first = 0; first < n; first += config.batch) {
      const Index count = std::min<Index>(config.batch, n - first);
      for (Index i = 0; i < count; ++i) {
        const Index from = order[static_cast<std::size_t>(first + i)];
        h.col(i) = train.states.col(from);
        labels[static_cast<std::size_t>(i)] = train.labels[static_cast<std::size_t>(from)];
      }
      grads.setZero();
      classifier.layer().learn(params.data(), count, h.data(), labels.data(),
                               1.0f / static_cast<float>(count), scratch, d_h.data(), grads.data());
      scratch.reset();
      adam.step(grads, config.learning_rate, config.weight_decay, params);
    }
    const LabelFit fit =
        label_fit(classifier.logits(params.data(), validation.states), validation.labels);
    ClassifierRun run{seed, epoch, fit.accuracy(), fit.mean_cross_entropy(), {}};
    if (epoch == 1 || better(run, best)) {
      best = run;
      best.params = params;
    }
  }
  return best;
}

// A classifier from each seed on the states of the frozen model; the best becomes the model's.
void train_seeds(const Dataset& data, const Split& split, std::span<const std::int32_t> labels,
                 std::span<const std::int64_t> seeds, ThreadPool& pool,
                 const ClassifierOptions& options, ClassifierResult& result) {
  Model& model = result.model;
  Labelled train, validation;
  std::vector<std::size_t> series;
  for (const auto& [part, to] : {std::pair(&split.train, &train), {&split.validation, &validation}})
    for (const std::size_t i : *part) {
      if (labels[i] == Dataset::kNone) {
        ++result.unlabelled;
        continue;
      }
      series.push_back(i);
      to->labels.push_back(labels[i]);
    }
  const Matrix<float> states = encode(model, data, series, pool).states;
  if (!states.allFinite())
    throw Error("a state of the model is not finite; it cannot be classified from");
  train.states = states.leftCols(static_cast<Index>(train.labels.size()));
  validation.states = states.rightCols(static_cast<Index>(validation.labels.size()));
  result.train = train.labels.size();
  result.validation = validation.labels.size();
  for (std::size_t k = 0; k < model.classes.size(); ++k)
    if (std::count(train.labels.begin(), train.labels.end(), static_cast<std::int32_t>(k)) == 0)
      result.never_seen.push_back(model.classes[k]);

  const StateClassifier classifier(model);
  result.runs.resize(seeds.size());
  pool.for_each(seeds.size(), [&](std::size_t s, std::size_t) {
    const Vector<float> initial =
        model.network->layout().initial<float>(static_cast<std::uint64_t>(seeds[s]));
    result.runs[s] = train_seed(classifier, options.settings, seeds[s],
                                initial.tail(classifier.size()), train, validation, options.stop);
  });
  ClassifierRun* best = &result.runs.front();
  for (ClassifierRun& run : result.runs) {
    model.first().seed_classifiers.push_back({run.seed, run.params});
    if (better(run, *best)) best = &run;
  }
  best->chosen = true;
  model.first().params.tail(classifier.size()) = best->params;
  model.config.classify.seed = best->seed;
}

TrainSettings fine_tuning_settings(const Model& model) {
  TrainSettings settings = model.config.train;
  settings.seed = model.config.classify.seed;
  settings.epochs = model.config.classify.fine_tune;
  settings.batch = model.config.classify.batch;
  settings.learning_rate = model.config.classify.fine_tune_rate;
  settings.thin = model.config.classify.fine_tune_thin;
  settings.weight_decay = model.config.classify.weight_decay;
  settings.schedule =
      Schedule::cosine;  // ends calm: the last epochs no longer wander around their mean
  settings.warmup = 0.0;
  settings.patience = 0;
  return settings;
}

void fine_tune(const Dataset& data, const Split& split, ThreadPool& pool,
               const ClassifierOptions& options, ClassifierResult& result) {
  TrainOptions training;
  training.stop = options.stop;
  training.on_epoch = options.on_epoch;
  if (options.on_batch)
    training.on_batch = [&](std::int64_t epoch, std::int64_t batch, std::int64_t batches,
                            const LossSums&) { options.on_batch(epoch, batch, batches); };
  Model& model = result.model;
  const TrainingSet set =
      joint_training_set(model, data, split, options.settings.evidential_weight);
  TrainResult tuned = train(model, set, fine_tuning_settings(model), pool, training);
  result.fine_tuning = std::move(tuned.rows);
  result.interrupted = tuned.interrupted;
  // What was found before belongs to other states.
  model.calibration = {};
  model.fusion = {};
  if (!result.interrupted) calibrate_trained(model, data, split.validation, pool, options.stop);
  model.first().seed_classifiers = {
      {model.config.classify.seed, model.first().params.tail(model.classifier_size())}};
}

Matrix<double> probabilities(Matrix<double> logits) {
  for (Index i = 0; i < logits.cols(); ++i) {
    auto column = logits.col(i).array();
    column = (column - column.maxCoeff()).exp();
    column /= column.sum();
  }
  return logits;
}

// The mean of members' probabilities is less sure again than theirs: their powers are multiplied by
// one that suits it.
void fit_powers_together(const Dataset& data, const Split& split, ClassifierResult& result) {
  Model& model = result.model;
  const std::vector<std::int32_t> all = model.labels(data);
  std::vector<Index> labels;
  for (const std::size_t i : split.validation)
    if (all[i] != Dataset::kNone) labels.push_back(all[i]);
  const double power = fitted_power([&](double factor) {
    Matrix<double> mean =
        Matrix<double>::Zero(model.network->classes(), static_cast<Index>(labels.size()));
    for (std::size_t m = 0; m < model.members.size(); ++m)
      mean += probabilities(factor * model.members[m].readout.power * result.readouts[m].held_out) /
              static_cast<double>(model.members.size());
    double sum = 0;
    for (std::size_t i = 0; i < labels.size(); ++i)
      sum -= std::log(
          std::max(mean(labels[i], static_cast<Index>(i)), std::numeric_limits<double>::min()));
    return sum;
  });
  for (Member& own : model.members) own.readout.power *= power;
}

ClassifierResult train_members(const Model& frozen, const Dataset& data, const Split& split,
                               ThreadPool& pool, const ClassifierOptions& options) {
  ClassifierResult all;
  std::vector<Model> members;
  for (std::size_t m = 0; m < frozen.members.size(); ++m) {
    if (options.on_member) options.on_member(m);
    ClassifierResult own = train_classifier(frozen.member(m), data, split, pool, options);
    all.interrupted = own.interrupted;
    if (own.interrupted) return all;
    for (ClassifierRun& run : own.runs) {
      run.member = m;
      all.runs.push_back(std::move(run));
    }
    all.fine_tuning.insert(all.fine_tuning.end(), own.fine_tuning.begin(), own.fine_tuning.end());
    all.readouts.insert(all.readouts.end(), own.readouts.begin(), own.readouts.end());
    all.never_seen = std::move(own.never_seen);
    all.train = own.train;
    all.validation = own.validation;
    all.unlabelled = own.unlabelled;
    members.push_back(std::move(own.model));
  }
  all.model = ensemble(std::move(members));
  if (!all.readouts.empty()) fit_powers_together(data, split, all);
  if (all.fine_tuning.empty()) {
    all.model.calibration = frozen.calibration;
    all.model.fusion = frozen.fusion;
    return all;
  }
  try {
    calibrate_trained(all.model, data, split.validation, pool, options.stop);
  } catch (const Interrupted&) {
    all.interrupted = true;
  }
  return all;
}

}  // namespace

ClassifierResult train_classifier(const Model& frozen, const Dataset& data, const Split& split,
                                  ThreadPool& pool, const ClassifierOptions& options) {
  if (frozen.members.size() > 1) return train_members(frozen, data, split, pool, options);
  frozen.check_data(data);
  check_trainable(split, frozen.config.data);
  if (!frozen.network->has_distribution())
    throw Error(
        fmt::format("{} is trained on the classes already; pass it to `edict stress` as "
                    "it is",
                    frozen.config.model.kind));
  if (!data.labelled())
    throw Error("the data have no labels; add a label column to train a classifier");
  Config config = frozen.config;
  config.classify = options.settings;
  std::vector<std::int64_t> seeds = options.seeds;
  if (seeds.empty())
    for (std::int64_t s = 0; s < 3; ++s) seeds.push_back(config.classify.seed + s);
  if (std::set(seeds.begin(), seeds.end()).size() != seeds.size())
    throw Error("the seeds of the classifiers repeat; give each once");

  ClassifierResult result;
  result.model = frozen.with_classifier(config, data.classes);
  // Where the labels stand is known now, if it was not before.
  if (!data.reading.label.empty()) result.model.reading.label = data.reading.label;
  result.model.seen.add(data, split, config.data.split);
  const std::vector<std::int32_t> labels = result.model.labels(data);
  check_labels(result.model, labels, split);
  try {
    train_seeds(data, split, labels, seeds, pool, options, result);
    if (config.classify.fine_tune > 0) fine_tune(data, split, pool, options, result);
    const ReadoutSettings& readout = config.classify.readout;
    if ((readout.members > 0 || readout.trees > 0) && !result.interrupted)
      train_readout(data, split, labels, pool, options.stop, result);
  } catch (const Interrupted&) {
    result.interrupted = true;
  }
  return result;
}

}  // namespace edict

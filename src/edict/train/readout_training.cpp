#include "edict/train/readout_training.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "edict/core/error.h"
#include "edict/model/summary.h"
#include "edict/train/adam.h"
#include "edict/train/boosting.h"

namespace edict {
namespace {

constexpr double kRising = 0.3;  // share of the steps over which the rate rises

// Up and down again along cosines.
double rate_at(double peak, double progress) {
  const double phase =
      progress < kRising ? progress / kRising - 1.0 : (progress - kRising) / (1.0 - kRising);
  return peak * 0.5 * (1.0 + std::cos(std::numbers::pi * phase));
}

Vector<float> train_member(const SummaryClassifier& network, const ReadoutSettings& settings,
                           std::uint64_t seed, const Matrix<float>& inputs,
                           std::span<const std::int32_t> labels, StopFlag stop) {
  const Index n = inputs.cols();
  Vector<float> params = network.layout().initial<float>(seed);
  Vector<float> grads(params.size());
  Adam adam(params.size());
  Arena<float> scratch;
  Matrix<float> x(inputs.rows(), std::min<Index>(n, settings.batch));
  std::vector<std::int32_t> batch_labels(static_cast<std::size_t>(x.cols()));
  std::vector<Index> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), Index{0});
  const Index batches = (n + settings.batch - 1) / settings.batch;
  const auto steps = static_cast<double>(batches * settings.epochs);
  for (std::int64_t epoch = 0; epoch < settings.epochs; ++epoch) {
    leave_if_stopped(stop);
    Generator rng(seed, "readout", static_cast<std::uint64_t>(epoch));
    rng.shuffle(std::span(order));
    for (Index first = 0; first < n; first += settings.batch) {
      const Index count = std::min<Index>(settings.batch, n - first);
      for (Index i = 0; i < count; ++i) {
        const Index from = order[static_cast<std::size_t>(first + i)];
        x.col(i) = inputs.col(from);
        batch_labels[static_cast<std::size_t>(i)] = labels[static_cast<std::size_t>(from)];
      }
      grads.setZero();
      network.learn(params.data(), count, x.data(), batch_labels.data(),
                    1.0f / static_cast<float>(count), Dropout(settings.input_dropout),
                    Dropout(settings.dropout), rng, scratch, grads.data());
      scratch.reset();
      adam.step(grads, rate_at(settings.learning_rate, static_cast<double>(adam.steps) / steps),
                settings.weight_decay, params);
    }
  }
  return params;
}

}  // namespace

void train_readout(const Dataset& data, const Split& split, std::span<const std::int32_t> labels,
                   ThreadPool& pool, StopFlag stop, ClassifierResult& result) {
  Model& model = result.model;
  const ReadoutSettings& settings = model.config.classify.readout;
  std::vector<std::size_t> series;
  std::vector<std::int32_t> train_labels, validation_labels;
  for (const auto& [part, own] :
       {std::pair(&split.train, &train_labels), {&split.validation, &validation_labels}})
    for (const std::size_t i : *part)
      if (labels[i] != Dataset::kNone) {
        series.push_back(i);
        own->push_back(labels[i]);
      }
  const Matrix<float> summaries = summarise(model, data, series, pool).values;
  const auto count = static_cast<Index>(train_labels.size());
  const Matrix<float> training = summaries.leftCols(count),
                      validation = summaries.rightCols(summaries.cols() - count);
  Readout& readout = model.readout;
  readout.fit(training);
  readout.state_rows = state_rows(model);
  readout.without_state = static_cast<std::size_t>(settings.without_state);
  const SummaryClassifier network = summary_classifier(model, readout);
  const Matrix<float> inputs = readout.normalised(training);
  const Matrix<float> without =
      readout.without_state > 0 ? readout.without_state_of(inputs) : Matrix<float>();
  readout.members.resize(static_cast<std::size_t>(settings.members));
  pool.for_each(readout.members.size(), [&](std::size_t m, std::size_t) {
    readout.members[m] =
        train_member(network, settings, static_cast<std::uint64_t>(model.config.classify.seed) + m,
                     readout.sees_state(m) ? inputs : without, train_labels, stop);
  });
  if (settings.trees > 0)
    readout.trees =
        boost({training, train_labels}, {validation, validation_labels},
              summary_size(model) - readout.state_rows, network.classes(),
              {.rounds = settings.trees, .leaves = settings.leaves, .rate = settings.tree_rate},
              pool, stop);
  const Readout::Votes votes = readout.votes(network, validation);
  const Matrix<float> of_state = StateClassifier(model).logits(
      model.params.data() + model.params.size() - model.classifier_size(),
      states_of(model, validation));
  ReadoutFit& best = result.readouts.emplace_back();
  best.state = label_fit(of_state, validation_labels);
  best.readout.cross_entropy = std::numeric_limits<double>::infinity();
  double best_share = 1.0, best_tree_share = 0.0;
  for (const double share : {1.0, 0.75, 0.5, 0.25, 0.0})
    for (const double tree_share : {0.0, 0.25, 0.5, 0.75, 1.0}) {
      if (tree_share > 0 && (readout.trees.empty() || readout.members.empty())) break;
      readout.share = share;
      readout.tree_share = tree_share;
      const LabelFit fit =
          label_fit(readout.mixed(votes, of_state).cast<float>(), validation_labels);
      if (!(fit.cross_entropy < best.readout.cross_entropy)) continue;
      best.readout = fit;
      best_share = share;
      best_tree_share = tree_share;
    }
  readout.share = best_share;
  readout.tree_share = best_tree_share;
}

}  // namespace edict

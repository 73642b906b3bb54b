#include "learn/classifier/readout_training.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "base/error.h"
#include "learn/adam.h"
#include "learn/classifier/boosting.h"
#include "model/classifier/summary.h"

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

struct Shares {
  double share, tree_share;

  void put(Readout& readout) const {
    readout.share = share;
    readout.tree_share = tree_share;
  }
};

std::vector<Shares> shares_to_try(const Readout& readout) {
  std::vector<Shares> all;
  for (const double share : {1.0, 0.75, 0.5, 0.25, 0.0})
    for (const double tree_share : {0.0, 0.25, 0.5, 0.75, 1.0})
      if (tree_share == 0 || !(readout.trees.empty() || readout.members.empty()))
        all.push_back({share, tree_share});
  return all;
}

std::vector<double> cross_entropies(const Matrix<double>& logits,
                                    std::span<const std::int32_t> labels) {
  Matrix<float> scores = logits.cast<float>();
  std::vector<double> all;
  for (Index i = 0; i < scores.cols(); ++i)
    all.push_back(Classifier::cross_entropy(scores.col(i).data(), scores.rows(),
                                            labels[static_cast<std::size_t>(i)], 1.0f));
  return all;
}

constexpr std::size_t kFolds = 5;

// Of all series, or of those outside of a fold.
std::size_t cheapest(const std::vector<std::vector<double>>& costs, std::size_t fold = kFolds) {
  std::size_t best = 0;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t c = 0; c < costs.size(); ++c) {
    double sum = 0;
    for (std::size_t i = 0; i < costs[c].size(); ++i)
      if (i % kFolds != fold) sum += costs[c][i];
    if (!(sum < least)) continue;
    least = sum;
    best = c;
  }
  return best;
}

}  // namespace

double fitted_power(const std::function<double(double power)>& cross_entropy) {
  constexpr double kSpread = 0.4;  // of ln power: so far from 0 it costs half a nat
  constexpr double kStep = 0.05, kFarthest = 40;
  double best = 0, least = std::numeric_limits<double>::infinity();
  for (double k = -kFarthest; k <= kFarthest; ++k) {
    const double log_power = k * kStep;
    const double cost = cross_entropy(std::exp(log_power)) + 0.5 * std::pow(log_power / kSpread, 2);
    if (!(cost < least)) continue;
    least = cost;
    best = log_power;
  }
  return std::exp(best);
}

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
  Readout& readout = model.first().readout;
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
      model.first().params.data() + model.first().params.size() - model.classifier_size(),
      states_of(model, validation));
  ReadoutFit& fit = result.readouts.emplace_back();
  fit.state = label_fit(of_state, validation_labels);
  fit.held_out.resize(network.classes(), validation.cols());
  const std::vector<Shares> choices = shares_to_try(readout);
  std::vector<std::vector<double>> costs;  // of each choice, series by series
  for (const Shares& shares : choices) {
    shares.put(readout);
    costs.push_back(cross_entropies(readout.mixed(votes, of_state), validation_labels));
  }
  for (std::size_t fold = 0; fold < kFolds; ++fold) {
    choices[cheapest(costs, fold)].put(readout);
    const Matrix<double> mixed = readout.mixed(votes, of_state);
    for (auto i = static_cast<Index>(fold); i < mixed.cols(); i += Index{kFolds})
      fit.held_out.col(i) = mixed.col(i);
  }
  choices[cheapest(costs)].put(readout);
  readout.power = fitted_power([&](double power) {
    const std::vector<double> own = cross_entropies(power * fit.held_out, validation_labels);
    return std::accumulate(own.begin(), own.end(), 0.0);
  });
  fit.readout = label_fit(readout.mixed(votes, of_state).cast<float>(), validation_labels);
}

}  // namespace edict

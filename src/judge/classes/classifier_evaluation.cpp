#include "judge/classes/classifier_evaluation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"

namespace edict {
namespace {

ClassScores scores_of(const Predictions& p, std::size_t k, const std::string& name) {
  const std::vector<ScoreStep> steps = score_steps(p, k);
  ClassScores scores{name, 0,   auroc(steps),         average_precision(steps),
                     0.0,  0.0, ranking_curve(steps), reliability(p, k)};
  for (std::size_t i = 0; i < p.size(); ++i) {
    const double truth = p.label(i) == k ? 1.0 : 0.0;
    scores.positives += p.label(i) == k;
    scores.brier += (p.probability(i, k) - truth) * (p.probability(i, k) - truth);
  }
  scores.brier /= static_cast<double>(p.size());
  scores.ece = reliability_error(scores.reliability);
  return scores;
}

PriorScores prior_scores(const Predictions& p, const std::vector<ClassScores>& judged) {
  std::vector<double> share(p.classes());
  for (std::size_t i = 0; i < p.size(); ++i) share[p.label(i)] += 1.0;
  for (double& s : share) s /= static_cast<double>(p.size());
  std::vector<double> rows;
  std::vector<std::int32_t> labels;
  for (std::size_t i = 0; i < p.size(); ++i) {
    rows.insert(rows.end(), share.begin(), share.end());
    labels.push_back(static_cast<std::int32_t>(p.label(i)));
  }
  const Predictions constant(rows, labels, p.classes());
  double auprc = 0;
  for (const ClassScores& scores : judged)
    auprc += static_cast<double>(scores.positives) / static_cast<double>(p.size());
  return {accuracy(constant), brier(constant), log_loss(constant),
          auprc / static_cast<double>(judged.size())};
}

}  // namespace

std::vector<ReliabilityBin> reliability(const Predictions& p, std::size_t k) {
  constexpr double kBins = static_cast<double>(kReliabilityBins);
  std::vector<ReliabilityBin> bins;
  for (std::size_t b = 0; b < kReliabilityBins; ++b)
    bins.push_back({static_cast<double>(b) / kBins, static_cast<double>(b + 1) / kBins, 0, 0, 0});
  for (std::size_t i = 0; i < p.size(); ++i) {
    const double probability = p.probability(i, k);
    const auto b = std::min(static_cast<std::size_t>(probability * kBins), kReliabilityBins - 1);
    ++bins[b].series;
    bins[b].predicted += probability;
    bins[b].observed += p.label(i) == k ? 1.0 : 0.0;
  }
  for (ReliabilityBin& bin : bins) {
    bin.predicted /= static_cast<double>(bin.series);  // 0/0 is NaN: nothing to tell
    bin.observed /= static_cast<double>(bin.series);
  }
  return bins;
}

double reliability_error(const std::vector<ReliabilityBin>& bins) {
  double sum = 0, series = 0;
  for (const ReliabilityBin& bin : bins) {
    if (bin.series == 0) continue;
    sum += static_cast<double>(bin.series) * std::abs(bin.predicted - bin.observed);
    series += static_cast<double>(bin.series);
  }
  return sum / series;
}

ClassifierEvaluation evaluate_predictions(const Predictions& p,
                                          const std::vector<std::string>& classes,
                                          std::string_view positive) {
  ClassifierEvaluation result{classes, 0, classification_metrics(p), {}, {}};
  if (!positive.empty()) {
    const auto found = std::find(classes.begin(), classes.end(), positive);
    if (found == classes.end())
      throw Error(fmt::format("there is no class '{}'; the model's are [{}]", positive,
                              fmt::join(classes, ", ")));
    result.judged.push_back(
        scores_of(p, static_cast<std::size_t>(found - classes.begin()), *found));
  } else {
    for (std::size_t k = classes.size() == 2 ? 1 : 0; k < classes.size(); ++k)
      result.judged.push_back(scores_of(p, k, classes[k]));
  }
  result.prior = prior_scores(p, result.judged);
  return result;
}

ClassifierEvaluation evaluate_classifier(const Model& model, const Dataset& data,
                                         std::span<const std::size_t> series, ThreadPool& pool,
                                         const Guard& guard, std::string_view positive) {
  const LabelledSeries labelled = labelled_series(model, data, series);
  const ClassProbabilities p = class_probabilities(model, data, labelled.series, pool, guard);
  ClassifierEvaluation result = evaluate_predictions(
      Predictions(p.values, labelled.labels, p.classes), model.classes, positive);
  result.unlabelled = labelled.unlabelled;
  return result;
}

}  // namespace edict

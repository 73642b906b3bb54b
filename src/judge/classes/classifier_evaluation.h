// How good a model's class probabilities are, with the curves behind the numbers and, beside them,
// what always answering the same probabilities would get.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "ask/classification.h"
#include "base/threads/thread_pool.h"
#include "judge/classes/ranking_curves.h"

namespace edict {

// Of the series whose probability lies in [low, high).
struct ReliabilityBin {
  double low, high;
  std::size_t series = 0;
  double predicted;  // mean probability; NaN without series
  double observed;   // share that is of the class
};

// One class against the rest.
struct ClassScores {
  std::string name;
  std::size_t positives = 0;  // series of the class
  double auroc, auprc;        // NaN where all series are, or none is, of the class
  double brier;               // mean of (p − y)²
  double ece;                 // mean of |predicted − observed| over the bins, by their series
  std::vector<CurvePoint> curve;
  std::vector<ReliabilityBin> reliability;
};

// Always answering the shares that the classes have among the judged series: the best that can be
// said without looking at a series. Its AUROC is 0.5, its AUPRC the share of the class.
struct PriorScores {
  double accuracy, brier, log_loss, auprc;
};

struct ClassifierEvaluation {
  std::vector<std::string> classes;
  std::size_t unlabelled = 0;  // left out
  ClassificationResult result;
  PriorScores prior;
  std::vector<ClassScores> judged;  // the positive class; with three and more, each of them
};

// `positive`: the class that curves are told of; empty: the second of two, each of more. Throws
// Error where the model has no such class, no classifier, or the series no labels.
ClassifierEvaluation evaluate_classifier(const Model& model, const Dataset& data,
                                         std::span<const std::size_t> series, ThreadPool& pool,
                                         const Guard& guard = {}, std::string_view positive = {});

// The same from probabilities.
ClassifierEvaluation evaluate_predictions(const Predictions& predictions,
                                          const std::vector<std::string>& classes,
                                          std::string_view positive = {});

inline constexpr std::size_t kReliabilityBins = 10;
std::vector<ReliabilityBin> reliability(const Predictions& predictions, std::size_t k);
double reliability_error(const std::vector<ReliabilityBin>& bins);

}  // namespace edict

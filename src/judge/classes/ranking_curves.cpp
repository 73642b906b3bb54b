#include "judge/classes/ranking_curves.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/not_finite.h"

namespace edict {
namespace {

struct Totals {
  std::uint64_t positives = 0, negatives = 0;
};

Totals totals(const std::vector<ScoreStep>& steps) {
  Totals sum;
  for (const ScoreStep& step : steps) {
    sum.positives += step.positives;
    sum.negatives += step.negatives;
  }
  return sum;
}

}  // namespace

std::vector<ScoreStep> score_steps(const Predictions& p, std::size_t positive) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return p.probability(a, positive) > p.probability(b, positive);
  });
  std::vector<ScoreStep> steps;
  for (const std::size_t i : order) {
    const double score = p.probability(i, positive);
    if (steps.empty() || steps.back().score != score) steps.push_back({score, 0, 0});
    ++(p.label(i) == positive ? steps.back().positives : steps.back().negatives);
  }
  return steps;
}

// Pairs are counted in halves, as whole numbers: exact, whatever the ties.
double auroc(const std::vector<ScoreStep>& steps) {
  const auto [all_positives, all_negatives] = totals(steps);
  if (all_positives == 0 || all_negatives == 0) return kNaN;
  std::uint64_t positives = 0, half_pairs = 0;
  for (const ScoreStep& step : steps) {
    half_pairs += (2 * positives + step.positives) * step.negatives;
    positives += step.positives;
  }
  return static_cast<double>(half_pairs) /
         (2.0 * static_cast<double>(all_positives) * static_cast<double>(all_negatives));
}

double average_precision(const std::vector<ScoreStep>& steps) {
  std::uint64_t seen = 0, positives = 0;
  double sum = 0.0;
  for (const ScoreStep& step : steps) {
    seen += step.positives + step.negatives;
    positives += step.positives;
    sum += static_cast<double>(step.positives) * static_cast<double>(positives) /
           static_cast<double>(seen);
  }
  return positives == 0 || positives == seen ? kNaN : sum / static_cast<double>(positives);
}

std::vector<CurvePoint> ranking_curve(const std::vector<ScoreStep>& steps, std::size_t most) {
  const auto [all_positives, all_negatives] = totals(steps);
  const auto share = [](std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? kNaN : static_cast<double>(part) / static_cast<double>(whole);
  };
  std::vector<CurvePoint> curve{{std::numeric_limits<double>::infinity(), 0.0, 0.0, 1.0}};
  std::uint64_t positives = 0, negatives = 0;
  for (const ScoreStep& step : steps) {
    positives += step.positives;
    negatives += step.negatives;
    curve.push_back({step.score, share(positives, all_positives), share(negatives, all_negatives),
                     share(positives, positives + negatives)});
  }
  if (most < 2 || curve.size() <= most) return curve;
  std::vector<CurvePoint> kept;
  for (std::size_t k = 0; k < most; ++k) kept.push_back(curve[k * (curve.size() - 1) / (most - 1)]);
  return kept;
}

}  // namespace edict

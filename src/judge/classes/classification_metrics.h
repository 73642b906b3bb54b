// How good class probabilities are. All metrics agree with scikit-learn where it has them
// (tests/judge/golden). With two classes class 1 is the positive one; with more, AUROC and average
// precision are the plain mean over classes of one class against the rest.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace edict {

// Checked once: constructing throws Error where there is no series, fewer than two classes, sizes
// that do not match, a label that is no class, or a row that is no probability distribution.
class Predictions {
 public:
  // probability: [series × classes], row-major. The spans must outlive this.
  Predictions(std::span<const double> probability, std::span<const std::int32_t> label,
              std::size_t classes);

  std::size_t size() const { return label_.size(); }
  std::size_t classes() const { return classes_; }
  double probability(std::size_t series, std::size_t k) const {
    return probability_[series * classes_ + k];
  }
  std::size_t label(std::size_t series) const { return static_cast<std::size_t>(label_[series]); }
  // The most probable class; the first of equals.
  std::size_t predicted(std::size_t series) const;

 private:
  std::span<const double> probability_;
  std::span<const std::int32_t> label_;
  std::size_t classes_;
};

double accuracy(const Predictions& predictions);

// A ranking metric. Throws Error when all series are of one class: there is nothing to rank them
// against. With three classes or more, a class without a series is skipped, and named here.
struct Ranking {
  double value;
  std::vector<double> per_class;      // NaN where skipped; empty with two classes
  std::vector<std::int32_t> skipped;  // classes
};

// The chance that a positive scores above a negative, equal scores counting half.
Ranking auroc(const Predictions& predictions);

// Area under the precision-recall curve as average precision Σ (R_n − R_{n−1}) P_n over the
// distinct scores, without interpolation (average_precision_score).
Ranking average_precision(const Predictions& predictions);

// Two classes: mean of (p_1 − y)², from 0 to 1 (brier_score_loss). More: mean of
// Σ_k (p_k − 1{y=k})², from 0 to 2 — which for two classes would be twice the former.
double brier(const Predictions& predictions);

// −mean ln p_y, with p clipped to [ε, 1−ε], ε = 2⁻⁵², and its row scaled back to a sum of 1.
double log_loss(const Predictions& predictions);

// Accuracy when only the most certain series, by their largest probability, are answered. Equally
// certain series are in no order: entries inside a tie are the expectation over all orders.
struct RiskCoverage {
  std::vector<double> accuracy;  // entry i: of the i+1 most certain series
  double aurc;                   // mean error over all entries (Geifman, Uziel & El-Yaniv 2019)

  double at(double coverage) const;  // of the ⌈coverage·n⌉ most certain series, 0 < coverage ≤ 1
};
RiskCoverage risk_coverage(const Predictions& predictions);

// A risk–coverage curve as results keep it: at the coverages 0.05, 0.1, …, 1.
inline constexpr std::size_t kCoverages = 20;
struct RiskCoverageSummary {
  std::array<double, kCoverages> accuracy;
  double aurc;

  double at(double coverage) const;  // Error for a coverage that is not among them
};
constexpr double coverage_of(std::size_t k) { return static_cast<double>(k + 1) / kCoverages; }

// [classes × classes], row-major: rows are true classes, columns predicted ones; counts.
std::vector<std::size_t> confusion(const Predictions& predictions);

struct ClassificationResult {
  std::size_t series, classes;
  double accuracy, brier, log_loss;
  Ranking auroc, average_precision;
  RiskCoverageSummary risk_coverage;
  std::vector<std::size_t> confusion;
};

// Everything above; the rankings are NaN where all series are of one class, as with a single one.
ClassificationResult classification_metrics(const Predictions& predictions);

}  // namespace edict

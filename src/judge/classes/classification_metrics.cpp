#include "judge/classes/classification_metrics.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/error.h"
#include "judge/classes/ranking_curves.h"

namespace edict {
namespace {

// A softmax in float leaves a sum within about 1e-6 of 1.
constexpr double kSumTolerance = 1e-4;

void check_row(std::span<const double> row, std::size_t series) {
  double sum = 0.0;
  for (std::size_t k = 0; k < row.size(); ++k) {
    if (!(row[k] >= 0.0 && row[k] <= 1.0))
      throw Error(fmt::format("probability {} of class {} in series {}: pass a number from 0 to 1",
                              row[k], k, series));
    sum += row[k];
  }
  if (std::abs(sum - 1.0) > kSumTolerance)
    throw Error(
        fmt::format("probabilities of series {} sum to {}: pass ones that sum to 1", series, sum));
}

template <class AgainstRest>
Ranking rank(const Predictions& p, const char* name, AgainstRest against_rest) {
  std::vector<std::size_t> count(p.classes());
  for (std::size_t i = 0; i < p.size(); ++i) ++count[p.label(i)];
  if (count[p.label(0)] == p.size())
    throw Error(
        fmt::format("{} is undefined: all {} series of the split are of class {}; evaluate a "
                    "split that holds at least two classes",
                    name, p.size(), p.label(0)));
  if (p.classes() == 2) return {against_rest(p, 1), {}, {}};
  Ranking ranking{0.0, {}, {}};
  for (std::size_t k = 0; k < p.classes(); ++k) {
    if (count[k] == 0) {
      ranking.skipped.push_back(static_cast<std::int32_t>(k));
      ranking.per_class.push_back(std::numeric_limits<double>::quiet_NaN());
    } else {
      ranking.per_class.push_back(against_rest(p, k));
      ranking.value += ranking.per_class.back();
    }
  }
  ranking.value /= static_cast<double>(p.classes() - ranking.skipped.size());
  return ranking;
}

template <class Term>
double mean_over_series(const Predictions& p, Term term) {
  double sum = 0.0;
  for (std::size_t i = 0; i < p.size(); ++i) sum += term(i);
  return sum / static_cast<double>(p.size());
}

}  // namespace

Predictions::Predictions(std::span<const double> probability, std::span<const std::int32_t> label,
                         std::size_t classes)
    : probability_(probability), label_(label), classes_(classes) {
  if (label.empty()) throw Error("classification of no series: pass a split with labelled series");
  if (classes < 2)
    throw Error(fmt::format("classification into {} classes: pass at least 2", classes));
  if (probability.size() != label.size() * classes)
    throw Error(fmt::format("{} probabilities for {} series of {} classes: pass one for each",
                            probability.size(), label.size(), classes));
  for (std::size_t i = 0; i < label.size(); ++i) {
    if (label[i] < 0 || this->label(i) >= classes)
      throw Error(fmt::format("label {} of series {}: pass a class from 0 to {}", label[i], i,
                              classes - 1));
    check_row(probability.subspan(i * classes, classes), i);
  }
}

std::size_t Predictions::predicted(std::size_t series) const {
  const auto row = probability_.subspan(series * classes_, classes_);
  return static_cast<std::size_t>(std::max_element(row.begin(), row.end()) - row.begin());
}

double accuracy(const Predictions& p) {
  return mean_over_series(p,
                          [&](std::size_t i) { return p.predicted(i) == p.label(i) ? 1.0 : 0.0; });
}

Ranking auroc(const Predictions& p) {
  return rank(p, "AUROC",
              [](const Predictions& all, std::size_t k) { return auroc(score_steps(all, k)); });
}

Ranking average_precision(const Predictions& p) {
  return rank(p, "average precision", [](const Predictions& all, std::size_t k) {
    return average_precision(score_steps(all, k));
  });
}

double brier(const Predictions& p) {
  const std::size_t first = p.classes() == 2 ? 1 : 0;
  return mean_over_series(p, [&](std::size_t i) {
    double sum = 0.0;
    for (std::size_t k = first; k < p.classes(); ++k) {
      const double gap = p.probability(i, k) - (p.label(i) == k ? 1.0 : 0.0);
      sum += gap * gap;
    }
    return sum;
  });
}

double log_loss(const Predictions& p) {
  constexpr double epsilon = std::numeric_limits<double>::epsilon();
  const auto clipped = [&](std::size_t i, std::size_t k) {
    return std::clamp(p.probability(i, k), epsilon, 1.0 - epsilon);
  };
  return mean_over_series(p, [&](std::size_t i) {
    double sum = 0.0;
    for (std::size_t k = 0; k < p.classes(); ++k) sum += clipped(i, k);
    return std::log(sum / clipped(i, p.label(i)));
  });
}

RiskCoverage risk_coverage(const Predictions& p) {
  struct Decision {
    double certainty;
    bool wrong;
  };
  std::vector<Decision> answers;
  for (std::size_t i = 0; i < p.size(); ++i) {
    const std::size_t k = p.predicted(i);
    answers.push_back({p.probability(i, k), k != p.label(i)});
  }
  std::sort(answers.begin(), answers.end(),
            [](const Decision& a, const Decision& b) { return a.certainty > b.certainty; });
  RiskCoverage curve{{}, 0.0};
  double wrong_before = 0.0;
  for (auto first = answers.begin(); first != answers.end();) {
    const auto last = std::find_if(
        first, answers.end(), [&](const Decision& a) { return a.certainty != first->certainty; });
    const auto tied = static_cast<double>(last - first);
    const auto wrong_tied = static_cast<double>(
        std::count_if(first, last, [](const Decision& answer) { return answer.wrong; }));
    const auto before = static_cast<double>(first - answers.begin());
    for (double taken = 1.0; taken <= tied; ++taken) {
      const double risk = (wrong_before + wrong_tied * taken / tied) / (before + taken);
      curve.accuracy.push_back(1.0 - risk);
      curve.aurc += risk;
    }
    wrong_before += wrong_tied;
    first = last;
  }
  curve.aurc /= static_cast<double>(p.size());
  return curve;
}

double RiskCoverage::at(double coverage) const {
  const auto n = static_cast<double>(accuracy.size());
  if (!(coverage > 0.0 && coverage <= 1.0))
    throw Error(fmt::format("coverage {}: pass a number above 0 and up to 1", coverage));
  // 0.07·100 is a little above 7 in binary: without the slack the eighth would be counted.
  const double kept = std::ceil(coverage * n * (1.0 - 1e-12));
  return accuracy[static_cast<std::size_t>(kept) - 1];
}

std::vector<std::size_t> confusion(const Predictions& p) {
  std::vector<std::size_t> counts(p.classes() * p.classes());
  for (std::size_t i = 0; i < p.size(); ++i) ++counts[p.label(i) * p.classes() + p.predicted(i)];
  return counts;
}

double RiskCoverageSummary::at(double coverage) const {
  for (std::size_t k = 0; k < kCoverages; ++k)
    if (std::abs(coverage - coverage_of(k)) < 1e-9) return accuracy[k];
  throw Error(fmt::format("coverage {}: results keep 0.05, 0.1, …, 1", coverage));
}

ClassificationResult classification_metrics(const Predictions& p) {
  const RiskCoverage curve = risk_coverage(p);
  RiskCoverageSummary summary{{}, curve.aurc};
  for (std::size_t k = 0; k < kCoverages; ++k) summary.accuracy[k] = curve.at(coverage_of(k));
  bool several = false;  // classes
  for (std::size_t i = 1; i < p.size(); ++i) several |= p.label(i) != p.label(0);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::size_t per_class = p.classes() > 2 ? p.classes() : 0;
  const Ranking nothing{nan, std::vector<double>(per_class, nan), {}};
  return {p.size(),
          p.classes(),
          accuracy(p),
          brier(p),
          log_loss(p),
          several ? auroc(p) : nothing,
          several ? average_precision(p) : nothing,
          summary,
          confusion(p)};
}

}  // namespace edict

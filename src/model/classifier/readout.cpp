#include "model/classifier/readout.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "math/student_t.h"

namespace edict {
namespace {

constexpr double kBound = 3.0;  // deviations; what lies beyond every knot comes to rest here

// The share of the training split below x, between knots on a straight line, in the middle of a
// jump where many values are equal.
double rank(const float* knots, float x) {
  const float* const end = knots + Readout::kKnots;
  const auto position = [&](const float* found) {
    if (found == knots) return 0.0;
    if (found == end) return 1.0;
    const double below = static_cast<double>(found[-1]), above = static_cast<double>(found[0]);
    const double within = above > below ? (static_cast<double>(x) - below) / (above - below) : 1.0;
    return (static_cast<double>(found - knots - 1) + within) /
           static_cast<double>(Readout::kKnots - 1);
  };
  const float* const first = std::lower_bound(knots, end, x);
  const float* const after = std::upper_bound(knots, end, x);
  if (first == after) return position(first);
  return 0.5 * (static_cast<double>(first - knots) + static_cast<double>(after - knots - 1)) /
         static_cast<double>(Readout::kKnots - 1);
}

Matrix<double> log_softmax(Matrix<double> scores) {
  for (Index i = 0; i < scores.cols(); ++i) {
    auto column = scores.col(i);
    column.array() -= column.maxCoeff();
    column.array() -= std::log(column.array().exp().sum());
  }
  return scores;
}

}  // namespace

void Readout::fit(const Matrix<float>& summaries) {
  knots.resize(Readout::kKnots, summaries.rows());
  indicators.clear();
  std::set<std::vector<bool>> patterns;
  for (Index row = 0; row < summaries.rows(); ++row) {
    std::vector<float> there;
    std::vector<bool> missing;
    for (Index i = 0; i < summaries.cols(); ++i) {
      missing.push_back(std::isnan(summaries(row, i)));
      if (!missing.back()) there.push_back(summaries(row, i));
    }
    if (!there.empty() && there.size() < missing.size() && patterns.insert(missing).second)
      indicators.push_back(row);
    std::sort(there.begin(), there.end());
    if (there.empty()) there.push_back(0.0f);
    for (Index k = 0; k < Readout::kKnots; ++k) {
      const double at =
          static_cast<double>(there.size() - 1) * static_cast<double>(k) / (Readout::kKnots - 1);
      const auto below = static_cast<std::size_t>(at);
      const std::size_t above = std::min(below + 1, there.size() - 1);
      const double within = at - static_cast<double>(below);
      knots(k, row) = static_cast<float>((1 - within) * static_cast<double>(there[below]) +
                                         within * static_cast<double>(there[above]));
    }
  }
}

Matrix<float> Readout::normalised(const Matrix<float>& summaries) const {
  const double lowest = normal_cdf(-kBound);
  Matrix<float> result(inputs(), summaries.cols());
  for (Index i = 0; i < summaries.cols(); ++i) {
    for (Index row = 0; row < knots.cols(); ++row) {
      const float x = summaries(row, i);
      result(row, i) = std::isnan(x) ? 0.0f
                                     : static_cast<float>(normal_quantile(std::clamp(
                                           rank(knots.col(row).data(), x), lowest, 1 - lowest)));
    }
    for (std::size_t k = 0; k < indicators.size(); ++k)
      result(knots.cols() + static_cast<Index>(k), i) =
          std::isnan(summaries(indicators[k], i)) ? 1.0f : 0.0f;
  }
  return result;
}

Matrix<float> Readout::without_state_of(Matrix<float> inputs) const {
  inputs.middleRows(knots.cols() - state_rows, state_rows).setZero();
  return inputs;
}

Readout::Votes Readout::votes(const SummaryClassifier& network,
                              const Matrix<float>& summaries) const {
  Votes result;
  if (!trees.empty()) result.trees = log_softmax(trees.scores(summaries, network.classes()));
  if (members.empty()) return result;
  const Matrix<float> inputs = normalised(summaries);
  Matrix<double> sum = Matrix<double>::Zero(network.classes(), inputs.cols());
  Matrix<float> logits(network.classes(), inputs.cols());
  Arena<float> scratch;
  const Matrix<float> without = without_state > 0 ? without_state_of(inputs) : Matrix<float>();
  for (std::size_t m = 0; m < members.size(); ++m) {
    network.forward(members[m].data(), inputs.cols(), (sees_state(m) ? inputs : without).data(),
                    scratch, logits.data());
    scratch.reset();
    sum += log_softmax(logits.cast<double>());
  }
  result.members = sum / static_cast<double>(members.size());
  return result;
}

Matrix<double> Readout::mixed(const Votes& votes, const Matrix<float>& of_state) const {
  Matrix<double> of_summary = members.empty() ? votes.trees : votes.members;
  if (!members.empty() && !trees.empty())
    of_summary = tree_share * votes.trees + (1 - tree_share) * of_summary;
  return power * (share * of_summary + (1 - share) * log_softmax(of_state.cast<double>()));
}

}  // namespace edict

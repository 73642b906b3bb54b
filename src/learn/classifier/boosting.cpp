#include "learn/classifier/boosting.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace edict {
namespace {

constexpr std::size_t kBins = 256;  // of a row; the last is for what is missing
constexpr std::uint8_t kMissing = 255;
constexpr std::size_t kLeastSeries = 20;  // in a leaf
constexpr double kLeastCurvature = 1e-3;  // of a leaf
constexpr double kRidge = 1.0;            // keeps a leaf's step small where little supports it

// A row's values by the intervals between thresholds: equal in an interval to every tree.
struct BinnedRow {
  std::vector<float> thresholds;   // ascending; interval k ends with the k-th
  std::vector<std::uint8_t> bins;  // one a series
};

float between(float below, float above) {
  const float middle = below + (above - below) / 2;
  return middle < above ? middle : below;
}

BinnedRow binned(const Matrix<float>& summaries, Index row) {
  std::vector<float> there;
  for (Index i = 0; i < summaries.cols(); ++i)
    if (!std::isnan(summaries(row, i))) there.push_back(summaries(row, i));
  std::sort(there.begin(), there.end());
  BinnedRow result;
  std::vector<float> distinct;
  std::unique_copy(there.begin(), there.end(), std::back_inserter(distinct));
  if (distinct.size() < kBins) {
    for (std::size_t k = 1; k < distinct.size(); ++k)
      result.thresholds.push_back(between(distinct[k - 1], distinct[k]));
  } else {
    for (std::size_t k = 1; k < kBins - 1; ++k) {
      const auto above = std::upper_bound(distinct.begin(), distinct.end(),
                                          there[k * (there.size() - 1) / (kBins - 1)]);
      if (above == distinct.end()) break;
      const float threshold = between(*(above - 1), *above);
      if (result.thresholds.empty() || threshold > result.thresholds.back())
        result.thresholds.push_back(threshold);
    }
  }
  for (Index i = 0; i < summaries.cols(); ++i) {
    const float x = summaries(row, i);
    result.bins.push_back(
        std::isnan(x) ? kMissing
                      : static_cast<std::uint8_t>(std::lower_bound(result.thresholds.begin(),
                                                                   result.thresholds.end(), x) -
                                                  result.thresholds.begin()));
  }
  return result;
}

// First and second derivative of the loss, summed over series.
struct Slope {
  double first = 0, second = 0;
  std::size_t series = 0;

  void add(const Slope& other) {
    first += other.first;
    second += other.second;
    series += other.series;
  }
  Slope without(const Slope& other) const {
    return {first - other.first, second - other.second, series - other.series};
  }
  bool supports_a_leaf() const { return series >= kLeastSeries && second >= kLeastCurvature; }
  // By how much the loss falls with the best step, twice.
  double gain() const { return first * first / (second + kRidge); }
  double step() const { return -first / (second + kRidge); }
};

struct Division {
  double gain = 0;
  Index row = 0;
  std::size_t interval = 0;  // the last that goes to the first child
  bool missing_first = false;
};

// The best division of some series by one row.
Division best_division(const BinnedRow& row, Index number, std::span<const std::uint32_t> series,
                       std::span<const Slope> slopes, const Slope& all) {
  std::array<Slope, kBins> sums{};
  for (const std::uint32_t i : series) sums[row.bins[i]].add(slopes[i]);
  const Slope& missing = sums[kMissing];
  Division best;
  Slope below;
  for (std::size_t k = 0; k < row.thresholds.size(); ++k) {
    below.add(sums[k]);
    for (const bool missing_first : {false, true}) {
      if (missing_first && missing.series == 0) continue;
      Slope first = below;
      if (missing_first) first.add(missing);
      const Slope second = all.without(first);
      if (!first.supports_a_leaf() || !second.supports_a_leaf()) continue;
      const double gain = first.gain() + second.gain() - all.gain();
      if (gain > best.gain) best = {gain, number, k, missing_first};
    }
  }
  return best;
}

struct Leaf {
  std::size_t node;
  std::vector<std::uint32_t> series;
  Slope slope;
  Division division;
};

class Forester {
 public:
  Forester(const Matrix<float>& summaries, Index rows, const BoostingSettings& settings,
           ThreadPool& pool)
      : settings_(settings), pool_(pool), rows_(static_cast<std::size_t>(rows)) {
    pool_.for_each(rows_.size(), [&](std::size_t row, std::size_t) {
      rows_[row] = binned(summaries, static_cast<Index>(row));
    });
  }

  // Adds a tree, leaf by leaf where the loss falls most.
  void grow(std::span<const Slope> slopes, BoostedTrees& trees) const {
    const std::size_t root = trees.nodes.size();
    trees.roots.push_back(static_cast<std::int32_t>(root));
    std::vector<std::uint32_t> everything(slopes.size());
    std::iota(everything.begin(), everything.end(), 0u);
    std::vector<Leaf> leaves;
    leaves.push_back(leaf(std::move(everything), slopes, trees));
    while (leaves.size() < static_cast<std::size_t>(settings_.leaves)) {
      const auto chosen = std::max_element(
          leaves.begin(), leaves.end(),
          [](const Leaf& a, const Leaf& b) { return a.division.gain < b.division.gain; });
      if (!(chosen->division.gain > 0)) break;
      const Division& division = chosen->division;
      const BinnedRow& row = rows_[static_cast<std::size_t>(division.row)];
      std::vector<std::uint32_t> first, second;
      for (const std::uint32_t i : chosen->series) {
        const std::uint8_t bin = row.bins[i];
        const bool to_first = bin == kMissing ? division.missing_first : bin <= division.interval;
        (to_first ? first : second).push_back(i);
      }
      BoostedTrees::Node& parent = trees.nodes[chosen->node];
      parent.row = static_cast<std::int32_t>(division.row);
      parent.threshold = row.thresholds[division.interval];
      parent.missing_first = division.missing_first;
      parent.child = static_cast<std::int32_t>(trees.nodes.size() - chosen->node);
      *chosen = leaf(std::move(first), slopes, trees);
      leaves.push_back(leaf(std::move(second), slopes, trees));
    }
    for (const Leaf& own : leaves)
      trees.nodes[own.node].value = static_cast<float>(settings_.rate * own.slope.step());
  }

 private:
  Leaf leaf(std::vector<std::uint32_t> series, std::span<const Slope> slopes,
            BoostedTrees& trees) const {
    Leaf made{trees.nodes.size(), std::move(series), {}, {}};
    trees.nodes.emplace_back();
    for (const std::uint32_t i : made.series) made.slope.add(slopes[i]);
    if (made.series.size() < 2 * kLeastSeries) return made;
    std::vector<Division> divisions(rows_.size());
    pool_.for_each(rows_.size(), [&](std::size_t row, std::size_t) {
      divisions[row] =
          best_division(rows_[row], static_cast<Index>(row), made.series, slopes, made.slope);
    });
    for (const Division& division : divisions)
      if (division.gain > made.division.gain) made.division = division;
    return made;
  }

  const BoostingSettings& settings_;
  ThreadPool& pool_;
  std::vector<BinnedRow> rows_;
};

// Probabilities of the scores of one series, in their place; its own cross-entropy comes back.
double to_probabilities(Eigen::Ref<Vector<double>> scores, std::int32_t label) {
  const double top = scores.maxCoeff();
  const double log_sum = top + std::log((scores.array() - top).exp().sum());
  const double loss = log_sum - scores[label];
  scores = (scores.array() - log_sum).exp();
  return loss;
}

double cross_entropy(Matrix<double> scores, std::span<const std::int32_t> labels) {
  double sum = 0;
  for (Index i = 0; i < scores.cols(); ++i)
    sum += to_probabilities(scores.col(i), labels[static_cast<std::size_t>(i)]);
  return sum;
}

// The scores that tell how often classes are.
std::vector<double> base_scores(std::span<const std::int32_t> labels, Index classes) {
  std::vector<double> count(static_cast<std::size_t>(classes), 1.0);
  for (const std::int32_t label : labels) ++count[static_cast<std::size_t>(label)];
  const std::size_t outputs = BoostedTrees::outputs_for(count.size());
  std::vector<double> result;
  for (std::size_t k = count.size() - outputs; k < count.size(); ++k)
    result.push_back(std::log(count[k] / (outputs == 1 ? count[0] : 1.0)));
  return result;
}

}  // namespace

BoostedTrees boost(const LabelledSummaries& training, const LabelledSummaries& validation,
                   Index rows, Index classes, const BoostingSettings& settings, ThreadPool& pool,
                   StopFlag stop) {
  const Forester forester(training.summaries, rows, settings, pool);
  BoostedTrees trees;
  trees.base = base_scores(training.labels, classes);
  const std::size_t outputs = trees.base.size();
  Matrix<double> scores = trees.scores(training.summaries, classes),
                 judged = trees.scores(validation.summaries, classes);
  std::vector<Slope> slopes(training.labels.size());
  double best = cross_entropy(judged, validation.labels);
  std::size_t kept_trees = 0, kept_nodes = 0;
  std::int64_t since = 0;
  for (std::int64_t round = 0; round < settings.rounds && since < settings.patience; ++round) {
    leave_if_stopped(stop);
    const std::size_t from = trees.roots.size();
    Matrix<double> p = scores;
    for (Index i = 0; i < p.cols(); ++i)
      to_probabilities(p.col(i), training.labels[static_cast<std::size_t>(i)]);
    for (std::size_t k = 0; k < outputs; ++k) {
      const auto own = static_cast<Index>(static_cast<std::size_t>(classes) - outputs + k);
      for (std::size_t i = 0; i < slopes.size(); ++i) {
        const double mine = p(own, static_cast<Index>(i));
        slopes[i] = {mine - (training.labels[i] == own ? 1.0 : 0.0), mine * (1 - mine), 1};
      }
      forester.grow(slopes, trees);
    }
    trees.add_to(scores, training.summaries, from);
    trees.add_to(judged, validation.summaries, from);
    ++since;
    if (const double now = cross_entropy(judged, validation.labels); now < best) {
      best = now;
      kept_trees = trees.roots.size();
      kept_nodes = trees.nodes.size();
      since = 0;
    }
  }
  trees.roots.resize(kept_trees);
  trees.nodes.resize(kept_nodes);
  return trees;
}

}  // namespace edict

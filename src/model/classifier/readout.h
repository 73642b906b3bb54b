// A classifier that reads the summary of a series (model/classifier/summary.h) instead of h(T)
// alone: each row is taken to a normal distribution by its quantiles in the training split, which
// also bounds it, so that no single impossible value can outweigh all others; several small
// networks then vote by the mean of their log probabilities, together with boosted trees, which err
// otherwise, and with the classifier on h(T). Such a mean is less sure than it may be: the
// probabilities of the vote are raised to a power, which changes neither the likeliest class nor
// the order of two classes' odds.
#pragma once

#include <vector>

#include "base/types.h"
#include "model/classifier/boosted_trees.h"
#include "nn/summary_classifier.h"

namespace edict {

struct Readout {
  static constexpr Index kKnots = 65;

  Matrix<float> knots;            // quantiles × rows, ascending in each column
  std::vector<Index> indicators;  // rows for which "was there at all" is an input too
  std::vector<Vector<float>> members;
  // The first so many members are shown 0 in the place of h, which are the last `state_rows` rows.
  std::size_t without_state = 0;
  Index state_rows = 0;
  BoostedTrees trees;       // on summaries without h; empty without them
  double tree_share = 0.0;  // of their vote beside the members'
  double share = 1.0;       // of the vote of both; the rest is the classifier's on h(T)
  double power = 1.0;       // to which the probabilities of the vote are raised

  bool empty() const { return members.empty() && trees.empty(); }

  // From the training split's summaries, rows × series. Rows that are missing together share one
  // indicator.
  void fit(const Matrix<float>& summaries);

  Index inputs() const { return knots.cols() + static_cast<Index>(indicators.size()); }
  // Summaries as inputs of the networks, inputs × series; 0 for what is missing.
  Matrix<float> normalised(const Matrix<float>& summaries) const;
  // The same inputs as a member is shown them.
  bool sees_state(std::size_t member) const { return member >= without_state; }
  Matrix<float> without_state_of(Matrix<float> inputs) const;

  // Log probabilities, classes × series: the members', those of the trees (empty where there are
  // none), and, but for a constant a series, both mixed with `of_state`, the scores of the
  // classifier on h(T) before the softmax.
  struct Votes {
    Matrix<double> members, trees;
  };
  Votes votes(const SummaryClassifier& network, const Matrix<float>& summaries) const;
  Matrix<double> mixed(const Votes& votes, const Matrix<float>& of_state) const;
};

}  // namespace edict

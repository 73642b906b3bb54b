// Boosted trees that read the summary of a series (model/classifier/summary.h). Each asks rows
// whether they are above a threshold, or nothing at all, and its leaf adds to the score of a class.
// What is beyond every threshold changes nothing more, so that an impossible value cannot outweigh
// all others. learn/classifier/boosting.h grows them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/types.h"

namespace edict {

struct BoostedTrees {
  struct Node {
    std::int32_t row = 0;
    float threshold = 0;     // up to here the first child answers, beyond it the one behind that
    std::int32_t child = 0;  // how many nodes on the first one stands; 0: this is a leaf
    bool missing_first = false;  // which of them answers where the row has nothing
    float value = 0;             // of a leaf
  };
  // Numbers of a node in a file.
  static constexpr Index kNumbers = 5;

  std::vector<Node> nodes;          // of all trees, one after the other
  std::vector<std::int32_t> roots;  // of each tree; they serve the outputs in turn
  std::vector<double> base;         // scores before any tree, one an output

  bool empty() const { return base.empty(); }

  // Two classes need a single score, that of the second.
  static std::size_t outputs_for(std::size_t classes) { return classes == 2 ? 1 : classes; }

  // What a tree adds for a series, a column of a summary.
  float leaf(std::size_t tree, const float* summary) const;
  // Before the softmax: classes × series.
  Matrix<double> scores(const Matrix<float>& summaries, Index classes) const;
  // Adds to such scores what the trees from `first` on say.
  void add_to(Matrix<double>& scores, const Matrix<float>& summaries, std::size_t first) const;

  // The nodes for a file; and from there, where roots and base are known, for trees that read
  // `rows` rows. Whether they are trees comes back: every descent ends, and in a number.
  std::vector<float> numbers() const;
  bool set_numbers(std::span<const float> numbers, Index rows);
};

}  // namespace edict

#include "model/classifier/boosted_trees.h"

#include <algorithm>
#include <cmath>

namespace edict {

float BoostedTrees::leaf(std::size_t tree, const float* summary) const {
  const Node* node = &nodes[static_cast<std::size_t>(roots[tree])];
  while (node->child > 0) {
    const float x = summary[node->row];
    const bool first = std::isnan(x) ? node->missing_first : x <= node->threshold;
    node += node->child + (first ? 0 : 1);
  }
  return node->value;
}

Matrix<double> BoostedTrees::scores(const Matrix<float>& summaries, Index classes) const {
  Matrix<double> result = Matrix<double>::Zero(classes, summaries.cols());
  for (Index i = 0; i < result.cols(); ++i)
    std::ranges::copy(base, result.col(i).end() - std::ssize(base));
  add_to(result, summaries, 0);
  return result;
}

void BoostedTrees::add_to(Matrix<double>& scores, const Matrix<float>& summaries,
                          std::size_t first) const {
  const auto outputs = static_cast<Index>(base.size());
  for (Index i = 0; i < scores.cols(); ++i)
    for (std::size_t t = first; t < roots.size(); ++t)
      scores.col(i).tail(outputs)[static_cast<Index>(t) % outputs] +=
          static_cast<double>(leaf(t, summaries.col(i).data()));
}

std::vector<float> BoostedTrees::numbers() const {
  std::vector<float> result;
  result.reserve(nodes.size() * kNumbers);
  for (const Node& node : nodes)
    for (const float x :
         {static_cast<float>(node.row), node.threshold, static_cast<float>(node.child),
          node.missing_first ? 1.0f : 0.0f, node.value})
      result.push_back(x);
  return result;
}

bool BoostedTrees::set_numbers(std::span<const float> numbers, Index rows) {
  const std::size_t count = numbers.size() / kNumbers;
  const auto whole = [](float x, std::size_t below) {
    return x >= 0 && static_cast<double>(x) < static_cast<double>(below) && std::trunc(x) == x;
  };
  nodes.clear();
  for (std::size_t i = 0; i < count; ++i) {
    const float* const of = numbers.data() + i * kNumbers;
    if (!whole(of[0], static_cast<std::size_t>(rows)) || !std::isfinite(of[1]) ||
        !whole(of[2], count) || !whole(of[3], 2) || !std::isfinite(of[4]))
      return false;
    nodes.push_back({static_cast<std::int32_t>(of[0]), of[1], static_cast<std::int32_t>(of[2]),
                     of[3] == 1, of[4]});
    const auto child = static_cast<std::size_t>(nodes.back().child);
    if (child > 0 && i + child + 1 >= count) return false;
  }
  return !base.empty() && roots.size() % base.size() == 0 &&
         std::ranges::all_of(base, [](double x) { return std::isfinite(x); }) &&
         std::ranges::all_of(roots, [&](std::int32_t root) {
           return root >= 0 && static_cast<std::size_t>(root) < count;
         });
}

}  // namespace edict

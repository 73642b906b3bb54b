// Boosted trees: what they can learn, against answers that are known, and that a file keeps them.
#include "learn/classifier/boosting.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/generator.h"

namespace edict {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

struct Table {
  Matrix<float> summaries;
  std::vector<std::int32_t> labels;
  operator LabelledSummaries() const { return {summaries, labels}; }
};

// Two rows that matter (one by its absence too) and two that do not.
Table drawn(Index series, std::uint64_t seed, Index classes = 2) {
  Generator random(seed, "boosting");
  Table table{Matrix<float>(4, series), {}};
  for (Index i = 0; i < series; ++i) {
    for (Index row = 0; row < 4; ++row)
      table.summaries(row, i) = static_cast<float>(random.normal());
    if (random.uniform() < 0.3) table.summaries(1, i) = kNan;
    const float x = table.summaries(0, i), y = table.summaries(1, i);
    // Neither row alone tells the class: an exclusive or, which absence joins.
    const int kind = (x > 0.3f ? 1 : 0) + 2 * (std::isnan(y) || y > 0 ? 1 : 0);
    table.labels.push_back(classes == 2 ? (kind == 1 || kind == 2 ? 1 : 0) : kind);
  }
  return table;
}

double accuracy(const BoostedTrees& trees, const Table& table, Index classes) {
  const Matrix<double> scores = trees.scores(table.summaries, classes);
  double right = 0;
  for (Index i = 0; i < scores.cols(); ++i) {
    Index best = 0;
    scores.col(i).maxCoeff(&best);
    right += best == table.labels[static_cast<std::size_t>(i)] ? 1 : 0;
  }
  return right / static_cast<double>(scores.cols());
}

BoostedTrees boosted(const Table& table, Index rows = 4, Index classes = 2, std::size_t threads = 1,
                     BoostingSettings settings = {}) {
  ThreadPool pool(threads);
  return boost(table, drawn(400, 2, classes), rows, classes, settings, pool);
}

TEST(Boosting, LearnsWhatTwoRowsTellTogether) {
  for (const Index classes : {2, 4}) {
    const BoostedTrees trees = boosted(drawn(2000, 1, classes), 4, classes);
    EXPECT_GT(accuracy(trees, drawn(2000, 3, classes), classes), 0.97) << classes;
    EXPECT_EQ(trees.roots.size() % BoostedTrees::outputs_for(static_cast<std::size_t>(classes)),
              0u);
  }
}

TEST(Boosting, ReadsOnlyTheRowsItMay) {
  // The first row alone tells the class of 65 in a hundred: so often is the second one missing or
  // above 0.
  const BoostedTrees trees = boosted(drawn(2000, 1), 1);
  for (const BoostedTrees::Node& node : trees.nodes) EXPECT_EQ(node.row, 0);
  EXPECT_NEAR(accuracy(trees, drawn(4000, 3), 2), 0.65, 0.03);
}

TEST(Boosting, OneTreeIsWorkedOutByHand) {
  // 30 series of class 0 below 1, 30 of class 1 from there on: p = 1/2 everywhere, so that a leaf
  // has the gradient ±30/2 and the curvature 30/4, and with a ridge of 1 the step ±15 / 8.5.
  Table table{Matrix<float>(1, 60), {}};
  for (Index i = 0; i < 60; ++i) {
    table.summaries(0, i) = i < 30 ? 0.0f : 2.0f;
    table.labels.push_back(i < 30 ? 0 : 1);
  }
  ThreadPool pool(1);
  const BoostedTrees trees =
      boost(table, table, 1, 2, {.rounds = 1, .leaves = 2, .rate = 1.0}, pool);
  ASSERT_EQ(trees.nodes.size(), 3u);
  EXPECT_EQ(trees.base, std::vector<double>{0.0});
  EXPECT_FLOAT_EQ(trees.nodes[0].threshold, 1.0f);
  const float low = 0.5f, high = 1.5f;
  EXPECT_FLOAT_EQ(trees.leaf(0, &low), -15 / 8.5f);
  EXPECT_FLOAT_EQ(trees.leaf(0, &high), 15 / 8.5f);
}

TEST(Boosting, BaseScoresAreTheFrequenciesOfTheClasses) {
  // Rows that are all the same: nothing to ask for.
  Table table{Matrix<float>::Constant(2, 300, 1.0f), std::vector<std::int32_t>(300, 0)};
  for (std::size_t i = 0; i < 100; ++i) table.labels[i] = 1;
  ThreadPool pool(1);
  const BoostedTrees trees = boost(table, table, 2, 2, {.rounds = 5}, pool);
  EXPECT_NEAR(trees.base.at(0), std::log(101.0 / 201.0), 1e-12);
}

TEST(Boosting, KeepsTheRoundsThatServeTheValidationSplit) {
  // Classes that nothing tells: the longer the worse.
  Table noise = drawn(300, 1), others = drawn(300, 2);
  Generator random(5, "labels");
  for (Table* table : {&noise, &others})
    for (std::int32_t& label : table->labels) label = random.uniform() < 0.5 ? 0 : 1;
  ThreadPool pool(1);
  const BoostedTrees trees = boost(noise, others, 4, 2, {.rounds = 200, .rate = 0.3}, pool);
  EXPECT_LT(trees.roots.size(), 10u);
}

TEST(Boosting, IsTheSameForEveryNumberOfThreads) {
  const Table table = drawn(1000, 1);
  const BoostedTrees one = boosted(table), many = boosted(table, 4, 2, 3);
  EXPECT_EQ(one.numbers(), many.numbers());
  EXPECT_EQ(one.roots, many.roots);
}

TEST(Boosting, AMonotoneChangeOfARowChangesNoAnswer) {
  const Table table = drawn(1000, 1);
  Table cubed = table;
  cubed.summaries.row(0) = cubed.summaries.row(0).array().cube();
  ThreadPool pool(1);
  const auto told = [&](const Table& own) {
    return boost(own, own, 4, 2, {.rounds = 30}, pool).scores(own.summaries, 2);
  };
  EXPECT_EQ(told(table), told(cubed));
}

TEST(Boosting, AFileKeepsTreesAndRefusesWhatIsNone) {
  const BoostedTrees trees = boosted(drawn(500, 1));
  std::vector<float> numbers = trees.numbers();
  BoostedTrees again = trees;
  again.nodes.clear();
  ASSERT_TRUE(again.set_numbers(numbers, 4));
  const Matrix<float> asked = drawn(50, 9).summaries;
  EXPECT_EQ(again.scores(asked, 2), trees.scores(asked, 2));
  EXPECT_FALSE(again.set_numbers(numbers, 0)) << "a row that is none";
  const auto refused = [&](std::size_t place, float value) {
    std::vector<float> wrong = numbers;
    wrong[place] = value;
    return !again.set_numbers(wrong, 4);
  };
  EXPECT_TRUE(refused(0, -1.0f));
  EXPECT_TRUE(refused(0, 0.5f));
  EXPECT_TRUE(refused(1, kNan));
  EXPECT_TRUE(refused(2, static_cast<float>(trees.nodes.size())));
  EXPECT_TRUE(refused(3, 2.0f));
  EXPECT_TRUE(refused(4, std::numeric_limits<float>::infinity()));
  again.roots.back() = static_cast<std::int32_t>(trees.nodes.size());
  EXPECT_FALSE(again.set_numbers(numbers, 4));
}

}  // namespace
}  // namespace edict

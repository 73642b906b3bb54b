// The program runs with the library of every level that this processor knows, and what they compute
// agrees: the loader is told which levels it may pick from.
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include "cli/tool.h"

namespace edict {
namespace {

class Level : public ToolTest, public testing::WithParamInterface<const char*> {
 protected:
  // Under the loader's eye: "none" is no level at all, so the baseline is left.
  Outcome run(const std::string& level, const std::string& arguments) {
    return edict(arguments, "/lib64/ld-linux-x86-64.so.2 --glibc-hwcaps-mask " + level);
  }
  bool known(const std::string& level) {
    return run(level, "--version").out.find("(" + level + ")") != std::string::npos;
  }
};

std::vector<double> numbers(const std::string& csv, std::size_t first_column) {
  std::vector<double> found;
  std::istringstream lines(csv);
  std::string line, cell;
  std::getline(lines, line);
  while (std::getline(lines, line)) {
    std::istringstream cells(line);
    for (std::size_t column = 0; std::getline(cells, cell, ','); ++column)
      if (column >= first_column) found.push_back(std::stod(cell));
  }
  return found;
}

void expect_close(const std::vector<double>& ours, const std::vector<double>& base,
                  double tolerance) {
  ASSERT_EQ(ours.size(), base.size());
  ASSERT_FALSE(ours.empty());
  for (std::size_t i = 0; i < ours.size(); ++i)
    EXPECT_NEAR(ours[i], base[i], tolerance * std::max(1.0, std::abs(base[i]))) << i;
}

const std::string kTrain =
    "train data.csv --set train.epochs=3 --set model.hidden=24 --set train.batch=32 --set "
    "data.t_cut=9.4 --out ";

TEST_F(Level, WithoutAnyTheBaselineIsLoaded) {
  EXPECT_NE(run("none", "--version").out.find("(x86-64)"), std::string::npos);
}

TEST_P(Level, PredictsAndLearnsAsTheBaselineDoes) {
  const std::string level = GetParam();
  if (!known(level)) GTEST_SKIP() << "this processor does not know " << level;
  ASSERT_EQ(run("none", "generate synthetic --series 200 --out data.csv").code, 0);
  ASSERT_EQ(run("none", kTrain + "base").code, 0);
  const std::string ask = "predict base data.csv --at 0:0.5:12 --out ";
  ASSERT_EQ(run("none", ask + "base.csv").code, 0);
  ASSERT_EQ(run(level, ask + "level.csv").code, 0);
  expect_close(numbers(read("level.csv"), 3), numbers(read("base.csv"), 3), 1e-5);

  ASSERT_EQ(run(level, kTrain + "level").code, 0);
  expect_close(numbers(read("level.metrics.csv"), 0), numbers(read("base.metrics.csv"), 0), 1e-3);
}

INSTANTIATE_TEST_SUITE_P(All, Level, testing::Values("x86-64-v3", "x86-64-v4"),
                         [](const auto& level) {
                           std::string name = level.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace edict

// The metrics file comes back as it was written, and nothing else is taken for one.
#include <gtest/gtest.h>

#include "base/error.h"
#include "learn/checkpoint.h"
#include "temporary_folder.h"

namespace edict {
namespace {

TEST(MetricsFile, ComesBackToTheLastDigit) {
  const TemporaryFolder folder;
  EpochRow first{1, 0.1 / 3, -1.0 / 7, 1e-300, 2, 3, 4.5, 5, true, 0, 0, 0};
  EpochRow second{2, 1e-4, 1, 2, 3, 4, 5, 6, false, 0.7, 2.0 / 3, 0.9};
  write_metrics({first, second}, folder / "m");
  const auto rows = read_metrics(folder / "m");
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].epoch, 1);
  EXPECT_EQ(rows[0].learning_rate, first.learning_rate);
  EXPECT_EQ(rows[0].nll, first.nll);
  EXPECT_EQ(rows[0].kl, first.kl);
  EXPECT_TRUE(rows[0].best);
  EXPECT_FALSE(rows[1].best);
  EXPECT_EQ(rows[1].validation_nll, 5);
  EXPECT_EQ(rows[1].validation_cross_entropy, second.validation_cross_entropy);
  EXPECT_EQ(rows[1].validation_accuracy, 0.9);
}

TEST(MetricsFile, WhatIsCutOffOrSomethingElseIsRefused) {
  const TemporaryFolder folder;
  write_metrics({EpochRow{}}, folder / "m");
  const std::string whole = folder.read("m");
  for (const std::string& text :
       {std::string(), std::string("epoch,loss\n1,2\n"), whole.substr(0, whole.size() - 1),
        whole + "2,x\n", whole + "1e300,0,0,0,0,0,0,0,0,0,0,0\n",
        whole + "nan,0,0,0,0,0,0,0,0,0,0,0\n", whole + "1.5,0,0,0,0,0,0,0,0,0,0,0\n",
        whole.substr(0, 40)}) {
    folder.write("m", text);
    EXPECT_THROW(read_metrics(folder / "m"), Error) << text;
  }
}

}  // namespace
}  // namespace edict

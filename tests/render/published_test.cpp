// The published tables as the program carries them, against numbers read off the paper.
#include "research/report/published.h"

#include <gtest/gtest.h>

namespace edict::report {
namespace {

TEST(Published, NumbersOfThePaper) {
  const Published& tables = Published::tables();
  const auto mse = tables.calibration("Synthetic", "EDICT", Task::extrapolation, Metric::mse);
  ASSERT_TRUE(mse);
  EXPECT_EQ(mse->mean, 0.009);
  EXPECT_EQ(mse->std, 0.01);
  const auto ece =
      tables.calibration("MIMICMort", "GRU-ODE-Bayes", Task::extrapolation, Metric::ece);
  ASSERT_TRUE(ece);
  EXPECT_EQ(ece->mean, 0.009);
  const auto accuracy = tables.score(Score::accuracy, "Synthetic", "EDICT w/ EDGR", 9);
  ASSERT_TRUE(accuracy);
  EXPECT_EQ(accuracy->mean, 77.1);
  EXPECT_EQ(accuracy->std, 1.0);
  const auto auroc = tables.score(Score::auroc, "PhysioNet", "GRU-D", 0);
  ASSERT_TRUE(auroc);
  EXPECT_EQ(auroc->mean, 83.0);
  const auto physionet = tables.dataset("PhysioNet");
  ASSERT_TRUE(physionet);
  EXPECT_EQ(physionet->series, 7990);
}

TEST(Published, WhatThePaperDoesNotSayIsEmpty) {
  const Published& tables = Published::tables();
  // Eight classes: accuracy only.
  EXPECT_FALSE(tables.score(Score::auroc, "Gestures", "EDICT", 0));
  EXPECT_FALSE(tables.score(Score::accuracy, "Synthetic", "EDICT", 10));
  EXPECT_FALSE(tables.calibration("Synthetic", "SeFT", Task::extrapolation, Metric::mse));
  EXPECT_FALSE(tables.dataset("synthetic"));
}

// 5 datasets and 3 binary ones × 10 levels × 7 methods.
TEST(Published, TheTablesAreWhole) {
  const Published& tables = Published::tables();
  int accuracy = 0, auroc = 0;
  for (const char* dataset : {"Synthetic", "Gestures", "Activity", "PhysioNet", "MIMICMort"})
    for (const char* method :
         {"EDICT", "EDICT w/ EDGR", "EDICT w/ Pop. Mean", "GRU-ODE-Bayes", "GRU-D", "IPN", "SeFT"})
      for (int level = 0; level < 10; ++level) {
        accuracy += tables.score(Score::accuracy, dataset, method, level).has_value();
        auroc += tables.score(Score::auroc, dataset, method, level).has_value();
      }
  EXPECT_EQ(accuracy, 350);
  EXPECT_EQ(auroc, 210);
}

}  // namespace
}  // namespace edict::report

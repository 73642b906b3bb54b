// A study made by hand: two methods on a small Synthetic, numbers that can be checked in the head.
#pragma once

#include <algorithm>

#include "research/import/synthetic.h"
#include "research/report/results.h"
#include "research/study.h"

namespace edict::report {

using study::Browse;
using study::BrowsedBand;
using study::BrowsedSeries;
using study::StudiedRun;
using study::Study;

inline CalibrationResult calibration(double mse, double ece) {
  CalibrationResult result{};
  result.mse = {mse, 0.002};
  result.ece = ece;
  result.level = interval_levels();
  for (std::size_t k = 0; k < kLevels; ++k) result.coverage[k] = {result.level[k], 0.1};
  for (std::size_t k = 0; k < kWidths; ++k) result.width[k] = result.coverage[k];
  return result;
}

// A point of a sweep: the accuracies of its seeds, AUROC a little above.
inline StressPoint point(int level, const std::vector<double>& accuracies) {
  StressPoint result;
  result.level = level;
  for (const double a : accuracies) {
    ClassificationResult& seed = result.seeds.emplace_back();
    seed.accuracy = a;
    seed.auroc.value = std::min(1.0, a + 0.05);
  }
  return result;
}

inline Browse browsed(const std::string& hostile) {
  const BrowsedBand calm{{0.0, 0.5, 1.0}, {1.0, 2.0, 1.5}, {0.0, 0.5, 1.0}, {1.0, 1.0, 2.0}, {}};
  BrowsedBand clipped = calm;
  clipped.clips = {{0.5, 9.0, 1.0, 5.0}};
  BrowsedSeries first;
  first.id = "s1" + hostile;
  first.label = "0";
  first.times = {0.0, 6.0, 12.0};
  first.features = {{"x1" + hostile, {{1.0, 0.4}, {5.0, 0.6}}, {{11.0, 1.1}}, {{1.0, 0.5}}}};
  first.features[0].noisy.emplace_back(0.5, 9.0);
  first.forecast = {{calm}, {{0.5, 0.2, 0.1}, {0.5, 0.8, 0.9}}};
  first.noisy = {{clipped}, {{0.5, 0.2, 0.1}, {0.5, 0.8, 0.9}}};
  BrowsedSeries second = first;
  second.id = "s2";
  second.label = "1" + hostile;
  return {0.9, 9.42, 3, {"0", "1" + hostile}, {first, second}};
}

// `hostile` is added to every name that a user may choose.
inline Study small_study(const std::string& hostile = {}) {
  Study study;
  study.plan.levels = {0, 9};
  study.plan.seeds = {0, 1};
  study::PlannedData data;
  data.name = "synthetic";
  data.title = "Synthetic" + hostile;
  data.time_unit = hostile;
  study.plan.datasets = {data};
  study.datasets.push_back({data, generate_synthetic(20, 0)});
  if (!hostile.empty()) {
    study.datasets[0].data.features[0] += hostile;
    study.datasets[0].data.ids[0] += hostile;
    study.datasets[0].data.classes[0] += hostile;
  }

  StudiedRun edict;
  edict.dataset = "synthetic";
  edict.method = "EDICT" + hostile;
  edict.folder = "synthetic-edict-0123abcd";
  edict.guards = {{}, {Guard::Kind::edgr}};
  edict.results.training = study::TrainingSummary{5, 100, 4, {1, 2, 3, 4, 5}};
  edict.results.evaluation =
      Evaluation{calibration(0.020, 0.15), std::nullopt, calibration(0.004, 0.05)};
  StressResult sweep;
  sweep.seeds = {0, 1};
  sweep.curves = {
      {{}, point(-1, {1.0, 1.0}), {point(0, {1.0, 1.0}), point(9, {0.60, 0.62})}},
      {edict.guards[1], point(-1, {1.0, 1.0}), {point(0, {1.0, 1.0}), point(9, {0.70, 0.70})}}};
  edict.results.stress = sweep;
  edict.results.browse = browsed(hostile);
  study.runs.push_back(edict);

  // Trained from two seeds: each run has one of the numbers.
  for (const int seed : {0, 1}) {
    StudiedRun run;
    run.dataset = "synthetic";
    run.method = "GRU-D";
    run.seed = seed;
    run.folder = seed == 0 ? "synthetic-gru-d-00000001" : "synthetic-gru-d-00000002";
    run.guards = {{}};
    run.results.training = study::TrainingSummary{2, 100, std::nullopt, {1, 2}};
    StressResult one;
    one.seeds = {seed};
    one.curves = {{{}, point(-1, {1.0}), {point(0, {0.9}), point(9, {seed == 0 ? 0.50 : 0.54})}}};
    run.results.stress = one;
    study.runs.push_back(run);
  }
  StudiedRun broken;
  broken.dataset = "synthetic";
  broken.method = "IPN";
  broken.guards = {{}};
  broken.failure = "preset <ipn> does not exist";
  study.runs.push_back(broken);
  return study;
}

inline const std::string kHostile = "</script><script>alert(1)</script><b>&\"'";

}  // namespace edict::report

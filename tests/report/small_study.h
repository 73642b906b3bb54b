// A study made by hand: two methods on a small Synthetic, numbers that can be checked in the head.
#pragma once

#include <cmath>

#include "edict/datasets/synthetic.h"
#include "edict/study/study.h"

namespace edict {

using nlohmann::json;

inline json calibration(double mse, double ece) {
  json curve = json::array(), level = json::array();
  for (int k = 1; k <= 20; ++k) {
    level.push_back(k / 21.0);
    curve.push_back({{"mean", k / 21.0}, {"std", 0.1}});
  }
  return {{"mse", {{"mean", mse}, {"std", 0.002}}},
          {"ece", ece},
          {"ece_per_series", {{"mean", ece + 0.1}, {"std", 0.01}}},
          {"ece_per_series_floor", 0.09},
          {"level", level},
          {"coverage", curve},
          {"width", curve}};
}

// A point of a sweep: the accuracies of its seeds, AUROC a little above.
inline json point(int level, const std::vector<double>& accuracies) {
  json result;
  if (level >= 0) result["level"] = level;
  for (const double a : accuracies)
    result["seeds"].push_back({{"accuracy", a}, {"auroc", std::min(1.0, a + 0.05)}});
  return result;
}

inline json browsed(const std::string& hostile) {
  const json numbers = {0.0, 0.5, 1.0};
  const json drawn{{"mean", numbers},
                   {"half", {1.0, 2.0, 1.5}},
                   {"aleatoric", numbers},
                   {"epistemic", {1.0, 1.0, 2.0}},
                   {"clips", json::array()}};
  json clipped = drawn;
  clipped["clips"].push_back({0.5, 9.0, 1.0, 5.0});
  const json view{{"features", {drawn}}, {"probability", {{0.5, 0.2, 0.1}, {0.5, 0.8, 0.9}}}};
  json noisy = view;
  noisy["features"][0] = clipped;
  json series{{"id", "s1"},
              {"label", "0"},
              {"times", {0.0, 6.0, 12.0}},
              {"forecast", view},
              {"noisy", noisy},
              {"features",
               {{{"name", hostile},
                 {"seen", {{1.0, 0.4}, {5.0, 0.6}}},
                 {"later", {{11.0, 1.1}}},
                 {"noisy", {{1.0, 0.5}, {0.5, 9.0}}}}}}};
  json second = series;
  second["id"] = "s2";
  second["label"] = "1";
  return {{"level", 0.9},
          {"t_cut", 9.42},
          {"noise_level", 3},
          {"classes", {"0", "1"}},
          {"series", {series, second}}};
}

inline Study small_study() {
  Study study;
  study.plan.levels = {0, 9};
  study.plan.seeds = {0, 1};
  PlannedData data;
  data.name = "synthetic";
  data.title = "Synthetic";
  study.plan.datasets = {data};
  study.datasets.push_back({data, generate_synthetic(20, 0)});

  StudiedRun edict;
  edict.dataset = "synthetic";
  edict.method = "EDICT";
  edict.folder = "synthetic-edict-0123abcd";
  edict.guards = {{}, {Guard::Kind::edgr}};
  edict.train = {{"best_epoch", 4}, {"epochs", 5}};
  edict.evaluate = {{"interpolation", calibration(0.020, 0.15)},
                    {"extrapolation", calibration(0.004, 0.05)}};
  const json curve{{"clean", point(-1, {1.0, 1.0})},
                   {"levels", {point(0, {1.0, 1.0}), point(9, {0.60, 0.62})}}};
  const json guarded{{"clean", point(-1, {1.0, 1.0})},
                     {"levels", {point(0, {1.0, 1.0}), point(9, {0.70, 0.70})}}};
  edict.stress = {{"guards", {{"none", curve}, {"edgr", guarded}}}};
  edict.browse = browsed("x1</script><b>&\"");
  study.runs.push_back(edict);

  // Trained from two seeds: each run has one of the numbers.
  for (int seed : {0, 1}) {
    StudiedRun run;
    run.dataset = "synthetic";
    run.method = "GRU-D";
    run.seed = seed;
    run.folder = seed == 0 ? "synthetic-gru-d-00000001" : "synthetic-gru-d-00000002";
    run.guards = {{}};
    run.train = {{"best_epoch", 1}, {"epochs", 2}};
    const double a = seed == 0 ? 0.50 : 0.54;
    run.stress = {
        {"guards",
         {{"none", {{"clean", point(-1, {1.0})}, {"levels", {point(0, {0.9}), point(9, {a})}}}}}}};
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

}  // namespace edict

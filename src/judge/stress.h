// The noise sweep: how well the classes of the test split are told apart as noise rises, with and
// without a guard on the observations.
//
// clang-format off
// Level ℓ of 0 … 9 sets ℓ·largest/9, which by the kind of noise is
//   compounding, asymmetric   the rate ρ (level 0 still adds strength·σ, as published)
//   bursts                    the share of the time span without observations
//   all others                the fraction of the values or (series, feature) pairs that is hit
// clang-format on
//
// Rate-driven noise is measured in the model's units, as published (raw ones with
// data.standardise=false); the other kinds in deviations of the training population.
//
// Seed s draws the noise and picks the classifier trained from seed s, if the model carries it,
// else its only one. What depends on the noise alone is computed once: a draw serves all guards, an
// encoding all that is read from it. Means and deviations (of the population, ÷ n) are over seeds.
#pragma once

#include <cmath>
#include <functional>
#include <vector>

#include "base/threads/interrupted.h"
#include "base/threads/thread_pool.h"
#include "judge/classes/classification_metrics.h"
#include "judge/mean_std.h"
#include "model/model.h"
#include "protocol/noise.h"

namespace edict {

struct StressOptions {
  std::vector<Guard> guards{{}};
  std::vector<int> levels{0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  std::vector<std::int64_t> seeds{0, 1, 2};
  NoiseSpec noise;       // kind, and whatever a level does not set
  double largest = 0.7;  // what level 9 reaches
  std::function<void(std::size_t done, std::size_t all)> progress;  // encodings
  StopFlag stop = nullptr;  // looked at before each encoding; set: Interrupted
};

// What level 9 reaches where nothing else is said.
double usual_largest(NoiseKind kind);

// The noise of a level; throws Error for one that does not exist.
NoiseSpec noise_at(const NoiseSpec& base, int level, double largest);

struct StressPoint {
  int level = -1;  // −1: no noise at all
  NoiseSpec noise;
  std::vector<ClassificationResult> seeds;
  double clipped = 0.0;  // share of the observations, over seeds
};

struct StressCurve {
  Guard guard;
  StressPoint clean;
  std::vector<StressPoint> levels;
};

struct StressResult {
  std::vector<StressCurve> curves;  // one a guard
  std::vector<std::int64_t> seeds;
  std::size_t series = 0, unlabelled = 0;

  // The sweep of a guard; null where it was not swept.
  const StressCurve* find(Guard::Kind guard) const;
};

// Over the given series, usually the test split. Throws Error for data that are not the model's, no
// labels, or a guard the model cannot serve.
StressResult stress(const Model& model, const Dataset& data, std::span<const std::size_t> series,
                    ThreadPool& pool, const StressOptions& options);

template <class Value>
MeanStd over_seeds(const StressPoint& point, Value value) {
  double sum = 0, squares = 0;
  const auto n = static_cast<double>(point.seeds.size());
  for (const ClassificationResult& r : point.seeds) sum += value(r);
  for (const ClassificationResult& r : point.seeds)
    squares += (value(r) - sum / n) * (value(r) - sum / n);
  return {sum / n, std::sqrt(squares / n)};
}

}  // namespace edict

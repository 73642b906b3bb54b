#include "judge/stress.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ask/classification.h"
#include "base/error.h"
#include "data/subset.h"

namespace edict {
namespace {

class Sweep {
 public:
  Sweep(const Model& model, const Dataset& data, std::span<const std::size_t> series,
        ThreadPool& pool, const StressOptions& options)
      : model_(model),
        pool_(pool),
        options_(options),
        labelled_(labelled_series(model, data, series)),
        data_(subset(data, labelled_.series)),
        all_(data_.size()) {
    std::iota(all_.begin(), all_.end(), std::size_t{0});
    encodings_ = options.guards.size() * (1 + options.levels.size() * options.seeds.size());
  }

  StressResult run() {
    StressResult result;
    result.seeds = options_.seeds;
    result.series = data_.size();
    result.unlabelled = labelled_.unlabelled;
    for (const Guard& guard : options_.guards) {
      StressCurve& curve = result.curves.emplace_back();
      curve.guard = guard;
      curve.clean.noise = options_.noise;
      score(data_, guard, options_.seeds, curve.clean);
    }
    for (const int level : options_.levels) {
      const NoiseSpec base = noise_at(options_.noise, level, options_.largest);
      for (StressCurve& curve : result.curves) {
        curve.levels.emplace_back().level = level;
        curve.levels.back().noise = base;
      }
      for (const std::int64_t seed : options_.seeds) {
        NoiseSpec noise = base;
        noise.seed = static_cast<std::uint64_t>(seed);
        const Dataset noisy = with_noise(model_.protocol, data_, {}, noise);
        for (StressCurve& curve : result.curves)
          score(noisy, curve.guard, std::span(&seed, 1), curve.levels.back());
      }
    }
    for (StressCurve& curve : result.curves) {
      for (StressPoint& point : curve.levels)
        point.clipped /= static_cast<double>(options_.seeds.size());
    }
    return result;
  }

 private:
  // Appends the results of the given seeds' classifiers on one encoding.
  void score(const Dataset& data, const Guard& guard, std::span<const std::int64_t> seeds,
             StressPoint& point) {
    leave_if_stopped(options_.stop);
    if (model_.first().readout.empty() && model_.network->has_distribution()) {
      const Encoding encoding = encode(model_, data, all_, pool_, guard);
      count(encoding.clipped, encoding.observations, point);
      for (const std::int64_t seed : seeds)
        add(class_probabilities(model_, encoding.states, model_.classifiers(seed)), point);
    } else {
      const ClassProbabilities p = class_probabilities(model_, data, all_, pool_, guard);
      count(p.clipped, p.observations, point);
      for (std::size_t s = 0; s < seeds.size(); ++s) add(p, point);
    }
    if (options_.progress) options_.progress(++done_, encodings_);
  }

  static void count(std::size_t clipped, std::size_t observations, StressPoint& point) {
    point.clipped +=
        static_cast<double>(clipped) / std::max(1.0, static_cast<double>(observations));
  }

  void add(const ClassProbabilities& p, StressPoint& point) const {
    point.seeds.push_back(
        classification_metrics(Predictions(p.values, labelled_.labels, p.classes)));
  }

  const Model& model_;
  ThreadPool& pool_;
  const StressOptions& options_;
  const LabelledSeries labelled_;
  const Dataset data_;  // the judged series
  std::vector<std::size_t> all_;
  std::size_t encodings_ = 0, done_ = 0;
};

}  // namespace

const StressCurve* StressResult::find(Guard::Kind guard) const {
  for (const StressCurve& curve : curves)
    if (curve.guard.kind == guard) return &curve;
  return nullptr;
}

double usual_largest(NoiseKind kind) {
  switch (kind) {
    case NoiseKind::compounding:
    case NoiseKind::asymmetric:
      return 0.7;
    case NoiseKind::spikes:
      return 0.5;
    case NoiseKind::bursts:
      return 0.9;
    default:
      return 1.0;
  }
}

NoiseSpec noise_at(const NoiseSpec& base, int level, double largest) {
  NoiseSpec noise = base;
  const double reached = noise_rate(level, largest);
  (by_rate(base.kind)               ? noise.rate
   : base.kind == NoiseKind::bursts ? noise.strength
                                    : noise.fraction) = reached;
  return noise;
}

StressResult stress(const Model& model, const Dataset& data, std::span<const std::size_t> series,
                    ThreadPool& pool, const StressOptions& options) {
  model.check_data(data);
  if (options.guards.empty() || options.seeds.empty())
    throw Error("a noise sweep needs at least one guard and one seed");
  for (const int level : options.levels) noise_at(options.noise, level, options.largest);
  if (model.network->classes() == 0)
    throw Error("this model has no classifier; make one with `edict classify`");
  return Sweep(model, data, series, pool, options).run();
}

}  // namespace edict

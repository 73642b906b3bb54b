#include "learn/posthoc/fuse.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <vector>

#include "base/threads/interrupted.h"
#include "learn/posthoc/calibrate.h"
#include "math/nelder_mead.h"
#include "math/special.h"
#include "model/infer.h"

namespace edict {
namespace {

// Observations without which nothing is learnt.
constexpr std::size_t kFewestHidden = 20;
constexpr double kFusedDofAbove = 2.1;  // a Student-t of 2 has no variance

// power, log backward, prior, log factor, slope, log disagreement, ln(dof − kFusedDofAbove)
using Numbers = std::array<double, 7>;

// Those of width and tails are a calibration's (calibrate.cpp).
constexpr Numbers kLeastNumbers{0.0, -3.0, -1.0, -2.8, -0.5, -8.0, -2.0};
constexpr Numbers kMostNumbers{2.0, 3.0, 1.0, 2.8, 0.5, 2.0, 6.0};
// The product of two Gaussians that know nothing in common, with tails.
constexpr Numbers kPlainProduct{1.0, 0.0, 0.0, 0.0, 0.0, -2.0, 1.5};
// How far numbers may be from what they are held to before that costs as much as an observation or
// two: wide for all features together, narrower for a feature's own, but for its tails.
constexpr Numbers kSpreadTogether{1.0, 1.0, 1.0, 1.0, 0.5, 2.0, 2.0};
constexpr Numbers kSpreadAlone{0.5, 0.7, 0.3, 0.5, 0.25, 2.0, 2.0};
constexpr Numbers kStep{0.3, 0.3, 0.2, 0.3, 0.1, 1.0, 0.5};
constexpr double kTolerance = 1e-7;
constexpr int kMostTurns = 1500;

FeatureFusion fusion_of(const Numbers& asked, double reference, double centre) {
  Numbers n;
  for (std::size_t k = 0; k < n.size(); ++k)
    n[k] = std::clamp(asked[k], kLeastNumbers[k], kMostNumbers[k]);
  return {reference, n[0], n[1], n[2], centre, n[3], n[4], n[5], kFusedDofAbove + std::exp(n[6])};
}

struct Hidden {
  Marginal forward, backward;
  double x;
};

// In units of the feature's usual scale around its centre, so that features can be fitted together.
struct OfFeature {
  double reference = 1.0, centre = 0.0;
  std::vector<Hidden> hidden;
};

double nll_of_fused(std::span<const Hidden> hidden, const Numbers& numbers) {
  const FeatureFusion fusion = fusion_of(numbers, 1.0, 0.0);
  const double dof = fusion.dof;
  const double constant = 0.5 * std::log(dof) - log_gamma_ratio(0.5 * dof, 0.5);
  double sum = 0;
  for (const Hidden& o : hidden) {
    const Marginal m = fusion.fused(o.forward, o.backward);
    const double z = (o.x - m.mean) / m.scale;
    sum += constant + std::log(m.scale) + 0.5 * (dof + 1.0) * std::log1p(z * z / dof);
  }
  return sum / static_cast<double>(hidden.size());
}

Numbers fitted(std::span<const Hidden> hidden, const Numbers& held_to, const Numbers& spread,
               StopFlag stop) {
  const auto count = static_cast<double>(hidden.size());
  const auto cost = [&](const Numbers& numbers) {
    leave_if_stopped(stop);
    double held = 0;
    for (std::size_t k = 0; k < numbers.size(); ++k) {
      const double off = (numbers[k] - held_to[k]) / spread[k];
      held += 0.5 * off * off;
    }
    return nll_of_fused(hidden, numbers) + held / count;
  };
  return nelder_mead(cost, held_to, kStep, kTolerance, kMostTurns);
}

std::vector<OfFeature> hidden_of(const Model& model, const Timelines& timelines, ThreadPool& pool,
                                 StopFlag stop) {
  InferenceOptions options;
  options.marginals = InferenceOptions::Marginals::observed;
  options.stop = stop;
  std::vector<OfFeature> of_feature(model.features.size());
  const std::size_t block = block_of_series(model);
  for (std::size_t begin = 0; begin < timelines.size(); begin += block) {
    const std::vector<Timeline<float>> some =
        timelines.written(model, begin, std::min(block, timelines.size() - begin), pool, options);
    const BothSides sides = infer_both_sides(model, some, pool, options);
    for (std::size_t i = 0; i < some.size(); ++i) {
      const std::vector<Marginal>& backward = sides.backward[i].marginals;
      std::size_t next = 0;
      each_observation(some[i], sides.forward[i],
                       [&](std::size_t, std::int32_t feature, const Marginal& forward, double x) {
                         if (next < backward.size())
                           of_feature[static_cast<std::size_t>(feature)].hidden.push_back(
                               {forward, backward[next], x});
                         ++next;
                       });
    }
  }
  return of_feature;
}

void standardise(OfFeature& feature, double centre) {
  double sum = 0;
  for (const Hidden& o : feature.hidden) sum += std::log(product_scale(o.forward, o.backward));
  feature.centre = centre;
  if (feature.hidden.empty()) return;
  feature.reference = std::exp(sum / static_cast<double>(feature.hidden.size()));
  for (Hidden& o : feature.hidden) {
    for (Marginal* m : {&o.forward, &o.backward}) {
      m->mean = (m->mean - centre) / feature.reference;
      m->scale /= feature.reference;
    }
    o.x = (o.x - centre) / feature.reference;
  }
}

}  // namespace

Fusion fit_fusion(const Model& model, const Timelines& timelines, ThreadPool& pool, StopFlag stop) {
  const std::vector<std::size_t> fit = calibration_halves(timelines).fit;
  const Timelines half = timelines.subset(fit);
  std::vector<OfFeature> of_feature = hidden_of(model, half, pool, stop);
  std::vector<Hidden> of_all;
  for (std::size_t j = 0; j < of_feature.size(); ++j) {
    standardise(of_feature[j], model.protocol.population_mean(j));
    of_all.insert(of_all.end(), of_feature[j].hidden.begin(), of_feature[j].hidden.end());
  }
  if (of_all.size() < kFewestHidden) return {};
  const Numbers all = fitted(of_all, kPlainProduct, kSpreadTogether, stop);
  Fusion fusion;
  fusion.fit_series = fit.size();
  fusion.features.resize(of_feature.size());
  pool.for_each(of_feature.size(), [&](std::size_t j, std::size_t) {
    const OfFeature& own = of_feature[j];
    fusion.features[j] =
        fusion_of(own.hidden.empty() ? all : fitted(own.hidden, all, kSpreadAlone, stop),
                  own.reference, own.centre);
  });
  return fusion;
}

}  // namespace edict

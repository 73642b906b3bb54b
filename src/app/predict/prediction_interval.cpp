#include "app/predict/prediction_interval.h"

#include <fmt/core.h>

#include <algorithm>

#include "ask/distribution.h"
#include "base/error.h"
#include "math/student_t.h"

namespace edict::app {
namespace {

double above(const Marginal& found, double x) { return probability_above(found, x); }
double above(const Conditional& found, double x) { return found.probability_above(x); }
double below(const Marginal& found, double x) { return probability_below(found, x); }
double below(const Conditional& found, double x) { return found.probability_below(x); }

}  // namespace

PredictionInterval::PredictionInterval(const PredictRequest& request, const Model& model)
    : request_(request),
      conformal_(request.conformal ? &model.calibration : nullptr),
      time_unit_(model.protocol.time_unit),
      standard_(request.quantiles.size()),
      quantiles_(request.quantiles.size()),
      limits_(request.limits.size()) {}

double PredictionInterval::level_at(std::size_t feature, double since) const {
  if (!conformal_) return request_.level;
  const FeatureCalibration& own = conformal_->features[feature];
  if (own.ranges.empty() || since <= own.ranges.back().until)
    return conformal_level(own.steps_at(since), request_.level);
  throw Error(
      ErrorCode::unsupported,
      {.subject = option("conformal"),
       .problem = fmt::format("{:.4g} after the last observation is beyond the {:.4g} up to which "
                              "intervals are calibrated",
                              since * time_unit_, own.ranges.back().until * time_unit_),
       .remedy = "give earlier times, or leave " + option("conformal") + " out"});
}

void PredictionInterval::fill(const Marginal& m, PredictedFeature& row) {
  if (!(m.dof == dof_ && row.level == level_)) {
    dof_ = m.dof;
    level_ = row.level;
    half_ = level_ < 1 ? half_width({0, 0, 0, 1, m.dof}, level_) : kInfinity;
    for (std::size_t k = 0; k < standard_.size(); ++k)
      standard_[k] = standard_quantile(request_.quantiles[k], m.dof);
  }
  row.marginal = &m;
  row.lower = m.mean - half_ * m.scale;
  row.upper = m.mean + half_ * m.scale;
  for (std::size_t k = 0; k < standard_.size(); ++k)
    quantiles_[k] = m.mean + standard_[k] * m.scale;
  fill_limits(m, row);
}

void PredictionInterval::fill(const Conditional& given, PredictedFeature& row) {
  const auto bound = [&](double side) {
    return row.level < 1 ? given.at_standard_score(side * normal_half_width(row.level))
                         : side * kInfinity;
  };
  row.median = given.median();
  row.lower = bound(-1.0);
  row.upper = bound(1.0);
  std::ranges::transform(request_.quantiles, quantiles_.begin(),
                         [&](double p) { return given.quantile(p); });
  fill_limits(given, row);
}

template <class Distribution>
void PredictionInterval::fill_limits(const Distribution& found, PredictedFeature& row) {
  std::ranges::transform(request_.limits, limits_.begin(), [&](const Limit& limit) {
    if (limit.feature != row.feature) return kNaN;
    return limit.above ? above(found, limit.value) : below(found, limit.value);
  });
  row.quantiles = quantiles_;
  row.limits = limits_;
}

}  // namespace edict::app

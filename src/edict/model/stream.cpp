#include "edict/model/stream.h"

#include <fmt/core.h>

#include <cmath>

#include "edict/core/error.h"

namespace edict {

Stream::Stream(const Model& model, std::span<const double> covariates, double start,
               const Guard& guard)
    : model_(model),
      guard_(guard),
      state_(model.network->stream(model.params.data())),
      now_(start) {
  if (!covariates.empty() && covariates.size() != model.statics.size())
    throw Error(fmt::format("the model has {} static covariates, {} were given",
                            model.statics.size(), covariates.size()));
  std::vector<float> standard(model.statics.size(), 0.0f);
  for (std::size_t c = 0; c < covariates.size(); ++c)
    if (std::isfinite(covariates[c]))
      standard[c] =
          static_cast<float>((covariates[c] - model.protocol.standardisation.statics_mean[c]) /
                             model.protocol.standardisation.statics_scale[c]);
  expected_.resize(model.features.size());
  features_.reserve(model.features.size());
  values_.reserve(model.features.size());
  state_->begin(standard);
}

Stream::~Stream() = default;

double Stream::gap_to(double time) const {
  if (!std::isfinite(time) || time < now_)
    throw Error(
        fmt::format("time {} lies before {}, where the stream stands; a stream only goes "
                    "forward",
                    time, now_));
  return (time - now_) / model_.protocol.time_unit;
}

void Stream::observe(double time, std::span<const Observation> observed) {
  const double gap = gap_to(time);
  features_.clear();
  values_.clear();
  for (const Observation& o : observed) {
    if (o.feature < 0 || static_cast<std::size_t>(o.feature) >= model_.features.size())
      throw Error(fmt::format("feature {} does not exist; the model has {}", o.feature,
                              model_.features.size()));
    if (!std::isfinite(o.value))
      throw Error(fmt::format("the value of '{}' at time {} is not finite; leave it out",
                              model_.features[static_cast<std::size_t>(o.feature)], time));
    for (const std::int32_t seen : features_)
      if (seen == o.feature)
        throw Error(fmt::format("feature '{}' is given twice at time {}",
                                model_.features[static_cast<std::size_t>(o.feature)], time));
    features_.push_back(o.feature);
    values_.push_back(static_cast<float>(
        model_.protocol.standardisation.to_standard(static_cast<std::size_t>(o.feature), o.value)));
  }
  state_->advance(gap);
  now_ = time;
  if (guard_.active()) {
    state_->expect(0.0, expected_);
    for (std::size_t k = 0; k < features_.size(); ++k) {
      const auto j = static_cast<std::size_t>(features_[k]);
      values_[k] = static_cast<float>(
          guard_.clip(values_[k], guard_.band(expected_[j], model_.protocol.population_mean(j),
                                              model_.protocol.population_deviation(j))));
    }
  }
  if (!features_.empty()) state_->absorb(features_, values_);
}

std::span<const Marginal> Stream::distribution(double time) {
  state_->expect(gap_to(time), expected_);
  for (std::size_t j = 0; j < expected_.size(); ++j)
    expected_[j] = to_raw(model_.protocol.standardisation, j, expected_[j]);
  return expected_;
}

}  // namespace edict

#include "model/fusion.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/json/json.h"
#include "base/json/json_values.h"

namespace edict {

double product_scale(const Marginal& a, const Marginal& b) {
  return a.scale / std::hypot(1.0, a.scale / b.scale);
}

Marginal FeatureFusion::fused(const Marginal& forward, const Marginal& backward) const {
  const double log_forward = -2.0 * power * std::log(forward.scale / reference);
  const double log_other = log_backward - 2.0 * power * std::log(backward.scale / reference);
  // In units of the larger one, so that none of them overflows.
  const double unit = std::max(log_forward, log_other);
  const double of_forward = std::exp(log_forward - unit), of_backward = std::exp(log_other - unit);
  const double of_prior = std::max(prior * std::exp(-unit), -std::min(of_forward, of_backward));
  const double all = of_forward + of_backward + of_prior;
  const double mean =
      (of_forward * forward.mean + of_backward * backward.mean + of_prior * centre) / all;
  const double scale = product_scale(forward, backward);
  const double above = std::clamp(std::log(scale / reference), -kFarthest, kFarthest);
  const double agreed = std::pow(scale * std::exp(log_factor + slope * above), 2);
  const double apart = forward.mean - backward.mean;
  const double contradiction =
      std::exp(log_disagreement) * of_forward * of_backward / (all * all) * apart * apart;
  const double square = agreed + contradiction, to_variance = dof / (dof - 2.0);
  const double epistemic =
      (of_forward * epistemic_share(forward) + of_backward * epistemic_share(backward)) /
      (of_forward + of_backward);
  return {mean, (1.0 - epistemic) * agreed * to_variance,
          (epistemic * agreed + contradiction) * to_variance, std::sqrt(square), dof};
}

nlohmann::json to_json(const Fusion& fusion) {
  nlohmann::json features = nlohmann::json::array();
  for (const FeatureFusion& own : fusion.features)
    features.push_back({{"reference", own.reference},
                        {"power", own.power},
                        {"log_backward", own.log_backward},
                        {"prior", own.prior},
                        {"centre", own.centre},
                        {"log_factor", own.log_factor},
                        {"slope", own.slope},
                        {"log_disagreement", own.log_disagreement},
                        {"dof", own.dof}});
  return {{"features", features}, {"fit_series", fusion.fit_series}};
}

Fusion fusion_from_json(const nlohmann::json& json, std::size_t features) {
  Fusion fusion;
  fusion.fit_series = count_from_json(json.at("fit_series"));
  for (const nlohmann::json& from : json.at("features")) {
    FeatureFusion& own = fusion.features.emplace_back();
    from.at("reference").get_to(own.reference);
    from.at("power").get_to(own.power);
    from.at("log_backward").get_to(own.log_backward);
    from.at("prior").get_to(own.prior);
    from.at("centre").get_to(own.centre);
    from.at("log_factor").get_to(own.log_factor);
    from.at("slope").get_to(own.slope);
    from.at("log_disagreement").get_to(own.log_disagreement);
    from.at("dof").get_to(own.dof);
    // Numbers beyond these give none; NaN is refused with them.
    constexpr double kMostPower = 4, kMost = 20;
    bool right = own.reference > 0 && own.dof > 2 && own.slope > -1 && own.power >= 0 &&
                 own.power <= kMostPower && std::isfinite(own.reference + own.centre + own.dof);
    for (const double number :
         {own.log_backward, own.prior, own.log_factor, own.slope, own.log_disagreement})
      right = right && std::abs(number) <= kMost;
    if (!right) throw Error("its fusion of two sides contradicts itself");
  }
  if (fusion.features.size() != features)
    throw Error("its fusion of two sides is of another number of features");
  return fusion;
}

}  // namespace edict

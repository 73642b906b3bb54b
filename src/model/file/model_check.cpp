#include "model/file/model_check.h"

#include <fmt/core.h>

#include <cmath>
#include <set>

#include "model/model.h"

namespace edict {
namespace {

std::string repeated_name(const char* what, const std::vector<std::string>& names) {
  std::set<std::string> seen;
  for (const std::string& name : names)
    if (!seen.insert(name).second) return fmt::format("its {} '{}' stands there twice", what, name);
  return {};
}

// Values are divided by a scale, so none may be zero, and a deviation is never negative.
std::string wrong_scale(const char* of, const std::vector<std::string>& names,
                        const std::vector<double>& mean, const std::vector<double>& scale) {
  if (mean.size() != names.size() || scale.size() != names.size())
    return fmt::format("its {} has {} means and {} scales for {} names", of, mean.size(),
                       scale.size(), names.size());
  for (std::size_t j = 0; j < names.size(); ++j) {
    if (!std::isfinite(mean[j]))
      return fmt::format("its {} has no finite mean for '{}'", of, names[j]);
    if (!(scale[j] > 0) || !std::isfinite(scale[j]))
      return fmt::format("its {} has the scale {} for '{}'", of, scale[j], names[j]);
  }
  return {};
}

}  // namespace

std::string wrong_protocol(const Model& model) {
  const Protocol& p = model.protocol;
  if (model.features.empty()) return "it has no features";
  const auto& z = p.standardisation;
  for (const std::string& wrong :
       {repeated_name("feature", model.features), repeated_name("covariate", model.statics),
        repeated_name("class", model.classes),
        wrong_scale("standardisation", model.features, z.mean, z.scale),
        wrong_scale("standardisation", model.statics, z.statics_mean, z.statics_scale),
        wrong_scale("population", model.features, p.population.mean, p.population.scale),
        wrong_scale("population", model.statics, p.population.statics_mean,
                    p.population.statics_scale)})
    if (!wrong.empty()) return wrong;
  if (!(p.time_unit > 0) || !std::isfinite(p.time_unit))
    return fmt::format("its time unit is {}", p.time_unit);
  if (!std::isfinite(p.t_cut)) return "its t_cut is not finite";
  if (!std::isfinite(p.horizon)) return "its horizon is not finite";
  const std::vector<double>& least = model.config.model.least_scale;
  if (!least.empty() && least.size() != model.features.size())
    return "its least scales are of another number of features";
  for (const double scale : least)
    if (!(scale >= 0 && std::isfinite(scale))) return "its least scales are no scales";
  for (const auto* features : {&model.config.model.unchanging, &model.config.model.sporadic})
    for (const std::size_t j : *features)
      if (j >= model.features.size()) return "a feature that it does not learn does not exist";
  return {};
}

std::string wrong_parameters(const Model& model) {
  for (const Member& member : model.members) {
    for (const Tensor& tensor : model.network->layout().tensors())
      if (!member.params.segment(tensor.offset, tensor.size).allFinite())
        return fmt::format("tensor '{}' holds a number that is not finite", tensor.name);
    if (!member.backward.allFinite())
      return "its backward network holds a number that is not finite";
    for (const SeedClassifier& own : member.seed_classifiers)
      if (!own.params.allFinite())
        return fmt::format("its classifier of seed {} holds a number that is not finite", own.seed);
    if (!member.readout.knots.allFinite()) return "its readout holds a knot that is not finite";
    for (const Vector<float>& own : member.readout.members)
      if (!own.allFinite()) return "its readout holds a number that is not finite";
  }
  return {};
}

}  // namespace edict

#include "front/cli/judged_classes.h"

#include <fmt/core.h>

#include "base/error.h"

namespace edict::cli {

JudgedClasses judged_classes(const Model& model, const Dataset& data,
                             const std::vector<std::size_t>& series, ThreadPool& pool,
                             const Guard& guard, const std::string& positive) {
  if (model.network->classes() == 0) {
    if (!positive.empty())
      throw Error("--positive: this model has no classifier; make one with `edict classify`");
    return {};
  }
  try {
    return {evaluate_classifier(model, data, series, pool, guard, positive), ""};
  } catch (const Error& error) {
    if (!model.network->has_distribution() || !positive.empty()) throw;
    return {std::nullopt, fmt::format("classes are not evaluated: {}", error.what())};
  }
}

}  // namespace edict::cli

#include "app/evaluate.h"

#include <fmt/core.h>

#include "base/error.h"

namespace edict::app {
namespace {

// Labels that the model does not know are no error where distributions are evaluated as well,
// unless a positive class was requested.
void evaluate_classes(const Model& model, const Dataset& data, const EvaluateRequest& request,
                      ThreadPool& pool, EvaluateResult& result) {
  if (model.network->classes() == 0) return;
  try {
    result.classes = evaluate_classifier(model, data, result.evaluated.series, pool, request.guard,
                                         request.positive);
  } catch (const Error& error) {
    if (!model.network->has_distribution() || !request.positive.empty()) throw;
    result.class_note = fmt::format("classes are not evaluated: {}", error.what());
  }
}

}  // namespace

void check(const EvaluateRequest& request, const Model& model) {
  if (!model.network->has_distribution() && (request.by_group || !request.horizons.empty()))
    throw Error(ErrorCode::unsupported,
                {.subject = option("by"),
                 .problem = model.config.model.kind + " predicts no distribution, only classes",
                 .remedy = "leave it out"});
  if (request.both_sides && model.fusion.empty())
    throw Error(
        ErrorCode::unsupported,
        {.subject = option("smooth"),
         .problem = request.model_name + " was not trained to look at both sides",
         .remedy = "train with " + option("train.smooth", "true") + ", or leave the option out"});
  if (!request.positive.empty() && model.network->classes() == 0)
    throw Error(ErrorCode::unsupported, {.subject = option("positive"),
                                         .problem = "this model has no classifier",
                                         .remedy = "make one with `edict classify`"});
}

EvaluateResult evaluate(const Model& model, const Dataset& data, const EvaluateRequest& request,
                        ThreadPool& pool) {
  check(request, model);
  EvaluateResult result{evaluated_series(model, data, request.split), {}, {}, {}};
  if (model.network->has_distribution())
    result.distributions = evaluate_in_detail(model, data, result.evaluated.series, pool,
                                              request.guard, request.horizons, request.stop,
                                              request.both_sides ? Sides::both : Sides::past);
  evaluate_classes(model, data, request, pool, result);
  return result;
}

}  // namespace edict::app

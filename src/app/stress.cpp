#include "app/stress.h"

#include <utility>
#include <vector>

namespace edict::app {
namespace {

// EDGR clips to what the model expects, which only a distribution says.
std::vector<Guard> usual_guards(const Model& model, const StressRequest& request) {
  std::vector<Guard> guards;
  for (const Guard::Kind kind : {Guard::Kind::none, Guard::Kind::edgr, Guard::Kind::population})
    if (kind != Guard::Kind::edgr || model.network->has_distribution())
      guards.push_back({kind, request.eta, request.deviation});
  return guards;
}

}  // namespace

StressReport stress(const Model& model, const Dataset& data, const StressRequest& request,
                    ThreadPool& pool) {
  StressOptions sweep = request.sweep;
  if (sweep.guards.empty()) sweep.guards = usual_guards(model, request);
  EvaluatedSeries evaluated = evaluated_series(model, data, request.split);
  StressResult result = edict::stress(model, data, evaluated.series, pool, sweep);
  return {std::move(evaluated), std::move(result)};
}

}  // namespace edict::app

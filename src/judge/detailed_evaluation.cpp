#include "judge/detailed_evaluation.h"

#include <utility>

#include "judge/judged_observation.h"

namespace edict {

DetailedEvaluation evaluate_in_detail(const Model& model, const Dataset& data,
                                      std::span<const std::size_t> series, ThreadPool& pool,
                                      const Guard& guard, std::vector<double> horizon_edges,
                                      StopFlag stop, Sides sides) {
  const Correlations& correlations = model.calibration.correlations;
  if (horizon_edges.empty()) horizon_edges = even_horizon_edges(model, data, series, pool);
  EvaluationSums evaluation;
  BreakdownSums breakdown(model, std::move(horizon_edges));
  EnsembleSums members;
  JointSums joint(correlations);
  const ShownObservations shown =
      add_up(model, data, series, pool, guard, stop, sides, evaluation, breakdown, members, joint);
  DetailedEvaluation result{evaluation.result(shown), breakdown.result(), {}, {}};
  if (model.members.size() > 1 && sides == Sides::past) result.members = members.result();
  if (!correlations.empty()) result.joint = joint.result();
  return result;
}

}  // namespace edict

#include "edict/eval/ensemble_score.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "edict/core/error.h"
#include "edict/core/json_values.h"
#include "edict/eval/calibration_metrics.h"
#include "edict/eval/judged_observation.h"
#include "edict/model/ensemble.h"

namespace edict {
namespace {

struct Sums {
  double mixture = 0, members = 0, disagreement = 0, epistemic = 0, count = 0;
};

double negative_log_score(const Marginal& marginal, double x) {
  SeriesCalibration one;
  one.add(marginal, x);
  return one.nll;
}

void add(std::span<const Marginal> members, double x, Sums& to) {
  const auto n = static_cast<double>(members.size());
  std::vector<double> scores;
  double own_doubt = 0;
  for (const Marginal& m : members) {
    scores.push_back(negative_log_score(m, x));
    to.members += scores.back() / n;
    own_doubt += m.epistemic / n;
  }
  // −log Σ exp(−scoreᵢ)/n, from the best score on, so that nothing underflows.
  const double best = *std::min_element(scores.begin(), scores.end());
  double sum = 0;
  for (const double score : scores) sum += std::exp(best - score);
  to.mixture += best - std::log(sum / n);
  const double doubt = mixture(members).epistemic;
  to.epistemic += doubt;
  to.disagreement += doubt - own_doubt;
  to.count += 1;
}

std::optional<EnsembleScore> mean_over_series(std::span<const Sums> series) {
  EnsembleScore score{0, 0, 0};
  double judged = 0, epistemic = 0;
  for (const Sums& own : series) {
    if (own.count == 0) continue;
    score.mixture_nll += own.mixture / own.count;
    score.members_nll += own.members / own.count;
    score.disagreement += own.disagreement;
    epistemic += own.epistemic;
    judged += 1;
  }
  if (judged == 0) return std::nullopt;
  score.mixture_nll /= judged;
  score.members_nll /= judged;
  score.disagreement = epistemic > 0 ? score.disagreement / epistemic : 0.0;
  return score;
}

}  // namespace

EnsembleScores ensemble_scores(const Model& model, const Dataset& data,
                               std::span<const std::size_t> series, ThreadPool& pool,
                               const Guard& guard) {
  if (model.members() == 1) throw Error("a single model has no members to compare");
  const std::vector<Agenda<float>> agendas = evaluation_agendas(model, data, series, pool);
  InferenceOptions options = model.inference_options(guard);
  options.marginals = InferenceOptions::Marginals::observed;
  const auto answers = infer_members(model, examples_of(agendas), pool, options);
  const double cut = model.protocol.to_model_time(model.protocol.t_cut);
  std::vector<Sums> before(series.size()), after(series.size());
  pool.for_each(series.size(), [&](std::size_t i, std::size_t) {
    std::vector<Marginal> own(model.members());
    std::size_t next = 0;
    each_observation(agendas[i], answers[0][i],
                     [&](std::size_t stop, std::int32_t, const Marginal&, double x) {
                       for (std::size_t m = 0; m < own.size(); ++m)
                         own[m] = answers[m][i].marginals[next];
                       ++next;
                       add(own, x, agendas[i].stops[stop].time < cut ? before[i] : after[i]);
                     });
  });
  return {mean_over_series(before), mean_over_series(after)};
}

nlohmann::json to_json(const EnsembleScore& score) {
  return {{"mixture_nll", score.mixture_nll},
          {"members_nll", score.members_nll},
          {"disagreement", score.disagreement}};
}

nlohmann::json to_json(const EnsembleScores& scores) {
  return {{"interpolation", json_or_null(scores.interpolation)},
          {"extrapolation", json_or_null(scores.extrapolation)}};
}

}  // namespace edict

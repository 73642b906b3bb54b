// What a trained model answers about series: distributions, classes, states, missing values, and
// how surprising an observation is.
#include <algorithm>

#include "ask/anomalies.h"
#include "ask/classification.h"
#include "ask/distribution.h"
#include "ask/expectations.h"
#include "ask/impute.h"
#include "ask/trajectory.h"
#include "base/error.h"
#include "front/capi/arguments.h"
#include "model/encode.h"

using namespace edict;
using namespace edict::capi;

int edict_model_predict(const edict_model* model, const edict_dataset* dataset, int64_t count,
                        const double* times, int which, double until, const edict_guard* guard,
                        int threads, edict_control* control, double* mean, double* aleatoric,
                        double* epistemic, double* scale, double* dof, int64_t* clipped) {
  return run_guarded([&] {
    const Model& m = model_of(model);
    const Matched matched(m, dataset);
    const Dataset& data = matched.data();
    const std::size_t asked = size_of(count, "count");
    if (asked > 0) check_given(times, "times");
    PredictRequest request;
    request.guard = guard_from(guard);
    request.absorb_until = until;
    request.stop = stop_of(control);
    if (which == EDICT_TIMES_OWN)
      request.own_times = [&](std::size_t i) { return times_from(times + i * asked, asked); };
    else
      request.times = times_from(times, asked);
    if (which == EDICT_TIMES_AHEAD) request.from = PredictRequest::From::last_observation;
    if (clipped) *clipped = 0;
    ThreadPool pool(threads_from(threads));
    std::size_t done = 0;
    predict(m, data, request, pool, [&](const Trajectory& trajectory) {
      const std::size_t first = trajectory.series * asked * m.features.size();
      for (std::size_t k = 0; k < trajectory.marginals.size(); ++k)
        put(trajectory.marginals[k], first + k, mean, aleatoric, epistemic, scale, dof);
      if (clipped) *clipped += static_cast<int64_t>(trajectory.clips.size());
      ++done;
      update(control, [&](edict_progress& p) {
        p.fraction = static_cast<double>(done) / static_cast<double>(data.size());
      });
    });
  });
}

int edict_model_probabilities(const edict_model* model, const edict_dataset* dataset, int64_t count,
                              const double* times, const edict_guard* guard, int threads,
                              edict_control* control, double* probabilities) {
  return run_guarded([&] {
    const Model& m = model_of(model);
    const Matched matched(m, dataset);
    check_given(probabilities, "probabilities");
    const std::vector<std::size_t> all = all_of(matched.data());
    const std::size_t asked = size_of(count, "count");
    ThreadPool pool(threads_from(threads));
    if (asked == 0) {
      copy_out(
          class_probabilities(m, matched.data(), all, pool, guard_from(guard), stop_of(control))
              .values,
          probabilities);
      return;
    }
    check_given(times, "times");
    for (const ClassProbabilities& path :
         class_probabilities_over_time(m, matched.data(), all, times_from(times, asked), pool,
                                       guard_from(guard), stop_of(control))) {
      copy_out(path.values, probabilities);
      probabilities += path.values.size();
    }
  });
}

int edict_model_encode(const edict_model* model, const edict_dataset* dataset,
                       const edict_guard* guard, int threads, edict_control* control,
                       float* states) {
  return run_guarded([&] {
    const Model& m = model_of(model);
    const Matched matched(m, dataset);
    check_given(states, "states");
    ThreadPool pool(threads_from(threads));
    const Encoding encoding = encode(m, matched.data(), all_of(matched.data()), pool,
                                     guard_from(guard), stop_of(control));
    // H × series by columns is series × H by rows.
    std::copy_n(encoding.states.data(), encoding.states.size(), states);
  });
}

int edict_model_impute(const edict_model* model, const edict_dataset* dataset, int64_t count,
                       const double* times, int sides, const edict_guard* guard, int threads,
                       edict_control* control, double* value, double* deviation) {
  return run_guarded([&] {
    const Model& m = model_of(model);
    const Matched matched(m, dataset);
    const Dataset& table = dataset->data;
    const std::size_t asked = size_of(count, "count");
    if (asked > 0) check_given(times, "times");
    ImputeRequest request;
    request.grid = times_from(times, asked);
    request.table = &table;
    request.sides = sides_from(m, sides);
    request.guard = guard_from(guard);
    request.stop = stop_of(control);
    ThreadPool pool(threads_from(threads));
    const std::vector<std::size_t> all = all_of(table);
    constexpr std::size_t kTogether = 512;  // so that memory is bounded by the caller's arrays
    for (std::size_t first = 0; first < all.size(); first += kTogether) {
      const auto some = std::span(all).subspan(first, std::min(kTogether, all.size() - first));
      for (const ImputedSeries& series : impute(m, matched.data(), request, some, pool)) {
        const std::size_t row =
            asked > 0 ? series.series * asked : table.first_event[series.series];
        const std::size_t at = row * m.features.size();
        if (value) std::copy(series.value.begin(), series.value.end(), value + at);
        if (deviation) std::copy(series.deviation.begin(), series.deviation.end(), deviation + at);
      }
    }
  });
}

int edict_model_surprise(const edict_model* model, const edict_dataset* dataset, double until,
                         const edict_guard* guard, int threads, edict_control* control,
                         double* mean, double* aleatoric, double* epistemic, double* scale,
                         double* dof, double* z, double* log_score, double* tail) {
  return run_guarded([&] {
    const Model& m = model_of(model);
    check_given(dataset, "dataset");
    const Dataset& data = dataset->data;
    m.check_data(data);
    if (!m.network->has_distribution()) throw no_distribution(m.config.model.kind);
    ExpectationRequest request;
    request.guard = guard_from(guard);
    request.absorb_until = until;
    request.stop = stop_of(control);
    ThreadPool pool(threads_from(threads));
    std::size_t k = 0;  // observations of all series so far
    for (const Expectations& series : expectations(m, data, all_of(data), request, pool))
      for (const ExpectedObservation& o : series.observations) {
        put(o.expected, k, mean, aleatoric, epistemic, scale, dof);
        const Surprise found = surprise(o.expected, o.observed);
        if (z) z[k] = found.z;
        if (log_score) log_score[k] = found.log_score;
        if (tail) tail[k] = tail_probability(o.expected, o.observed);
        ++k;
      }
  });
}

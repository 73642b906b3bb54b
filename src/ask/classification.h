// Class probabilities from raw series, at the end and as they evolve.
#pragma once

#include <span>
#include <vector>

#include "ask/trajectory.h"
#include "base/threads/thread_pool.h"
#include "model/encode.h"

namespace edict {

// [series × classes], row-major, each row summing to 1: what Predictions reads.
struct ClassProbabilities {
  std::size_t classes = 0;
  std::vector<double> values;
  std::size_t observations = 0, clipped = 0;  // what was read, and changed by the guard, at T

  std::span<const double> row(std::size_t i) const {
    return {values.data() + i * classes, classes};
  }
};

// With everything observed, at T. Throws Error for a model without classifier, for data that are
// not the model's, and for EDGR with a model that predicts no distribution; Interrupted when `stop`
// is set.
ClassProbabilities class_probabilities(const Model& model, const Dataset& data,
                                       std::span<const std::size_t> series, ThreadPool& pool,
                                       const Guard& guard = {}, StopFlag stop = nullptr);

// The same from states that are already encoded; `classifiers` are Model::classifiers, of one of
// the model's seeds or the chosen ones. An ensemble tells the mean of its members' probabilities.
ClassProbabilities class_probabilities(const Model& model, const Matrix<float>& states,
                                       const Vector<float>& classifiers);

// Along the times of a request: what the model would have decided just before the observations of
// that moment, had it been asked then; counted from the last observation, with everything absorbed.
struct ClassTrajectory {
  std::size_t series = 0;
  std::vector<double> times;         // in the data's unit
  ClassProbabilities probabilities;  // one row a time
};
// Of the listed series; request.series and request.absorb_until are not looked at.
std::vector<ClassTrajectory> class_trajectories(const Model& model, const Dataset& data,
                                                const PredictRequest& request,
                                                std::span<const std::size_t> series,
                                                ThreadPool& pool);

// The same on the clock alone, without the times.
std::vector<ClassProbabilities> class_probabilities_over_time(
    const Model& model, const Dataset& data, std::span<const std::size_t> series,
    const std::vector<double>& times, ThreadPool& pool, const Guard& guard = {},
    StopFlag stop = nullptr);

// The listed series that have a label, and their labels as the model numbers them.
struct LabelledSeries {
  std::vector<std::size_t> series;
  std::vector<std::int32_t> labels;
  std::size_t unlabelled = 0;
};
// Throws Error where none has a label, or one that the model does not know.
LabelledSeries labelled_series(const Model& model, const Dataset& data,
                               std::span<const std::size_t> series);

}  // namespace edict

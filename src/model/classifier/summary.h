// A series up to a moment as one column of numbers: what a classifier can read beside the state
// h(t). Of every feature what was observed first, last and on average, its deviation, extremes,
// recent average, age and number, all from the values as the guard let them pass; the covariates;
// h itself, and h averaged over the time before. What does not exist is NaN.
#pragma once

#include <span>
#include <vector>

#include "base/threads/thread_pool.h"
#include "model/model.h"

namespace edict {

// Rows of a summary, and how many of the last of them tell h.
Index summary_size(const Model& model);
Index state_rows(const Model& model);

// The network of a readout of one of the model's members.
SummaryClassifier summary_classifier(const Model& model, const Readout& readout);

struct Summaries {
  Matrix<float> values;  // summary_size × (series · times), times running first
  std::size_t observations = 0;
  std::vector<std::size_t> clipped;  // of these, by the guard; one a series
};

// h itself, hidden × columns.
Matrix<float> states_of(const Model& model, const Matrix<float>& summaries);

// At T, with everything observed (see encoding_timeline).
Summaries summarise(const Model& model, const Dataset& data, std::span<const std::size_t> series,
                    ThreadPool& pool, const Guard& guard = {}, StopFlag stop = nullptr);

// At times of each series' own (ascending, in the data's unit), each with what was observed before
// it. Throws Interrupted.
Summaries summarise(const Model& model, const Dataset& data, std::span<const std::size_t> series,
                    const std::vector<std::vector<double>>& times, ThreadPool& pool,
                    const Guard& guard = {}, StopFlag stop = nullptr);

}  // namespace edict

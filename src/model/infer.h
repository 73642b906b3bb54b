// Forward passes over many series, in chunks that threads share. What comes back depends on the
// series alone: neither on the number of threads nor on the other series.
#pragma once

#include <span>
#include <vector>

#include "base/threads/thread_pool.h"
#include "model/model.h"

namespace edict {

// One answer an example; of an ensemble, what its members say together (model/ensemble.h).
// Marginals are calibrated, where the model carries a calibration. `members`, if given, gets what
// each member of an ensemble answers by itself, uncalibrated, and nothing of a single model.
std::vector<Answer> infer(const Model& model, std::span<const Example> examples, ThreadPool& pool,
                          const InferenceOptions& options,
                          std::vector<std::vector<Answer>>* members = nullptr);

// The same as the network itself says it.
std::vector<Answer> infer_uncalibrated(const Model& model, std::span<const Example> examples,
                                       ThreadPool& pool, const InferenceOptions& options);

// What is said of a timeline from the past and from the future, by the networks themselves.
// `backward` is in the order of the timeline too, and ends where nothing is absorbed any more: its
// marginals are as many of the first ones as have a future.
struct BothSides {
  std::vector<Answer> forward, backward;  // one a timeline
};
BothSides infer_both_sides(const Model& model, std::span<const Timeline<float>> timelines,
                           ThreadPool& pool, const InferenceOptions& options);

// One answer a timeline, from everything that it absorbs before and after each query; where nothing
// comes after, it is that of `infer`. Marginals only: a state looks to one side. Guards act within
// each pass. Throws Error for a model without a fusion (train.smooth).
std::vector<Answer> infer_smoothed(const Model& model, std::span<const Timeline<float>> timelines,
                                   ThreadPool& pool, const InferenceOptions& options);

// What an answer may know: what was observed before its moment, or after it as well.
enum class Sides { past, both };

// `infer` or `infer_smoothed`.
std::vector<Answer> infer_from(Sides sides, const Model& model,
                               std::span<const Timeline<float>> timelines, ThreadPool& pool,
                               const InferenceOptions& options);

// Adds the losses of scored stops to `total`, in a fixed order: whether all series are given at
// once or block after block, it is the same sum. Throws Error for an ensemble: its members are
// trained one by one. Their CRPS only if it is wanted, since it takes longer than the rest.
void add_losses(const Model& model, std::span<const Example> examples, ThreadPool& pool, bool crps,
                StopFlag stop, LossSums& total);

// Class scores before the softmax, classes × examples; of an ensemble, the logarithms of its
// members' mean probabilities. `clips`, if given, gets one entry an
// example. Throws Error where a score is not finite.
Matrix<float> infer_classes(const Model& model, std::span<const Example> examples, ThreadPool& pool,
                            const InferenceOptions& options = {},
                            std::vector<std::vector<Clipped>>* clips = nullptr);

// How many series to infer at a time where there may be more than fit into memory: whole chunks.
std::size_t block_of_series(const Model& model);

// Timelines as examples; they must outlive them.
std::vector<Example> examples_of(std::span<const Timeline<float>> timelines);

// visit(stop, feature, expected, x) for every observation of the timeline's queries, in order;
// `answer` is to InferenceOptions::Marginals::observed.
template <class Visit>
void each_observation(const Timeline<float>& timeline, const Answer& answer, const Visit& visit) {
  std::size_t next = 0;
  for (std::size_t s = 0; s < timeline.stops.size(); ++s) {
    const auto& stop = timeline.stops[s];
    if (!(stop.what & Timeline<float>::kQuery)) continue;
    for (std::uint32_t k = stop.first; k < stop.first + stop.count; ++k)
      visit(s, timeline.feature[k], answer.marginals[next++], timeline.value[k]);
  }
}

}  // namespace edict

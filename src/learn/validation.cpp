#include "learn/validation.h"

#include <algorithm>

#include "model/classifier/state_classifier.h"
#include "model/infer.h"

namespace edict {

Validation validate(const Model& model, const TrainingSet& set, ThreadPool& pool, StopFlag stop) {
  const bool classes = set.criterion == Criterion::cross_entropy;
  LossSums sums;
  Matrix<float> scores(model.network->classes(), static_cast<Index>(set.validation.size()));
  const std::size_t block = block_of_series(model);
  for (std::size_t begin = 0; begin < set.validation.size(); begin += block) {
    const std::size_t count = std::min(block, set.validation.size() - begin);
    InferenceOptions stoppable;
    stoppable.stop = stop;
    const std::vector<Timeline<float>> timelines =
        set.validation.written(model, begin, count, pool, stoppable);
    const std::vector<Example> examples = examples_of(timelines);
    if (classes)
      scores.middleCols(static_cast<Index>(begin), static_cast<Index>(count)) =
          infer_classes(model, examples, pool);
    else
      add_losses(model, examples, pool, set.criterion == Criterion::crps, stop, sums);
  }
  Validation result;
  if (classes) {
    const LabelFit fit = label_fit(scores, set.validation_labels);
    result.cross_entropy = fit.mean_cross_entropy();
    result.accuracy = fit.accuracy();
    return result;
  }
  const double n = std::max(1.0, sums.observations);
  result.nll = sums.nll / n;
  result.mse = sums.squared_error / n;
  result.crps = sums.crps / n;
  result.judged = sums.observations > 0;
  return result;
}

}  // namespace edict

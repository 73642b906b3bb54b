// Trains the networks that classify from summaries (model/readout.h), each from a seed of its own
// for the same number of epochs, and boosted trees (train/boosting.h); chooses by the validation
// split's cross-entropy how much they count beside each other and the classifier on h(T).
#pragma once

#include <span>

#include "edict/train/classifier_training.h"

namespace edict {

// Fills the readout of result.model, and both fits.
void train_readout(const Dataset& data, const Split& split, std::span<const std::int32_t> labels,
                   ThreadPool& pool, StopFlag stop, ClassifierResult& result);

}  // namespace edict

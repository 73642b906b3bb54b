// Trains the networks that classify from summaries (model/classifier/readout.h), each from a seed
// of its own for the same number of epochs, and boosted trees (learn/classifier/boosting.h);
// chooses by the validation split's cross-entropy how much they count beside each other and the
// classifier on h(T), and then to which power their probabilities are raised.
//
// The power must not be fitted to probabilities that the same labels have improved by the choice of
// shares: for a fifth of the series after the other, the shares are chosen by the rest.
#pragma once

#include <functional>
#include <span>

#include "learn/classifier/classifier_training.h"

namespace edict {

// Fills the readout of result.model, and both fits.
void train_readout(const Dataset& data, const Split& split, std::span<const std::int32_t> labels,
                   ThreadPool& pool, StopFlag stop, ClassifierResult& result);

// The power with the least cross_entropy(power), a sum over series, held to 1 as if by a few of
// them, so that few series change little.
double fitted_power(const std::function<double(double power)>& cross_entropy);

}  // namespace edict

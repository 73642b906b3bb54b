// The parts of a cross-validation. The fold of a series is a function of data.seed, the number of
// folds and its own key (its id, or the name of its group under data.split = "group"): other
// series, their order and later additions never move it, and folds are equal in expectation only.
// Under data.split = "stratified" they are equal within each class, and additions can move series.
//
// In each fold, the series of that fold judge (the split's test part), and all others train or
// choose the epoch, in the proportion of data.train to data.validation and by their keys again:
// what judges has neither trained nor chosen. The series that data.seed keeps for the test split
// take no part in any fold, so that they can still judge what is chosen with its help.
#pragma once

#include <cstddef>
#include <vector>

#include "protocol/split.h"

namespace edict {

// Throws Error for fewer than two folds, or where one has nothing to train, choose or judge by.
std::vector<Split> cross_validation_splits(const Dataset& data, const DataSettings& settings,
                                           std::size_t folds);

}  // namespace edict

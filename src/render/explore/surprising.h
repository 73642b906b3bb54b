// The observations that a model expected least, for the table of the page of `edict explore`.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "ask/expectations.h"
#include "model/model.h"

namespace edict::report {

// −log₁₀ of how often something at least as far off is to be expected, which compares features of
// any unit and with tails of any weight.
double surprise_of(const Marginal& m, double x);

struct SurprisingObservation {
  std::size_t series, observation, event;  // place in the list of series; in the data's arrays
  Marginal expected;
  double z, surprise;
};

// Of all features, and of each, so that one feature that a model is too sure of does not hide the
// others.
class SurprisingObservations {
 public:
  // `all_features`: how many the model has; `features`: those to collect; empty: all.
  SurprisingObservations(std::size_t all_features, std::span<const std::size_t> features)
      : features_(features), of_feature_(all_features) {}

  // Of the series at this place in the list.
  void add(const Dataset& data, std::size_t place, std::size_t series,
           const Expectations& expected);
  // Each once, the most surprising first.
  std::vector<SurprisingObservation> sorted() const;

 private:
  std::span<const std::size_t> features_;
  std::vector<SurprisingObservation> all_;                      // the most surprising first
  std::vector<std::vector<SurprisingObservation>> of_feature_;  // the same of each feature
};

}  // namespace edict::report

// Which series of some data a model is evaluated on, and which of them it has seen.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "model/model.h"

namespace edict::app {

struct EvaluatedSeries {
  std::vector<std::size_t> series;
  std::string split;  // as requested, or "unseen" where all of them are new
  std::size_t trained = 0, validated = 0, unseen = 0;

  bool all_new() const { return unseen == series.size(); }
};

// `split`: train, validation, test, unseen or all, as the model recorded it in training; data of
// which the model has seen nothing are evaluated whole.
EvaluatedSeries evaluated_series(const Model& model, const Dataset& data, const std::string& split);

// What the calibration of a model counts: "series", or "group" and "groups" where data.split keeps
// groups together.
std::string calibrating(const Model& model, std::size_t count);

}  // namespace edict::app

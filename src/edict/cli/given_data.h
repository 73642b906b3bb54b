// The data of a command that takes MODEL and DATA, and which of its series are judged.
#pragma once

#include <CLI/App.hpp>
#include <cstddef>
#include <string>
#include <vector>

#include "edict/model/model.h"

namespace edict::cli {

// --split: the part of the data to judge, `split` by default.
void add_split(CLI::App& command, std::string& split);

// The data at `uri` with the model's columns; what does not fit is told on standard error.
Dataset open_for(const Model& model, const std::string& uri);

// The same of data that were read already.
Dataset matched(const Model& model, Dataset data);

struct JudgedSeries {
  std::vector<std::size_t> series;
  std::string split;  // as asked for, or "unseen" for a file of new series
  // What the reader of a result must know of them: that all are new, or that the model has seen
  // some. A line for the top of the output, empty where they are test series.
  std::string about;
  bool trained_on = false;  // any of them
};
JudgedSeries judged_series(const Model& model, const Dataset& data, const std::string& split);

}  // namespace edict::cli

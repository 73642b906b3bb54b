// The data of a command that takes MODEL and DATA, and which of its series are judged.
#pragma once

#include <CLI/App.hpp>
#include <cstddef>
#include <span>
#include <string>

#include "edict/model/model.h"

namespace edict::cli {

// --split: the part of the data to judge, `split` by default.
void add_split(CLI::App& command, std::string& split);

// The data at `uri` with the model's columns; what does not fit is told on standard error.
Dataset open_for(const Model& model, const std::string& uri);

// What the reader of a result must know of these series: that all are new, or that the model has
// seen some of them. A line for the top of the output, empty where they are test series.
std::string about_series(const Model& model, const Dataset& data,
                         std::span<const std::size_t> series);

bool any_trained_on(const Model& model, const Dataset& data, std::span<const std::size_t> series);

}  // namespace edict::cli

// The data of a command, how they are read, and which of their series are judged.
#pragma once

#include <CLI/App.hpp>
#include <cstddef>
#include <string>
#include <vector>

#include "app/evaluated_series.h"
#include "data/read/read_options.h"
#include "model/model.h"

namespace edict::cli {

// --split: the part of the data to judge, `split` by default.
void add_split(CLI::App& command, std::string& split);

// --id, --time, --label, --group, --static, --features, …: how a table is to be read.
void add_reading(CLI::App& command, ReadOptions& options);

// "note: " and the sentence, with options as on the command line.
std::string note_line(const std::string& note);
// On standard error.
void print_notes(const std::vector<std::string>& notes);

// The data at `uri`; what had to be guessed about it is told on standard error.
Dataset open_told(const std::string& uri, const ReadOptions& options = {});

// The same of data that were read already.
Dataset told(Dataset data);

// The data at `uri` to train on: a few long series are cut into pieces, which is told too.
Dataset open_to_train(const std::string& uri, const ReadOptions& options);

// The data at `uri`, read as the model's training data were, with every column or only those that
// the model knows.
enum class Columns { known, all };
ReadOptions as_trained(const Model& model, const ReadOptions& options, Columns columns);
Dataset open_as_trained(const Model& model, const std::string& uri, const ReadOptions& options = {},
                        Columns columns = Columns::known);

// The same with the model's columns; what does not fit is told on standard error. A model that
// learnt from pieces of series sees pieces again where it is judged, and whole series where it is
// asked for answers.
enum class Series { as_trained, whole };
Dataset open_for(const Model& model, const std::string& uri, const ReadOptions& options = {},
                 Series series = Series::as_trained);

// The same of data that were read already.
Dataset matched(const Model& model, Dataset data);

using app::calibrating;

// What the reader of a result must know of the evaluated series: that all are new, or that the
// model has seen some. A line for the top of the output, empty where they are test series.
std::string about(const app::EvaluatedSeries& evaluated);

}  // namespace edict::cli

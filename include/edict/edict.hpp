// edict for C++20: the C interface of edict.h behind classes that own what they hold and throw
// edict::Error. Header only; a program links libedict (edict::edict in CMake) and nothing else.
//
//   const auto data = edict::Dataset::read("export.csv");
//   const auto model = edict::Model::train(data);
//   const auto forecast = model.predict_ahead(data, std::vector{1.0, 6.0});
//   const auto [lower, upper] = forecast.at(0, 0, "puls").interval(0.9);
//
// Objects can be moved, not copied; a moved-from object can only be assigned or destroyed. A
// Dataset or a Model may be read by several threads at once, Streams and a DatasetBuilder belong to
// one thread at a time, and a Control is made to be shared. NaN is what was not observed. Times are
// numbers in the unit of the data. Arguments that do not fit each other in size throw
// std::invalid_argument. Results that are JSON are the texts that edict.h describes.
#ifndef EDICT_EDICT_HPP
#define EDICT_EDICT_HPP

#include "edict/dataset.hpp"   // Dataset, DatasetBuilder, ReadOptions
#include "edict/forecast.hpp"  // Distribution, Forecast, Imputation, ClassProbabilities, Surprise
#include "edict/general.hpp"   // Error, Control, Guard
#include "edict/model.hpp"     // Model, TrainOptions
#include "edict/stream.hpp"    // Stream, Streams

#endif

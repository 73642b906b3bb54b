// What a person wants to see of single series: observations, the distribution over time, what a
// guard clipped, and the class probabilities as they evolve.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>

#include "edict/core/thread_pool.h"
#include "edict/model/model.h"
#include "edict/protocol/noise.h"

namespace edict {

struct BrowseOptions {
  double level = 0.9;  // of the interval
  int points = 120;    // on the time axis
  int features = 6;    // drawn of each series: the most observed ones
  NoiseSpec noise;     // of the view under noise
  int noise_level = 0;
};

// Two views of each series: `forecast` absorbs what was observed before t_cut, `noisy` absorbs
// everything, with noise, through EDGR. `model` has a distribution; with a classifier there are
// class probabilities too, given what the view absorbed until then.
nlohmann::json browse(const Model& model, const Dataset& data, std::span<const std::size_t> series,
                      ThreadPool& pool, const BrowseOptions& options);

// `count` of `series`, evenly spread.
std::vector<std::size_t> spread(std::span<const std::size_t> series, std::size_t count);

}  // namespace edict

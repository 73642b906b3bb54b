// What a person wants to see of single series: observations, the distribution over time, what a
// guard clipped, and the class probabilities as they evolve.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/threads/thread_pool.h"
#include "model/model.h"
#include "protocol/noise.h"

namespace edict::study {

struct BrowseOptions {
  double level = 0.9;  // of the interval
  int points = 120;    // on the time axis
  int features = 6;    // drawn of each series: the most observed ones
  NoiseSpec noise;     // of the view under noise
  int noise_level = 0;
};

using TimedValues = std::vector<std::pair<double, double>>;

// An observation that the guard changed.
struct BrowsedClip {
  double time, raw, used;
  double sigmas;  // how far it was from what was expected
};

// The distribution of one feature at the times of its series.
struct BrowsedBand {
  std::vector<double> mean, half;            // of the central interval
  std::vector<double> aleatoric, epistemic;  // deviations
  std::vector<BrowsedClip> clips;
};

struct BrowsedView {
  std::vector<BrowsedBand> features;             // as BrowsedSeries::features
  std::vector<std::vector<double>> probability;  // [class][time]; empty without a classifier
};

struct BrowsedFeature {
  std::string name;
  TimedValues seen, later;  // observed before t_cut and from it on
  TimedValues noisy;        // all of them, with noise
};

struct BrowsedSeries {
  std::string id;
  std::optional<std::string> label;
  std::vector<double> times;
  std::vector<BrowsedFeature> features;
  BrowsedView forecast;  // given what was observed before t_cut
  BrowsedView noisy;     // given everything, with noise, through EDGR
};

struct Browse {
  double level = 0, t_cut = 0;
  int noise_level = 0;
  std::vector<std::string> classes;
  std::vector<BrowsedSeries> series;
};

// `model` has a distribution; with a classifier there are class probabilities too, given what the
// view absorbed until then. Numbers are rounded to five digits: enough for a picture.
Browse browse(const Model& model, const Dataset& data, std::span<const std::size_t> series,
              ThreadPool& pool, const BrowseOptions& options);

nlohmann::json to_json(const Browse& browse);
void from_json(const nlohmann::json& value, Browse& browse);

// `count` of `series`, evenly spread.
std::vector<std::size_t> spread(std::span<const std::size_t> series, std::size_t count);

}  // namespace edict::study

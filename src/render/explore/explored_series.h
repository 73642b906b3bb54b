// One series as the page of `edict explore` shows it: the distribution of every feature and the
// probability of every class over time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/threads/thread_pool.h"
#include "engine/heads/marginal.h"
#include "model/model.h"

namespace edict::report {

// A distribution as a band shows it.
struct BandPoint {
  double mean, half;  // of the central interval
  double deviation;   // predictive
  double share;       // of the variance that is aleatoric
};
// Where a distribution has no variance its deviation is its scale.
BandPoint band_point(const Marginal& marginal, double level);

// A curve over the times of a series' grid.
template <class Point>
struct Curve {
  std::vector<std::uint32_t> at;  // places in the grid, ascending
  std::vector<Point> points;
};
using Band = Curve<BandPoint>;

struct ExploredFeature {
  std::size_t feature;
  // Absorbing everything; and from the cut-off on, absorbing nothing after it.
  Band given, forecast;
};

// What is drawn over time of one series.
struct ExploredBands {
  std::vector<double> grid;  // times, ascending; twice where an event makes the distribution jump
  std::vector<ExploredFeature> features;
  // Of each class, as the features.
  std::vector<Curve<double>> given_probability, forecast_probability;
};

struct ExploreRequest {
  Guard guard;
  double level = 0.9;                 // of the interval
  std::vector<std::size_t> features;  // asked for; empty: those that a series has observed
  StopFlag stop = nullptr;
};

// The features that are shown of a series, ascending.
std::vector<std::size_t> shown_features(const Dataset& data, std::size_t series,
                                        const ExploreRequest& request);

// One entry a series. A model without a distribution has class probabilities only.
std::vector<ExploredBands> explored_bands(const Model& model, const Dataset& data,
                                          std::span<const std::size_t> series,
                                          const ExploreRequest& request, ThreadPool& pool);

// How much memory explored_bands takes for one series, about.
std::size_t band_bytes(const Model& model, const Dataset& data, std::size_t series);

// Without points that lie within `tolerance` of what a straight line between those that stay shows;
// of a band the tolerance is a share of its whole range, of a probability it is absolute.
Band thinned(const std::vector<double>& grid, const Band& band, double tolerance);
Curve<double> thinned(const std::vector<double>& grid, const Curve<double>& curve,
                      double tolerance);

// From the least lower to the largest upper bound.
struct BandExtent {
  double low, high;
};
BandExtent extent_of(const Band& band);

}  // namespace edict::report

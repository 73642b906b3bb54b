// One series as the page of `edict explore` shows it: observations with what was expected of each,
// and the distribution of every feature over time; and the few bytes that it becomes inside the
// page.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ask/expectations.h"
#include "base/threads/thread_pool.h"
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

// ---- bytes ----
// clang-format off
//
//   events            varint, then their times (ByteWriter::exact)
//   what follows      byte: 1 expectations of the observations, 2 bands, 4 probabilities, 8 clips,
//                     16 dates
//   cut               float64, the cut-off from which forecasts go
//   dates             float64 when time is 0, in microseconds of the data's own clock since 1970;
//                     varint bytes, then the times as the data write them, a line each
//   features          varint, then of each
//     feature, n      varints
//     events          n varints: the first, then differences
//     values          n numbers, exact
//     expectations    n signed varints: z · kZSteps  (kCoarseZSteps where there are no bands)
//       with bands    n deltas: log₂(predictive deviation) · kLogSteps; n deltas: share · kShareSteps
//       forecast      varint m: of the last m observations the same three, as forecast
//     clips           varint, then of each: varint place (differences), float64 what was used
//     bands           given and forecast, each: varint points; if any: float64 low, float64 high,
//                     deltas of place in the grid, of mean and half · kBandSteps / (high − low), of
//                     log₂(half / deviation) · kLogSteps, of share · kShareSteps
//   grid              if bands or probabilities: varint, float64 first, float64 last, deltas of
//                     (t − first) · kGridSteps / (last − first)
//   probabilities     given and forecast, of each class: varint points, deltas of places, deltas of
//                     p · kShareSteps
//
// clang-format on
inline constexpr int kZSteps = 1000, kCoarseZSteps = 20, kLogSteps = 256, kShareSteps = 1000;
inline constexpr int kBandSteps = 4096, kGridSteps = 1 << 20;

// `expected`: one entry an observation of the series in the dataset's order, or null without a
// distribution; `forecast`: the same, given only what came before the cut-off; null with `bands`.
struct ExploredParts {
  const Expectations* expected = nullptr;
  const Expectations* forecast = nullptr;
  const ExploredBands* bands = nullptr;
  double tolerance = 0;  // of the bands
};
std::string packed_series(const Model& model, const Dataset& data, std::size_t series,
                          const ExploreRequest& request, const ExploredParts& parts);

}  // namespace edict::report

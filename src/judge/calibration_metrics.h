// How good predictive distributions are, from pairs of a Marginal and the value that came true
// (paper, section 4.3.1 and "Expected Calibration Error"). Every metric is first taken for each
// series, then as mean and standard deviation (of the population) over the series: a series with
// many observations weighs no more than one with few.
//
//   mse    (x − mean)²                     nll    −log p(x), each observation on its own
//   crps   ∫ (F(y) − 1{y ≥ x})² dy         width  of the central interval of each level
//   coverage  share of x inside the central interval of each level, by the true t (or Gaussian)
//             quantiles; see interval_levels.h for the levels
//   pit    histogram of F(x), flat for a calibrated model; mean over series
//
// The expected calibration error is the published statistic: the mean over the levels of |coverage
// − level|, where coverage is the mean over series of each series' own.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "data/moments.h"
#include "engine/heads/marginal.h"
#include "judge/interval_levels.h"
#include "judge/mean_std.h"

namespace edict {

inline constexpr std::size_t kPitBins = 20;

// The sums of one series.
struct SeriesCalibration {
  std::uint32_t observations = 0;
  double squared_error = 0, nll = 0, crps = 0;
  PerWidth width{};
  // Observations whose narrowest holding interval is that of level k.
  std::array<std::uint32_t, kLevels> first_held{};
  std::array<std::uint32_t, kPitBins> pit{};

  // `unit` is the size of one unit of the marginal and x in the unit of the report: 1 to stay in
  // model units, the feature's standard deviation to report standardised values in their own.
  void add(const Marginal& marginal, double x, double unit = 1.0);

  PerLevel coverage() const;
  double ece() const;  // of its observations alone
};

struct CalibrationResult {
  std::size_t series = 0;        // with an observation to judge
  std::size_t empty_series = 0;  // without one; they enter no mean
  std::size_t observations = 0;
  MeanStd mse, nll, crps;
  double ece;
  PerLevel level;
  std::array<MeanStd, kLevels> coverage;
  std::array<MeanStd, kWidths> width;
  std::array<double, kPitBins> pit;
};

// What series come to together, in memory that does not grow with their number. They are added in
// one order whatever the number of threads, so that sums have the same bits.
class CalibrationSums {
 public:
  void add(const SeriesCalibration& series);
  bool empty() const { return series_ == 0; }
  // Throws Error where nothing was judged.
  CalibrationResult result() const;

 private:
  // The metrics of a series in a row: mse, nll, crps, then coverage, width and pit.
  static constexpr std::size_t kCoverage = 3, kWidth = kCoverage + kLevels, kPit = kWidth + kWidths,
                               kMetrics = kPit + kPitBins;

  std::size_t series_ = 0, empty_series_ = 0, observations_ = 0;
  std::array<RunningMoments, kMetrics> metrics_;
};

}  // namespace edict

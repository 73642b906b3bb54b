// Two Ornstein–Uhlenbeck processes with common noise, observed now and then, and their exact
// predictor: what no model can beat, so that how far it falls short is an absolute measure.
//
//   dX = θ (r − X) dt + σ dW,   corr(dW₁, dW₂) = ρ,   X(0) from the stationary distribution
//
// An observation holds one of the two values or both, each with measurement noise of deviation τ.
// Everything is Gaussian: given any observations before t, Kalman's equations give the
// distribution of what is observed at t.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "data/dataset.h"

namespace edict {

struct OrnsteinUhlenbeck {
  double theta = 1.0;
  std::array<double, 2> level{0.5, -0.5};  // r
  double sigma = 0.5;
  double correlation = 0.9;  // ρ
  double noise = 0.05;       // τ
  double length = 10.0;      // of a series
  double events = 20.0;      // of a series, on average; their times are uniform
  double both = 0.3;         // how many of them hold both values
};

// Features x1 and x2; series i draws from (seed, i) alone.
Dataset generate_ornstein_uhlenbeck(std::size_t series, std::uint64_t seed,
                                    const OrnsteinUhlenbeck& process = {});

// What is known of X, moved on through time and observations.
class ExactPredictor {
 public:
  explicit ExactPredictor(const OrnsteinUhlenbeck& process);

  struct Gaussian {
    double mean, variance;
  };
  // Of what would be observed of a feature at `time`, not before the last observation.
  Gaussian expected(double time, std::size_t feature) const;
  void observe(double time, const ObservationRange& observed);

 private:
  struct State {
    std::array<double, 2> mean;
    std::array<double, 3> covariance;  // of x1, of both, of x2
  };
  State at(double time) const;

  OrnsteinUhlenbeck process_;
  State state_;
  double time_ = 0.0;
};

}  // namespace edict

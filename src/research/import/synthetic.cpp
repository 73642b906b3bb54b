#include "research/import/synthetic.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>
#include <span>

#include "base/generator.h"

namespace edict {
namespace {

constexpr std::size_t kPoints = 251;  // of the grid on [0, 4π], step about 0.05
constexpr double kEnd = 4.0 * std::numbers::pi;
constexpr std::size_t kFewest = 12, kMost = 36;  // whole numbers in [T, 3T) cut off, T = 4π
constexpr double kJitter = 0.01;
constexpr std::array<std::array<double, 3>, 2> kMeans{{{0.1, 1.6, 0.5}, {-0.1, -0.4, -1.5}}};

// The waves of one series: a decaying pair in quadrature at frequency 1 and a third one at ω.
// Feature 1 follows the first pair in class 0 and the third wave in class 1.
struct Waves {
  std::size_t y;
  double s0, s1, omega;

  std::array<double, 3> at(double tau) const {
    const double amplitude = 1.0 / (1.0 + tau / 2.0);
    const double informative = y == 0 ? s0 + tau : s1 + omega * tau;
    return {amplitude * std::cos(informative) + kMeans[y][0],
            amplitude * std::sin(s0 + tau) + kMeans[y][1],
            amplitude * std::sin(s1 + omega * tau) + kMeans[y][2]};
  }
};

// Adds the rows that hold an observation; returns whether there were any.
bool add_rows(Dataset& dataset, const Waves& waves, Generator& rng) {
  std::array<std::size_t, kPoints> grid;
  std::iota(grid.begin(), grid.end(), std::size_t{0});
  const std::size_t count = kFewest + rng.below(kMost - kFewest + 1);
  for (std::size_t k = 0; k < count; ++k) std::swap(grid[k], grid[k + rng.below(kPoints - k)]);
  std::sort(grid.begin(), grid.begin() + count);

  bool any = false;
  for (std::size_t k = 0; k < count; ++k) {
    const double time = kEnd * static_cast<double>(grid[k]) / static_cast<double>(kPoints - 1);
    const auto values = waves.at(time + kJitter * rng.normal());
    bool begun = false;
    for (std::size_t f = 0; f < values.size(); ++f) {
      const double value = values[f] + kJitter * rng.normal();
      if (rng.uniform() < 0.5) continue;
      if (!begun) dataset.add_event(time);
      begun = true;
      dataset.add_observation(static_cast<std::int32_t>(f), value);
    }
    any |= begun;
  }
  return any;
}

}  // namespace

Dataset generate_synthetic(std::size_t series, std::uint64_t seed) {
  Dataset dataset;
  dataset.features = {"x1", "x2", "x3"};
  dataset.classes = {"0", "1"};
  for (std::size_t i = 0; i < series; ++i) {
    Generator rng(seed, "synthetic", i);
    Waves waves{};
    waves.y = rng.below(2);
    waves.s0 = rng.uniform(0.0, 2.0 * std::numbers::pi);
    waves.s1 = rng.uniform(0.0, 2.0 * std::numbers::pi);
    waves.omega = rng.uniform(0.0, 2.0);
    dataset.add_series(fmt::format("s{:05}", i), static_cast<std::int32_t>(waves.y));
    while (!add_rows(dataset, waves, rng)) {
    }
  }
  return dataset;
}

}  // namespace edict

#include "protocol/noise.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "base/error.h"

namespace edict {
namespace {

// `series` series of two features a and b, observed at times 0, 1, … , events − 1; the values are
// 100 + time and −time, so that every change shows.
Dataset ramps(std::size_t series, int events) {
  Dataset d;
  d.features = {"a", "b"};
  d.statics = {"age"};
  d.classes = {"0"};
  for (std::size_t i = 0; i < series; ++i) {
    const double age[] = {static_cast<double>(i)};
    d.add_series(fmt::format("s{}", i), 0, Dataset::kNone, age);
    for (int t = 0; t < events; ++t) {
      d.add_event(t);
      d.add_observation(0, 100.0 + t);
      d.add_observation(1, -t);
    }
  }
  return d;
}

// Clocks that start at 0, and deviations of the two features.
Protocol scales(double a, double b) {
  Protocol protocol;
  protocol.standardisation = protocol.population = {{100.0, 0.0}, {a, b}, {0.0}, {1.0}};
  return protocol;
}

NoiseSpec spec(NoiseKind kind, double rate, double strength, double fraction,
               std::uint64_t seed = 1) {
  return {kind, rate, strength, fraction, seed};
}

// Added noise of feature f at event e of each series.
std::vector<double> differences(const Dataset& noisy, const Dataset& clean, std::size_t event,
                                std::size_t feature) {
  std::vector<double> result;
  for (std::size_t i = 0; i < clean.size(); ++i) {
    const std::size_t e = clean.first_event[i] + event;
    result.push_back(noisy.observed(e)[feature].value - clean.observed(e)[feature].value);
  }
  return result;
}

double mean_of(const std::vector<double>& values, const std::function<double(double)>& f) {
  double sum = 0.0;
  for (const double value : values) sum += f(value);
  return sum / static_cast<double>(values.size());
}
double mean_of(const std::vector<double>& values) {
  return mean_of(values, [](double x) { return x; });
}
double root_mean_square(const std::vector<double>& values) {
  return std::sqrt(mean_of(values, [](double x) { return x * x; }));
}

// 20,000 draws: the relative standard error of a deviation is 1/√(2n) = 0.5 %; four are allowed.
TEST(Noise, CompoundingSpreadFollowsItsFormula) {
  const Dataset clean = ramps(20000, 4);
  const double rho = noise_rate(9, 0.7);
  const Dataset noisy =
      with_noise(scales(3.0, 1.0), clean, {}, spec(NoiseKind::compounding, rho, 0.1, 1.0));
  for (std::size_t t = 0; t < 4; ++t) {
    const double expected = 0.1 * std::pow(1.7, static_cast<double>(t));
    const auto a = differences(noisy, clean, t, 0), b = differences(noisy, clean, t, 1);
    EXPECT_NEAR(root_mean_square(a) / (3.0 * expected), 1.0, 0.02);
    EXPECT_NEAR(root_mean_square(b) / expected, 1.0, 0.02);
    EXPECT_NEAR(mean_of(b) / expected, 0.0, 4.0 / std::sqrt(20000.0));
  }
}

TEST(Noise, RateCountsInItsUnitOfTime) {
  const Dataset clean = ramps(20000, 4);
  NoiseSpec halves = spec(NoiseKind::compounding, 3.0, 0.1, 1.0);
  halves.unit = 2.0;  // (1 + 3)^(t/2) = 2^t
  const Dataset noisy = with_noise(scales(1.0, 1.0), clean, {}, halves);
  for (std::size_t t = 0; t < 4; ++t)
    EXPECT_NEAR(root_mean_square(differences(noisy, clean, t, 0)) / (0.1 * std::exp2(t)), 1.0,
                0.02);
  halves.unit = 0.0;
  EXPECT_THROW(with_noise(scales(1.0, 1.0), clean, {}, halves), Error);
}

// A shift of all times, or of each series by its own constant where clocks start at the first
// event, leaves what is added as it was.
TEST(Noise, GrowsWithTheTimeSinceTheClockOfASeriesStarts) {
  const Dataset clean = ramps(8, 12);
  Split split;
  for (std::size_t i = 0; i < clean.size(); ++i) split.train.push_back(i);
  const NoiseSpec noise = spec(NoiseKind::compounding, 0.7, 0.1, 1.0);
  for (const ClockStart start : {ClockStart::origin, ClockStart::first}) {
    const auto added = [&](double common, double own) {
      Dataset moved = clean;
      for (std::size_t i = 0; i < clean.size(); ++i)
        for (std::size_t e = clean.first_event[i]; e < clean.first_event[i + 1]; ++e)
          moved.times[e] += common + own * static_cast<double>(i);
      DataSettings settings;
      settings.start = start;
      settings.standardise = false;
      const Protocol protocol = fit_protocol(settings, moved, split);
      return with_noise(protocol, moved, {}, noise).value;
    };
    EXPECT_EQ(added(1024.0, 0.0), added(0.0, 0.0)) << settings::name_of(start);
    EXPECT_EQ(added(-1024.0, 0.0), added(0.0, 0.0)) << settings::name_of(start);
    if (start == ClockStart::first) {
      EXPECT_EQ(added(0.0, 4096.0), added(0.0, 0.0));
    }
  }
}

// |N(0,1)| has mean √(2/π) and variance 1 − 2/π.
TEST(Noise, AsymmetricNoiseIsOneSided) {
  const Dataset clean = ramps(20000, 3);
  const Dataset noisy =
      with_noise(scales(1.0, 2.0), clean, {}, spec(NoiseKind::asymmetric, 1.0, 0.1, 1.0));
  const auto b = differences(noisy, clean, 2, 1);
  for (const double x : b) ASSERT_GE(x, 0.0);
  const double s = 2.0 * 0.1 * 4.0;
  EXPECT_NEAR(mean_of(b) / s, std::sqrt(2.0 / M_PI), 4.0 * std::sqrt((1.0 - 2.0 / M_PI) / 20000.0));
}

TEST(Noise, AnEnormousRateStaysFinite) {
  const Dataset clean = ramps(50, 400);
  const Dataset noisy = with_noise(scales(std::numeric_limits<double>::max(), 1.0), clean, {},
                                   spec(NoiseKind::compounding, 250.0, 0.1, 1.0));
  bool large = false;
  for (std::size_t o = 0; o < noisy.observations(); ++o) {
    ASSERT_TRUE(std::isfinite(noisy.value[o]));
    ASSERT_TRUE(noisy.feature[o] == 0 || std::abs(noisy.value[o]) < 1e31);
    large |= noisy.feature[o] == 1 && std::abs(noisy.value[o]) > 1e29;
  }
  EXPECT_TRUE(large);
}

// 40,000 values, 5 % of them: four standard errors of the share are 0.0044.
TEST(Noise, SpikesReplaceAFractionByTheMeanAndManyDeviations) {
  const Dataset clean = ramps(5000, 4);
  const Dataset noisy =
      with_noise(scales(2.0, 7.0), clean, {}, spec(NoiseKind::spikes, 0.0, 5.0, 0.05));
  double high = 0, low = 0;
  for (std::size_t o = 0; o < clean.observations(); ++o) {
    const double value = noisy.value[o];
    if (value == clean.value[o]) continue;
    const bool a = clean.feature[o] == 0;
    const bool up = value == (a ? 110.0 : 35.0);
    ASSERT_TRUE(up || value == (a ? 90.0 : -35.0)) << value;
    ++(up ? high : low);
  }
  EXPECT_NEAR((high + low) / 40000.0, 0.05, 0.0044);
  EXPECT_NEAR(high / (high + low), 0.5, 0.045);
}

TEST(Noise, StuckRepeatsTheLastValueToTheEnd) {
  const Dataset clean = ramps(2000, 10);
  const Dataset noisy = with_noise(scales(1, 1), clean, {}, spec(NoiseKind::stuck, 0, 0, 0.3));
  double stuck = 0, moments = 0;
  for (std::size_t i = 0; i < clean.size(); ++i)
    for (std::size_t f = 0; f < 2; ++f) {
      std::size_t from = 10;  // the first event that differs
      for (std::size_t t = 0; t < 10; ++t) {
        const std::size_t e = clean.first_event[i] + t;
        const double value = noisy.observed(e)[f].value;
        if (from == 10 && value != clean.observed(e)[f].value) from = t;
        if (from < 10) {
          ASSERT_EQ(value, clean.observed(clean.first_event[i] + from - 1)[f].value);
        }
      }
      if (from < 10) ++stuck, moments += static_cast<double>(from);
    }
  // A moment in (k−1, k) of 9 shows first at event k: uniform on 1 … 9, mean 5, variance 60/9.
  EXPECT_NEAR(stuck / 4000.0, 0.3, 4.0 * std::sqrt(0.21 / 4000.0));
  EXPECT_NEAR(moments / stuck, 5.0, 4.0 * std::sqrt(60.0 / 9.0 / 1200.0));
}

TEST(Noise, DriftIsALinearRampThatEndsAtItsStrength) {
  const Dataset clean = ramps(500, 10);
  const Dataset noisy =
      with_noise(scales(3.0, 1.0), clean, {}, spec(NoiseKind::drift, 0, 2.0, 0.5));
  std::size_t drifting = 0;
  for (std::size_t i = 0; i < clean.size(); ++i) {
    std::vector<double> added;
    for (std::size_t t = 0; t < 10; ++t) {
      const std::size_t e = clean.first_event[i] + t;
      added.push_back(noisy.observed(e)[0].value - clean.observed(e)[0].value);
    }
    if (added[9] == 0.0) continue;
    ++drifting;
    EXPECT_NEAR(added[9], 6.0, 1e-12);
    if (added[7] == 0.0) continue;
    for (std::size_t t = 1; t + 1 < 10; ++t)
      if (added[t - 1] > 0.0) {
        EXPECT_NEAR(added[t + 1] - added[t], added[t] - added[t - 1], 1e-11);
      }
  }
  EXPECT_NEAR(static_cast<double>(drifting), 250.0, 45.0);  // four standard deviations
}

TEST(Noise, BurstsRemoveOneWindowAndTheEventsInIt) {
  const Dataset clean = ramps(300, 101);
  const Dataset noisy = with_noise(scales(1, 1), clean, {}, spec(NoiseKind::bursts, 0, 0.3, 1.0));
  ASSERT_EQ(noisy.size(), clean.size());
  EXPECT_EQ(noisy.ids, clean.ids);
  EXPECT_EQ(noisy.labels, clean.labels);
  EXPECT_EQ(noisy.static_values, clean.static_values);
  for (std::size_t i = 0; i < noisy.size(); ++i) {
    // A window of length 30 holds 30 whole times, or 31 where it begins at one.
    ASSERT_GE(noisy.events(i), 70u);
    ASSERT_LE(noisy.events(i), 71u);
    double widest = 0.0;
    for (std::size_t e = noisy.first_event[i]; e < noisy.first_event[i + 1]; ++e) {
      ASSERT_EQ(noisy.observed(e).size(), 2u);
      ASSERT_EQ(noisy.observed(e)[1].value, -noisy.times[e]);
      if (e > noisy.first_event[i]) widest = std::max(widest, noisy.times[e] - noisy.times[e - 1]);
    }
    const bool at_the_edge = noisy.times[noisy.first_event[i]] > 0.0 ||
                             noisy.times[noisy.first_event[i + 1] - 1] < 100.0;
    ASSERT_TRUE(at_the_edge || widest >= 31.0);
  }
  const Dataset gone = with_noise(scales(1, 1), clean, {}, spec(NoiseKind::bursts, 0, 1.0, 1.0));
  EXPECT_EQ(gone.size(), clean.size());
  EXPECT_EQ(gone.events(), 0u);
}

// The stretch between two uniform moments covers a third of the span in the mean.
TEST(Noise, UnitsScaleOneStretchByTen) {
  const Dataset clean = ramps(1000, 100);
  const Dataset noisy = with_noise(scales(1, 1), clean, {}, spec(NoiseKind::units, 0, 10.0, 0.5));
  double changed = 0.0;
  for (std::size_t i = 0; i < clean.size(); ++i) {
    int switches = 0;
    bool inside = false;
    for (std::size_t e = clean.first_event[i]; e < clean.first_event[i + 1]; ++e) {
      const double ratio = noisy.observed(e)[0].value / clean.observed(e)[0].value;
      ASSERT_TRUE(ratio == 1.0 || std::abs(ratio - 10.0) < 1e-12);
      if (inside != (ratio > 5.0)) ++switches, inside = ratio > 5.0;
      changed += inside;
    }
    ASSERT_LE(switches, 2);
  }
  // Half of the series × a third; the variance of one share is 1/12 − 1/36.
  EXPECT_NEAR(changed / 100000.0, 1.0 / 6.0, 4.0 * std::sqrt(1.0 / 18.0 / 1000.0));
}

TEST(Noise, ASeriesKeepsItsNoiseWhereverItStandsAndOthersAreLeftAlone) {
  const Dataset all = ramps(30, 12);
  const std::size_t few[] = {3, 17};
  for (int k = 0; k <= static_cast<int>(NoiseKind::units); ++k) {
    NoiseSpec noise = noise_from_name(name_of(static_cast<NoiseKind>(k)));
    noise.fraction = 0.7;
    const Dataset whole = with_noise(scales(1, 1), all, {}, noise);
    const Dataset part = with_noise(scales(1, 1), all, few, noise);
    bool changed = false;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const Dataset& expected = i == 3 || i == 17 ? whole : all;
      ASSERT_EQ(part.events(i), expected.events(i)) << name_of(noise.kind);
      for (std::size_t t = 0; t < part.events(i); ++t)
        for (std::size_t f = 0; f < 2; ++f)
          ASSERT_EQ(part.observed(part.first_event[i] + t)[f].value,
                    expected.observed(expected.first_event[i] + t)[f].value);
    }
    // The same draw again; another one with another seed.
    const auto sum = [](const Dataset& d) {
      double total = 0.0;
      for (const double value : d.value) total += value;
      return total;
    };
    EXPECT_EQ(sum(with_noise(scales(1, 1), all, {}, noise)), sum(whole));
    noise.seed = 99;
    changed |= sum(with_noise(scales(1, 1), all, {}, noise)) != sum(whole);
    EXPECT_TRUE(changed) << name_of(noise.kind);
  }
}

TEST(Noise, EmptyAndSingleEventSeriesAreBorne) {
  Dataset d = ramps(1, 1);
  const double age[] = {0.0};
  d.add_series("empty", 0, Dataset::kNone, age);
  for (int k = 0; k <= static_cast<int>(NoiseKind::units); ++k) {
    NoiseSpec noise = noise_from_name(name_of(static_cast<NoiseKind>(k)));
    noise.fraction = 1.0;
    const Dataset noisy = with_noise(scales(1, 1), d, {}, noise);
    ASSERT_EQ(noisy.events(0), 1u);
    EXPECT_EQ(noisy.events(1), 0u);
    for (const double value : noisy.value) EXPECT_TRUE(std::isfinite(value));
  }
}

TEST(Noise, LevelsAreEvenlySpaced) {
  EXPECT_EQ(noise_rate(0, 6.0), 0.0);
  EXPECT_DOUBLE_EQ(noise_rate(3, 6.0), 2.0);
  EXPECT_DOUBLE_EQ(noise_rate(9, 0.7), 0.7);
  EXPECT_THROW(noise_rate(10, 1.0), Error);
  EXPECT_THROW(noise_rate(-1, 1.0), Error);
}

TEST(Noise, BadParametersAreRefused) {
  const Dataset d = ramps(2, 2);
  const auto error_of = [&](const NoiseSpec& noise) -> std::string {
    try {
      with_noise(scales(1, 1), d, {}, noise);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_EQ(error_of(spec(NoiseKind::spikes, 0, 5, 1.5)),
            "noise 'spikes': fraction 1.5 cannot be; give a share from 0 to 1");
  EXPECT_EQ(error_of(spec(NoiseKind::compounding, -1, 0.1, 1)),
            "noise 'compounding': rate -1 cannot be; give a finite number above -1");
  EXPECT_EQ(error_of(spec(NoiseKind::asymmetric, 0, -0.1, 1)),
            "noise 'asymmetric': strength -0.1 cannot be; give one of at least 0");
  EXPECT_EQ(error_of(spec(NoiseKind::bursts, 0, 1.2, 1)),
            "noise 'bursts': strength 1.2 cannot be; give the share of the time span, from 0 to 1");
  EXPECT_NE(error_of(spec(NoiseKind::drift, 0, std::nan(""), 1)), "no error");
  EXPECT_THROW(with_noise(Protocol{}, d, {}, spec(NoiseKind::units, 0, 10, 1)), Error);
  const std::size_t beyond[] = {2};
  EXPECT_THROW(with_noise(scales(1, 1), d, beyond, NoiseSpec{}), Error);
  try {
    noise_from_name("hum");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "noise 'hum' is unknown; give one of compounding, asymmetric, spikes, stuck, "
                 "drift, bursts, units");
  }
}

}  // namespace
}  // namespace edict

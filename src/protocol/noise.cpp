#include "protocol/noise.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/generator.h"

namespace edict {
namespace {

constexpr double kLargestSpread = 1e30;
constexpr double kLargestValue = std::numeric_limits<double>::max();

struct Usual {
  std::string_view name;
  NoiseSpec spec;
};

constexpr std::array<Usual, 7> kUsual{{
    {"compounding", {NoiseKind::compounding, 0.0, 0.1, 1.0, 0}},
    {"asymmetric", {NoiseKind::asymmetric, 0.0, 0.1, 1.0, 0}},
    {"spikes", {NoiseKind::spikes, 0.0, 5.0, 0.05, 0}},
    {"stuck", {NoiseKind::stuck, 0.0, 0.0, 0.2, 0}},
    {"drift", {NoiseKind::drift, 0.0, 2.0, 0.2, 0}},
    {"bursts", {NoiseKind::bursts, 0.0, 0.3, 1.0, 0}},
    {"units", {NoiseKind::units, 0.0, 10.0, 0.1, 0}},
}};

// One series of the copy at work, its observations in place.
struct Subject {
  Dataset& dataset;
  std::size_t first, last;  // events
  double begin, end;        // times of the first and last event
  double clock;             // when the clock of the series starts

  template <class Visit>  // visit(time, feature, value)
  void each(Visit visit) const {
    for (std::size_t e = first; e < last; ++e)
      for (std::size_t o = dataset.first_observation[e]; o < dataset.first_observation[e + 1]; ++o)
        visit(dataset.times[e], static_cast<std::size_t>(dataset.feature[o]), dataset.value[o]);
  }
};

void add_spread(const Subject& subject, Generator& rng, const NoiseSpec& noise,
                const Standardisation& standardisation) {
  subject.each([&](double time, std::size_t f, double& value) {
    const double spread =
        std::min(noise.strength * std::pow(1.0 + noise.rate, (time - subject.clock) / noise.unit),
                 kLargestSpread);
    const double draw = noise.kind == NoiseKind::asymmetric ? std::abs(rng.normal()) : rng.normal();
    value += standardisation.scale[f] * spread * draw;
  });
}

void add_spikes(const Subject& subject, Generator& rng, const NoiseSpec& noise,
                const Standardisation& standardisation) {
  subject.each([&](double, std::size_t f, double& value) {
    const bool hit = rng.uniform() < noise.fraction;
    const double sign = rng.uniform() < 0.5 ? -1.0 : 1.0;
    if (hit) value = standardisation.to_raw(f, sign * noise.strength);
  });
}

// A stretch of time for each feature; empty (begin > end) for those that are spared. Features are
// drawn whether observed or not, so one feature's fault does not depend on another's presence.
struct Stretch {
  double begin = std::numeric_limits<double>::infinity();
  double end = -std::numeric_limits<double>::infinity();
};

std::vector<Stretch> draw_stretches(const Subject& subject, Generator& rng, double fraction,
                                    bool to_end) {
  std::vector<Stretch> stretches(subject.dataset.features.size());
  for (Stretch& stretch : stretches) {
    const bool hit = rng.uniform() < fraction;
    const double a = rng.uniform(subject.begin, subject.end);
    const double b = rng.uniform(subject.begin, subject.end);
    if (hit) stretch = to_end ? Stretch{a, subject.end} : Stretch{std::min(a, b), std::max(a, b)};
  }
  return stretches;
}

void add_stuck(const Subject& subject, Generator& rng, const NoiseSpec& noise) {
  const auto stretches = draw_stretches(subject, rng, noise.fraction, true);
  std::vector<double> last(stretches.size(), std::numeric_limits<double>::quiet_NaN());
  subject.each([&](double time, std::size_t f, double& value) {
    if (time >= stretches[f].begin && !std::isnan(last[f]))
      value = last[f];
    else
      last[f] = value;
  });
}

void add_drift(const Subject& subject, Generator& rng, const NoiseSpec& noise,
               const Standardisation& standardisation) {
  const auto stretches = draw_stretches(subject, rng, noise.fraction, true);
  subject.each([&](double time, std::size_t f, double& value) {
    const double start = stretches[f].begin;
    if (time > start)
      value += noise.strength * standardisation.scale[f] * (time - start) / (subject.end - start);
  });
}

void change_units(const Subject& subject, Generator& rng, const NoiseSpec& noise) {
  const auto stretches = draw_stretches(subject, rng, noise.fraction, false);
  subject.each([&](double time, std::size_t f, double& value) {
    const Stretch& stretch = stretches[f];
    if (time >= stretch.begin && time <= stretch.end) value *= noise.strength;
  });
}

// NaN marks an observation to be dropped.
void remove_burst(const Subject& subject, Generator& rng, const NoiseSpec& noise) {
  const bool hit = rng.uniform() < noise.fraction;
  const double length = noise.strength * (subject.end - subject.begin);
  const double start = rng.uniform(subject.begin, subject.end - length);
  if (!hit || length <= 0.0) return;
  subject.each([&](double time, std::size_t, double& value) {
    if (time >= start && time <= start + length) value = std::numeric_limits<double>::quiet_NaN();
  });
}

Dataset without_dropped(const Dataset& dataset) {
  Dataset result;
  result.features = dataset.features;
  result.statics = dataset.statics;
  result.classes = dataset.classes;
  result.groups = dataset.groups;
  for (std::size_t i = 0; i < dataset.size(); ++i) {
    result.add_series(dataset.ids[i], dataset.labels[i], dataset.group_of[i],
                      dataset.covariates(i));
    for (std::size_t e = dataset.first_event[i]; e < dataset.first_event[i + 1]; ++e) {
      const auto observed = dataset.observed(e);
      const auto kept = [](const Observation& o) { return !std::isnan(o.value); };
      if (std::none_of(observed.begin(), observed.end(), kept)) continue;
      result.add_event(dataset.times[e]);
      for (const Observation& observation : observed)
        if (kept(observation)) result.add_observation(observation.feature, observation.value);
    }
  }
  return result;
}

void check(const Dataset& dataset, std::span<const std::size_t> series, const NoiseSpec& noise,
           const Standardisation& standardisation) {
  const auto refuse = [&](std::string_view what, double given, std::string_view wanted) {
    throw Error(fmt::format("noise '{}': {} {} cannot be; give {}", name_of(noise.kind), what,
                            given, wanted));
  };
  if (!(noise.fraction >= 0.0 && noise.fraction <= 1.0))
    refuse("fraction", noise.fraction, "a share from 0 to 1");
  if (!(noise.rate > -1.0 && std::isfinite(noise.rate)))
    refuse("rate", noise.rate, "a finite number above -1");
  if (!(noise.unit > 0.0 && std::isfinite(noise.unit)))
    refuse("unit", noise.unit, "a finite number above 0");
  if (!std::isfinite(noise.strength)) refuse("strength", noise.strength, "a finite number");
  const bool drifts = noise.kind == NoiseKind::drift || noise.kind == NoiseKind::units;
  if (!drifts && noise.strength < 0.0) refuse("strength", noise.strength, "one of at least 0");
  if (noise.kind == NoiseKind::bursts && noise.strength > 1.0)
    refuse("strength", noise.strength, "the share of the time span, from 0 to 1");
  if (standardisation.scale.size() != dataset.features.size() ||
      standardisation.mean.size() != dataset.features.size())
    throw Error(
        fmt::format("noise: a standardisation of {} features for data with {}; fit it on "
                    "this data",
                    standardisation.scale.size(), dataset.features.size()));
  for (const std::size_t i : series)
    if (i >= dataset.size())
      throw Error(fmt::format("noise: there is no series {}; the data has {}", i, dataset.size()));
}

}  // namespace

NoiseSpec noise_from_name(std::string_view name) {
  std::string known;
  for (const Usual& usual : kUsual) {
    if (usual.name == name) return usual.spec;
    known += known.empty() ? "" : ", ";
    known += usual.name;
  }
  throw Error(fmt::format("noise '{}' is unknown; give one of {}", name, known));
}

bool by_rate(NoiseKind kind) {
  return kind == NoiseKind::compounding || kind == NoiseKind::asymmetric;
}

std::string_view name_of(NoiseKind kind) { return kUsual[static_cast<std::size_t>(kind)].name; }

double noise_rate(int level, double largest_rate) {
  if (level < 0 || level > 9)
    throw Error(fmt::format("noise level {} does not exist; give one from 0 to 9", level));
  return level * largest_rate / 9.0;
}

Dataset with_noise(const Protocol& protocol, const Dataset& dataset,
                   std::span<const std::size_t> series, const NoiseSpec& noise) {
  const Standardisation& standardisation =
      by_rate(noise.kind) ? protocol.standardisation : protocol.population;
  check(dataset, series, noise, standardisation);
  std::vector<std::size_t> all;
  if (series.empty()) {
    all.resize(dataset.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    series = all;
  }
  Dataset result = dataset;
  for (const std::size_t i : series) {
    if (result.events(i) == 0) continue;
    const std::size_t first = result.first_event[i], last = result.first_event[i + 1];
    const Subject subject{result,
                          first,
                          last,
                          result.times[first],
                          result.times[last - 1],
                          protocol.start_of(result, i)};
    Generator rng(noise.seed, name_of(noise.kind), hash_of(result.ids[i]));
    switch (noise.kind) {
      case NoiseKind::compounding:
      case NoiseKind::asymmetric:
        add_spread(subject, rng, noise, standardisation);
        break;
      case NoiseKind::spikes:
        add_spikes(subject, rng, noise, standardisation);
        break;
      case NoiseKind::stuck:
        add_stuck(subject, rng, noise);
        break;
      case NoiseKind::drift:
        add_drift(subject, rng, noise, standardisation);
        break;
      case NoiseKind::bursts:
        remove_burst(subject, rng, noise);
        break;
      case NoiseKind::units:
        change_units(subject, rng, noise);
        break;
    }
    subject.each([](double, std::size_t, double& value) {
      if (std::isinf(value)) value = std::copysign(kLargestValue, value);
    });
  }
  return noise.kind == NoiseKind::bursts ? without_dropped(result) : result;
}

}  // namespace edict

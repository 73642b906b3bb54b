#include "front/server/demo/demo_ward.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "data/read/dataset_builder.h"

namespace edict::server {
namespace {

constexpr std::size_t kFeatures = kWardFeatures.size();
// Of healthy adults at rest, of how much patients differ, of how far one patient wanders within
// minutes, and of the instruments.
constexpr std::array<double, kFeatures> kMean = {78, 84, 97.2, 15.5, 36.8};
constexpr std::array<double, kFeatures> kBetween = {9, 6, 0.7, 1.8, 0.25};
constexpr std::array<double, kFeatures> kWander = {4, 3.2, 0.5, 1.2, 0.08};
constexpr std::array<double, kFeatures> kInstrument = {1.2, 1.6, 0.35, 0.6, 0.05};
constexpr std::array<double, kFeatures> kMinutes = {4, 5, 4, 3, 20};  // of the wandering
// What an illness at its height adds.
constexpr std::array<std::array<double, kFeatures>, 3> kIllness = {{
    {38, -30, -1.0, 6, -0.2},  // shock
    {18, 4, -11.0, 11, 0.0},   // hypoxia
    {26, -5, -0.8, 5, 2.2},    // fever
}};
// How often each is measured when a monitor reports.
constexpr std::array<double, kFeatures> kMeasured = {0.95, 0.45, 0.9, 0.6, 0.12};
constexpr std::array<double, kFeatures> kDigits = {1, 1, 1, 1, 10};  // whole numbers, or tenths
constexpr double kOxygenMost = 100.0;
constexpr double kHour = 60.0;

double exponential(Generator& random, double mean) {
  return -mean * std::log(1.0 - random.uniform());
}

// From 0 to 1 without a corner.
double smooth(double x) {
  x = std::clamp(x, 0.0, 1.0);
  return x * x * (3.0 - 2.0 * x);
}

}  // namespace

Patient::Patient(std::uint64_t seed, std::uint64_t number, std::optional<double> ill_at)
    : random_(seed, "ward", number) {
  for (std::size_t j = 0; j < kFeatures; ++j) {
    usual_[j] = kMean[j] + kBetween[j] * std::clamp(random_.normal(), -2.0, 2.0);
    wander_[j] = kWander[j] * random_.normal();
  }
  fall_ill();
  // One may be in the middle of it when the first round is made.
  begins_ = random_.uniform(-20.0, 120.0);
  if (!ill_at) return;
  begins_ = *ill_at;
  illness_ = static_cast<Illness>(number % kIllness.size());
  strength_ = random_.uniform(0.9, 1.1);
}

void Patient::fall_ill() {
  illness_ = static_cast<Illness>(random_.below(kIllness.size()));
  begins_ = minute_ + 15.0 + exponential(random_, 70.0);
  rising_ = random_.uniform(8.0, 20.0);
  holding_ = random_.uniform(3.0, 12.0);
  falling_ = random_.uniform(8.0, 20.0);
  strength_ = random_.uniform(0.45, 1.1);
}

double Patient::severity() const {
  const double since = minute_ - begins_, over = since - rising_ - holding_;
  return strength_ * (smooth(since / rising_) - smooth(over / falling_));
}

void Patient::live_until(double minute) {
  const double passed = minute - minute_;
  minute_ = minute;
  for (std::size_t j = 0; j < kFeatures; ++j) {
    const double kept = std::exp(-passed / kMinutes[j]);
    wander_[j] = kept * wander_[j] + kWander[j] * std::sqrt(1.0 - kept * kept) * random_.normal();
  }
  if (minute_ > begins_ + rising_ + holding_ + falling_) fall_ill();
}

Round Patient::next() {
  live_until(minute_ + 0.15 + exponential(random_, 0.45));
  Round round{minute_, {}};
  const auto& added = kIllness[static_cast<std::size_t>(illness_)];
  const double ill = severity();
  for (std::size_t j = 0; j < kFeatures; ++j) {
    if (random_.uniform() >= kMeasured[j]) continue;
    double value = usual_[j] + wander_[j] + ill * added[j] + kInstrument[j] * random_.normal();
    if (j == 2) value = std::min(value, kOxygenMost);
    round.values[j] = std::round(value * kDigits[j]) / kDigits[j];
  }
  return round;
}

Dataset ward_history(std::size_t patients, std::uint64_t seed) {
  std::vector<std::string> ids;
  for (std::size_t i = 0; i < patients; ++i) ids.push_back(fmt::format("p{:04}", i));
  DatasetBuilder builder(std::move(ids), {kWardFeatures.begin(), kWardFeatures.end()});
  TimeAxis axis;
  axis.kind = TimeKind::unix_seconds;
  axis.unit = TimeUnit::minute;
  axis.from_first = true;
  std::vector<std::int64_t> series;
  std::vector<double> times, values;
  std::vector<std::int32_t> features;
  for (std::size_t i = 0; i < patients; ++i) {
    Patient patient(seed, i);
    std::optional<double> first;  // of what was measured at all
    for (Round round = patient.next(); round.minute < kHour; round = patient.next())
      for (std::size_t j = 0; j < kFeatures; ++j) {
        if (!round.values[j]) continue;
        if (!first) first = round.minute;
        series.push_back(static_cast<std::int64_t>(i));
        times.push_back(round.minute - *first);
        features.push_back(static_cast<std::int32_t>(j));
        values.push_back(*round.values[j]);
      }
    axis.origin.push_back(first.value_or(0.0) * 60e6);
  }
  builder.set_time_axis(std::move(axis));
  builder.add_observations(series, times, features, values);
  return std::move(builder).build();
}

Feed::Feed(std::uint64_t seed, std::uint64_t number, std::optional<double> ill_at)
    : patient_(seed, number, ill_at), random_(seed, "feed", number) {}

Feed::Next Feed::next() {
  const Round round = patient_.next();
  return {round.minute, handed_over(round)};
}

std::vector<Delivery> Feed::handed_over(const Round& round) {
  if (round.minute < contact_again_) return {};
  const double chance = random_.uniform();
  // In this order: contact lost for minutes, late, twice, wrong, wrong and corrected.
  if (chance < 0.004) {
    contact_again_ = round.minute + random_.uniform(4.0, 8.0);
    return {};
  }
  if (chance < 0.04)
    return {{round.minute + random_.uniform(0.5, 3.0), round, Delivery::Fault::late}};
  if (chance < 0.07)
    return {{round.minute, round},
            {round.minute + random_.uniform(0.0, 0.2), round, Delivery::Fault::doubled}};
  if (chance < 0.085) {
    // A knock against the sensor, a limb that is squeezed: far off, in one feature.
    Round off = round;
    const auto j = static_cast<std::size_t>(random_.below(kFeatures - 1));
    if (!off.values[j]) return {{round.minute, round}};
    const double sign = j == 2 ? -1.0 : random_.uniform() < 0.5 ? -1.0 : 1.0;
    off.values[j] =
        std::max(0.0, std::round(*off.values[j] + sign * random_.uniform(8.0, 16.0) * kWander[j]));
    std::vector<Delivery> sent = {{round.minute, off, Delivery::Fault::wrong}};
    if (random_.uniform() < 0.5)
      sent.push_back({round.minute + random_.uniform(0.3, 1.0), round, Delivery::Fault::corrects});
    return sent;
  }
  return {{round.minute, round}};
}

}  // namespace edict::server

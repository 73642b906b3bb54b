// Invented patients for `edict demo`: vital signs that wander, episodes in which pressure or oxygen
// fall or fever rises, and monitors that report when it suits them.
//
// A patient is a function of (seed, number) alone. What comes over the wire is not: a feed loses
// its contact, sends late, twice, or something wrong, and now and then corrects it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/generator.h"
#include "data/dataset.h"

namespace edict::server {

inline constexpr std::array<const char*, 5> kWardFeatures = {"HR", "MAP", "SpO2", "Resp", "Temp"};

// What was measured at one moment.
struct Round {
  double minute;
  std::array<std::optional<double>, kWardFeatures.size()> values;
};

class Patient {
 public:
  // `ill_at`: when a first, severe episode begins; else at some time.
  Patient(std::uint64_t seed, std::uint64_t number, std::optional<double> ill_at = {});

  // The next round of measurements, some seconds to two minutes after the one before; the first is
  // near minute 0.
  Round next();

 private:
  enum class Illness : std::uint8_t { shock, hypoxia, fever };

  void live_until(double minute);
  void fall_ill();
  double severity() const;  // 0 to 1

  Generator random_;
  double minute_ = 0.0;
  std::array<double, kWardFeatures.size()> usual_{}, wander_{};
  Illness illness_ = Illness::shock;
  double begins_ = 0, rising_ = 1, holding_ = 1, falling_ = 1, strength_ = 1;
};

// So many patients of an hour each, in minutes of the calendar, to train on.
Dataset ward_history(std::size_t patients, std::uint64_t seed);

// What a feed hands over: the round, when it arrives (late ones arrive minutes after they were
// measured), and what went wrong with it.
struct Delivery {
  enum class Fault : std::uint8_t { none, late, doubled, wrong, corrects };

  double arrives;  // minute
  Round round;
  Fault fault = Fault::none;
};

// A patient behind an unreliable monitor.
class Feed {
 public:
  Feed(std::uint64_t seed, std::uint64_t number, std::optional<double> ill_at = {});

  // The next round, at this minute, and how it is handed over: usually once, twice where it is sent
  // again or corrected, and not at all where the contact is lost.
  struct Next {
    double minute;
    std::vector<Delivery> deliveries;
  };
  Next next();

 private:
  std::vector<Delivery> handed_over(const Round& round);

  Patient patient_;
  Generator random_;
  double contact_again_ = 0.0;  // minute
};

}  // namespace edict::server

// What was expected just before each observation, and how surprising the observation then was.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "edict/core/thread_pool.h"
#include "edict/eval/trajectory.h"
#include "edict/model/model.h"

namespace edict {

// One observation, in the data's units.
struct Anomaly {
  std::size_t event;  // of the dataset
  std::size_t feature;
  double observed;
  Marginal expected;

  double z() const;  // deviations off: (observed − mean) ÷ predictive deviation; 0 if that is ∞
  double probability_integral() const { return probability_below(expected, observed); }
  double log_score() const { return log_density(expected, observed); }
  double tail_probability() const { return edict::tail_probability(expected, observed); }
};

struct SeriesAnomalies {
  std::size_t series = 0;
  std::vector<Anomaly> observations;  // in the order of the data
  std::vector<Clip> clips;
};

// Of the listed series, by a model that sees everything before an event and nothing of it.
std::vector<SeriesAnomalies> anomalies(const Model& model, const Dataset& data,
                                       std::span<const std::size_t> series, ThreadPool& pool,
                                       const Guard& guard = {}, StopFlag stop = nullptr);

// The `count` least expected of what is added, by their tail probability, which compares features
// of any unit; of equals the one further off, then the one added first.
class MostSurprising {
 public:
  struct Entry {
    std::size_t series;
    Anomaly surprise;
    double tail_probability;
  };

  explicit MostSurprising(std::size_t count) : count_(count) {}
  void add(std::size_t series, const Anomaly& surprise);
  void add(const MostSurprising& other);
  std::vector<Entry> sorted() const;

 private:
  void shrink(std::size_t to);

  std::size_t count_;
  std::vector<Entry> entries_;
};

}  // namespace edict

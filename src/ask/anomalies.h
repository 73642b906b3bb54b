// Observations that were not expected: each as it was observed, beside what the model expected of
// it, and the least expected of many.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "ask/clips.h"
#include "ask/joint.h"
#include "base/threads/thread_pool.h"
#include "model/model.h"

namespace edict {

struct Surprise {
  double z;  // (x − mean) / predictive deviation; by the scale where the variance is infinite
  double log_score;  // −log density, in nats, of x in the units of the marginal
};
Surprise surprise(const Marginal& expected, double x);

// One observation, in the data's units.
struct JudgedEvent {
  std::size_t event;  // of the dataset
  std::size_t feature;
  double observed;
  Marginal expected;  // just before it came
  // The same given the other observations of its event, by which it is then judged.
  std::optional<Conditional> given = {};

  // Given the others, z is the standard score.
  Surprise surprise() const;
  double probability_integral() const;
  double tail_probability() const;
  double central_level() const;  // of the interval that just reaches what was observed
};

struct JudgedEvents {
  std::size_t series = 0;
  std::vector<JudgedEvent> observations;  // in the order of the data
  std::vector<Clip> clips;
};

// Of the listed series, by a model that sees everything before an event and nothing of it.
std::vector<JudgedEvents> judged_events(const Model& model, const Dataset& data,
                                        std::span<const std::size_t> series, ThreadPool& pool,
                                        const Guard& guard = {}, StopFlag stop = nullptr);

// Judges every observation given the others of its event.
void judge_together(const Correlations& correlations, JudgedEvents& judged);

// The `count` least expected of what is added, by their tail probability, which compares features
// of any unit; of equals the one further off, then the one that comes first in the data.
class LeastExpected {
 public:
  struct Entry {
    std::size_t series;
    JudgedEvent judged;
    double tail_probability;
  };

  explicit LeastExpected(std::size_t count) : count_(count) {}
  void add(std::size_t series, const JudgedEvent& judged);
  void add(const LeastExpected& other);
  std::vector<Entry> sorted() const;

 private:
  void shrink();

  std::size_t count_;
  std::vector<Entry> entries_;
};

}  // namespace edict

// Observations that were not expected: each as it was observed, beside what the model expected of
// it, and the least expected of many.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "ask/expectations.h"
#include "ask/joint.h"

namespace edict {

struct Surprise {
  double z;  // (x − mean) / predictive deviation; by the scale where the variance is infinite
  double log_score;  // −log density, in nats, of x in the units of the marginal
};
Surprise surprise(const Marginal& expected, double x);

// An observation, in the data's units, that is judged by what was expected of it.
struct JudgedEvent : ExpectedObservation {
  // The same given the other observations of its event, by which it is then judged.
  std::optional<Conditional> given = {};

  // Given the others, z is the standard score.
  Surprise surprise() const;
  double probability_integral() const;
  double tail_probability() const;
  double central_level() const;  // of the interval that just reaches what was observed
};

// The observations of a series, each alone, or each given the others of its event.
std::vector<JudgedEvent> judged_alone(const Expectations& series);
std::vector<JudgedEvent> judged_together(const Correlations& correlations,
                                         const Expectations& series);

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

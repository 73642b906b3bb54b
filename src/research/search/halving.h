// Successive halving, one run at a time: every trial is first run short, on rung 0; of those on a
// rung the better third goes on to the next, where a run is three times as long. What is to be
// done next depends on the outcomes alone, so that an interrupted search goes on as if it had not
// been.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace edict::study {

inline constexpr std::size_t kReduction = 3;

// One finished run. Of a failed one only `failure` counts.
struct Outcome {
  std::size_t trial = 0, rung = 0;
  std::int64_t epochs = 0;
  double nll = 0, mse = 0;  // interpolation on the validation split
  double ece = 0;
  double extrapolation_nll = 0, extrapolation_mse = 0;  // NaN where nothing is to extrapolate
  double seconds = 0;
  std::string failure = {};
};

// Epochs on each rung, the last with all of them: 60 → 6, 20, 60. No rung has fewer than
// `fewest`.
std::vector<std::int64_t> rung_epochs(std::int64_t epochs, std::size_t rungs, std::int64_t fewest);

// The outcomes of a rung, best first: by the sum of their ranks in NLL and MSE, among equals by
// NLL. Failed ones are left out.
std::vector<const Outcome*> ranking(std::span<const Outcome> outcomes, std::size_t rung);

struct Step {
  std::size_t trial, rung;
  bool operator==(const Step&) const = default;
};

// The next run: a promotion if one is due, the highest first, else a new trial. When all `trials`
// have begun, the best of each rung goes on even where a third of them is less than one. Empty:
// finished.
//
// With runs under way whose outcome is not known yet (`pending`), it is one that comes whatever
// their outcomes are: no promotion from their rungs or from higher ones. Empty: wait for them.
std::optional<Step> next_step(std::span<const Outcome> outcomes, std::size_t trials,
                              std::size_t rungs, std::span<const Step> pending = {});

// For one of several workers: the first run of the one sequence that next_step makes of `finished`
// which is neither finished nor another's. take(step) is whether this worker got it. So many
// workers do the runs of one, and no other. Empty: finished, or `waiting` for other workers.
std::optional<Step> free_step(std::span<const Outcome> finished, std::size_t trials,
                              std::size_t rungs, const std::function<bool(const Step&)>& take,
                              bool& waiting);

// The best of the highest rung reached; null without a success.
const Outcome* best_outcome(std::span<const Outcome> outcomes);

}  // namespace edict::study

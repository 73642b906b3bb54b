// Successive halving, one run at a time: every trial is first run short, on rung 0; of those on a
// rung the better third goes on to the next, where a run is three times as long. What is to be
// done next depends on the outcomes alone, so that an interrupted search goes on as if it had not
// been.
#pragma once

#include <cstddef>
#include <cstdint>
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
};

// The next run: a promotion if one is due, the highest first, else a new trial. When all `trials`
// have begun, the best of each rung goes on even where a third of them is less than one. Empty:
// finished.
std::optional<Step> next_step(std::span<const Outcome> outcomes, std::size_t trials,
                              std::size_t rungs);

// The best of the highest rung reached; null without a success.
const Outcome* best_outcome(std::span<const Outcome> outcomes);

}  // namespace edict::study

// Named ranges of settings to search, and random draws from them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/config.h"

namespace edict::study {

// Either `choices`, or the numbers from low to high, drawn evenly or evenly in their logarithm.
struct SearchRange {
  std::string key;  // "table.key"
  double low = 0.0, high = 0.0;
  bool logarithmic = false;
  std::vector<std::string> choices;
};

// "train.learning_rate=1e-4:1e-2:log", "model.hidden=32:128" or "model.hidden=32,64,100". Throws
// Error for a malformed range, an unknown key or an end that the key does not allow.
SearchRange parse_range(std::string_view text);

// What is searched where nothing is named.
std::vector<SearchRange> usual_ranges();

// The settings of one trial: `base` with a value drawn for every range. The same (seed, trial)
// draws the same values. Numbers are rounded to three digits, whole ones to the unit.
Config draw_settings(const Config& base, const std::vector<SearchRange>& ranges, std::uint64_t seed,
                     std::size_t trial);

// A setting as it is written in a table.
std::string setting_text(const Config& config, std::string_view key);

}  // namespace edict::study

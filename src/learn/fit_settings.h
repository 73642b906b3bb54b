// Settings that fit the data: what training uses where nobody said otherwise.
//
// Every choice is a function of a few quantities of the training part (how long a series is, how
// far apart its events are, how much there is to learn from) and none of the unit in which times or
// values are written. The rules and the trials they were found by are in
// docs/understand/defaults.md.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "learn/data_facts.h"
#include "model/config.h"

namespace edict {

// A setting with its value, as after --set, and the reason in words. Choices made for one reason
// follow one another.
struct SettingChoice {
  std::string key, value, why;
  bool given = false;  // not chosen: an assignment said so
};

struct FittedSettings {
  Config config;
  DataFacts facts;
  std::vector<SettingChoice> choices;
  std::vector<std::string> notes;  // what in the data deserves a word
};

// `given`: assignments as of --set ("model.hidden=64"), which hold whatever the data say; the rest
// is chosen beside them. Throws Error for an assignment that is none, and where the data cannot be
// learnt from with any settings, as a single series.
FittedSettings fit_settings(const Dataset& data, std::span<const std::string> given = {});

// Epochs without a better validation after which a run of so many ends.
std::int64_t usual_patience(std::int64_t epochs);

// As a file for --config: every setting, with its meaning and, where it was chosen, the reason.
std::string commented_toml(const FittedSettings& fitted);

}  // namespace edict

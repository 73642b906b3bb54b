#include "protocol/data_settings.h"

namespace edict {

void declare(DataSettings& s, settings::Keys& keys) {
  using namespace settings;
  keys.push_back(
      whole("data.seed", "fixes the split and the held-out observations", s.seed, 0, kMaxSeed));
  keys.push_back(number("data.train", "share of the series to train on", s.train, 0.01, 0.98));
  keys.push_back(number("data.validation",
                        "share of the series to choose by; the rest is the test split",
                        s.validation, 0.01, 0.98));
  keys.push_back(
      choice("data.split",
             "series: each by its own id; group: whole groups on one side; stratified: "
             "the shares hold within each class, but adding series can move others; time: "
             "few long series in pieces, the last of each for the test split",
             s.split));
  keys.push_back(
      flag("data.standardise", "z-normalise features by the training split", s.standardise));
  keys.push_back(
      choice("data.start",
             "where a series' clock starts: at 0, at its first event, at data.origin (or "
             "its first event if that is earlier); auto: zero or first, whichever fits",
             s.start));
  keys.push_back(number_or_auto(
      "data.origin",
      "where clocks start under data.start=origin; auto: the first time of the training split",
      s.origin, -1e30, 1e30));
  keys.push_back(number("data.time_unit", "times are divided by this before the model sees them",
                        s.time_unit, 1e-30, 1e30));
  keys.push_back(number_or_auto(
      "data.t_cut",
      "the cut-off: forecasts of what comes after it are judged; since a series' first event under "
      "data.start=first; auto: 3/4 of the range",
      s.t_cut, -1e30, 1e30));
  keys.push_back(number("data.cut_share",
                        "puts the cut-off of each series after this share of its own time span; 0: "
                        "at data.t_cut",
                        s.cut_share, 0.0, 1.0));
  keys.push_back(number("data.holdout",
                        "share of the observations before the cut-off held out for interpolation",
                        s.holdout, 0.0, 0.9));
}

}  // namespace edict

// The [data] table: how a dataset is split, measured and cut.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "settings/settings.h"

namespace edict {

struct DataSettings {
  std::int64_t seed = 0;
  double train = 0.7;
  double validation = 0.1;
  std::string split = "series";
  bool standardise = true;
  std::string start = "auto";
  std::optional<double> origin;  // of data.start = "origin"; empty: chosen from the data
  double time_unit = 1.0;
  std::optional<double> t_cut;  // empty: chosen from the data
  double cut_share = 0.0;       // above 0: takes the place of t_cut
  double holdout = 0.1;

  // The time that is 0 to the model.
  double clock_origin() const { return start == "origin" ? origin.value_or(0.0) : 0.0; }
};

void declare(DataSettings& settings, settings::Keys& keys);

}  // namespace edict

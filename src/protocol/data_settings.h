// The [data] table: how a dataset is split, measured and cut.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "settings/settings.h"

namespace edict {

enum class SplitBy {
  series,      // each on its own
  group,       // whole groups on one side; a series without group is on its own
  stratified,  // each on its own, shares within each class; those without label are one more class
  time,        // pieces of series (data/pieces.h): the last of each series judge, and nothing later
         // teaches; half of those that choose come just before them, the others are drawn from the
         // rest, so that both recent and all kinds of times choose
};

// Where the clock of a series starts.
enum class ClockStart {
  chosen,  // by the data: zero or first
  zero,
  first,   // at its first event
  origin,  // at data.origin, or at its first event where that is earlier
};

struct DataSettings {
  std::int64_t seed = 0;
  double train = 0.7;
  double validation = 0.1;
  SplitBy split = SplitBy::series;
  bool standardise = true;
  ClockStart start = ClockStart::chosen;
  std::optional<double> origin;  // of ClockStart::origin; empty: chosen from the data
  double time_unit = 1.0;
  std::optional<double> t_cut;  // empty: chosen from the data
  double cut_share = 0.0;       // above 0: takes the place of t_cut
  double holdout = 0.1;

  // The time that is 0 to the model.
  double clock_origin() const { return start == ClockStart::origin ? origin.value_or(0.0) : 0.0; }
};

template <>
struct settings::Names<SplitBy> {
  static constexpr std::pair<SplitBy, std::string_view> all[] = {
      {SplitBy::series, "series"},
      {SplitBy::group, "group"},
      {SplitBy::stratified, "stratified"},
      {SplitBy::time, "time"}};
};
template <>
struct settings::Names<ClockStart> {
  static constexpr std::pair<ClockStart, std::string_view> all[] = {{ClockStart::chosen, kAuto},
                                                                    {ClockStart::zero, "zero"},
                                                                    {ClockStart::first, "first"},
                                                                    {ClockStart::origin, "origin"}};
};

void declare(DataSettings& settings, settings::Keys& keys);

}  // namespace edict

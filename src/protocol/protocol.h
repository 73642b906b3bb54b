// What stands between raw series and a model: where clocks start, in which unit they run, up to
// when a series is known, and how values are scaled. A model carries the protocol it was trained
// with; every way in goes through it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "protocol/data_settings.h"
#include "protocol/split.h"
#include "protocol/standardise.h"
#include "protocol/timeline.h"

namespace edict {

struct Protocol {
  double origin = 0.0;     // the time that is 0 to the model
  double time_unit = 1.0;  // times since then are divided by this
  // When a series is cut: training sees what comes before, forecasts are judged by what comes
  // after. In the data's unit; since its start if its clock starts at its first event.
  double t_cut = 0.0;
  double cut_share = 0.0;               // above 0: cut after this share of its own span, instead
  ClockStart start = ClockStart::zero;  // never chosen: that was resolved
  // Where h(T) is read: the last time of the training split, or, if clocks start at first events,
  // the length of its longest series.
  double horizon = 0.0;
  Standardisation standardisation;  // between the data's units and the model's
  Standardisation population;       // of the training split; the same, if data.standardise

  bool from_first() const { return start == ClockStart::first; }
  double to_model_time(double time) const { return (time - origin) / time_unit; }
  double to_raw_time(double time) const { return origin + time * time_unit; }
  // When the clock of a series starts, in the data's unit; of one that continues another, when that
  // was last observed.
  double start_of(const Dataset& data, std::size_t series) const;
  double start_of(double first) const {  // of one whose first event is then
    return from_first() || (start == ClockStart::origin && first < origin) ? first : origin;
  }
  // When forecasts of a series begin that are judged.
  double cut_of(const Dataset& data, std::size_t series) const;
  // How far training came on the clock of a series, and when its class is read: then, or with its
  // last event where that is later.
  double horizon_of(const Dataset& data, std::size_t series) const;
  double class_time(const Dataset& data, std::size_t series) const;
  // Until when a picture of a series goes: its last event, or t_cut where that is later but one
  // that training came to.
  double end_of(const Dataset& data, std::size_t series) const;
  // A value as the model sees it. One beyond any measurement stays one that products in single
  // precision can bear.
  float to_model_value(std::size_t feature, double value) const;
  float to_model_covariate(std::size_t covariate, double value) const;  // 0 where it is missing

  // Mean and deviation of a feature in the training split, in the model's units.
  double population_mean(std::size_t feature) const {
    return standardisation.to_standard(feature, population.mean[feature]);
  }
  double population_deviation(std::size_t feature) const {
    return population.scale[feature] / standardisation.scale[feature];
  }
};

// Throws Error where the first and last time of a training split are none, or no times to count in.
void check_times(double first, double last);

// Fits the training split, choosing what the settings leave open, which then stands in `settings`.
// Throws Error where nothing would be left to learn from.
Protocol fit_protocol(DataSettings& settings, const Dataset& data, const Split& split);

// The gaps between events, and the longest series, in the model's unit of time; 0 where there is
// none.
struct Gaps {
  double median = 0.0, longest_series = 0.0;
};
Gaps gaps(const Protocol& protocol, const Dataset& data, std::span<const std::size_t> series);

// ---- timelines of one series ----

// Absorbs and scores everything before t_cut, or all there is if the series is to be learnt whole.
Timeline<float> training_timeline(const Protocol& protocol, const Dataset& data, std::size_t series,
                                  bool whole = false);

// Absorbs what is before t_cut and not held out; queries every held-out observation
// (interpolation) and everything from t_cut on (extrapolation), which are also scored. `holdout`
// has an entry for every observation of the series (holdout.h); Error for another number.
Timeline<float> evaluation_timeline(const Protocol& protocol, const Dataset& data,
                                    std::size_t series, std::span<const std::uint8_t> holdout);

// The same with what the settings hold out of the series.
Timeline<float> evaluation_timeline(const Protocol& protocol, const DataSettings& settings,
                                    const Dataset& data, std::size_t series);

// Absorbs everything, scored or not, and ends with an empty stop marked as a query at T: the
// protocol's horizon, or the last event where that is later. With clocks from the first event a
// series without events has no clock, and T is its start.
Timeline<float> encoding_timeline(const Protocol& protocol, const Dataset& data, std::size_t series,
                                  bool scored = false);

// Absorbs everything, and queries at the given times (ascending, in the data's unit): a query at
// the time of an observation tells what was expected before it. Before a clock that starts at 0
// nothing can be asked (Error); before one that starts with the first event, what is asked is the
// start.
Timeline<float> query_timeline(const Protocol& protocol, const Dataset& data, std::size_t series,
                               const std::vector<double>& times);

}  // namespace edict

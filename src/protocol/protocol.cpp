#include "protocol/protocol.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/generator.h"
#include "base/not_finite.h"
#include "base/quantile.h"
#include "protocol/filtering_timeline.h"
#include "protocol/holdout.h"
#include "protocol/window.h"

namespace edict {
namespace {

// The largest value that enters a model, in its own units.
constexpr double kLargest = 1e30;

// A cut that no time reaches, nor one of a series that is measured next year.
constexpr double kNever = 1e30;

struct TimeRange {
  double first = kInfinity, last = -kInfinity;
};

TimeRange time_range(const Dataset& data, const std::vector<std::size_t>& series) {
  TimeRange range;
  for (std::size_t i : series)
    if (data.events(i) > 0) {
      range.first = std::min(range.first, data.times[data.first_event[i]]);
      range.last = std::max(range.last, data.times[data.first_event[i + 1] - 1]);
    }
  return range;
}

Timeline<float> begin_timeline(const Protocol& protocol, const Dataset& data, std::size_t series) {
  Timeline<float> timeline;
  timeline.id = data.ids[series];
  timeline.start = protocol.to_model_time(protocol.start_of(data, series));
  timeline.cut = protocol.to_model_time(protocol.cut_of(data, series));
  const auto covariates = data.covariates(series);
  for (std::size_t c = 0; c < covariates.size(); ++c)
    timeline.covariates.push_back(protocol.to_model_covariate(c, covariates[c]));
  return timeline;
}

void observe(const Protocol& protocol, const Observation& o, Timeline<float>& timeline) {
  timeline.observe(o.feature,
                   protocol.to_model_value(static_cast<std::size_t>(o.feature), o.value));
}

void check_start(const Protocol& protocol, const Timeline<float>& timeline) {
  if (!timeline.stops.empty() && timeline.stops.front().time < timeline.start)
    throw Error(
        fmt::format("series {}: time {} lies before the model's clock starts at {}; train "
                    "with data.start=first",
                    timeline.id, protocol.to_raw_time(timeline.stops.front().time),
                    protocol.to_raw_time(timeline.start)));
}

}  // namespace

double Protocol::start_of(const Dataset& data, std::size_t series) const {
  if (data.events(series) == 0) return origin;
  if (data.continues_previous(series)) return data.times[data.first_event[series] - 1];
  return start_of(data.times[data.first_event[series]]);
}

double Protocol::cut_of(const Dataset& data, std::size_t series) const {
  if (cut_share > 0 && data.events(series) > 0) {
    const double first = data.times[data.first_event[series]];
    const double last = data.times[data.first_event[series + 1] - 1];
    return first < last ? first + cut_share * (last - first) : kInfinity;
  }
  return from_first() ? start_of(data, series) + t_cut : t_cut;
}

double Protocol::horizon_of(const Dataset& data, std::size_t series) const {
  return from_first() ? start_of(data, series) + horizon : horizon;
}

double Protocol::class_time(const Dataset& data, std::size_t series) const {
  if (data.events(series) == 0) return from_first() ? start_of(data, series) : horizon;
  return std::max(horizon_of(data, series), data.times[data.first_event[series + 1] - 1]);
}

double Protocol::end_of(const Dataset& data, std::size_t series) const {
  const double until = horizon_of(data, series);
  if (data.events(series) == 0) return until;
  const double last = data.times[data.first_event[series + 1] - 1], cut = cut_of(data, series);
  return cut <= until ? std::max(cut, last) : last;
}

float Protocol::to_model_value(std::size_t feature, double value) const {
  return static_cast<float>(
      std::clamp(standardisation.to_standard(feature, value), -kLargest, kLargest));
}

float Protocol::to_model_covariate(std::size_t covariate, double value) const {
  const double z =
      (value - standardisation.statics_mean[covariate]) / standardisation.statics_scale[covariate];
  return std::isnan(z) ? 0.0f : static_cast<float>(std::clamp(z, -kLargest, kLargest));
}

void check_times(double first, double last) {
  constexpr double kFarthest = 1e30, kShortest = 1e-28;  // settings that hold times end there
  if (!(first <= last))
    throw Error("the training split has no observations; give data with values");
  if (std::max(std::abs(first), std::abs(last)) > kFarthest ||
      (last > first && last - first < kShortest))
    throw Error(fmt::format(
        "times reach from {} to {}; count them in another unit, so that they stay within {:g} and "
        "are more than {:g} apart",
        first, last, kFarthest, kShortest));
}

Protocol fit_protocol(DataSettings& settings, const Dataset& data, const Split& split) {
  const TimeRange range = time_range(data, split.train);
  check_times(range.first, range.last);
  // Zero is a natural start only if the data begin near it.
  if (settings.start == ClockStart::chosen)
    settings.start = range.first >= 0 && range.first <= 2 * (range.last - range.first)
                         ? ClockStart::zero
                         : ClockStart::first;
  const bool from_first = settings.start == ClockStart::first;
  constexpr double kUsualCut = 0.75;
  if (!settings.t_cut && from_first && settings.cut_share == 0) settings.cut_share = kUsualCut;
  if (!settings.t_cut)
    settings.t_cut =
        settings.cut_share > 0 ? kNever : range.first + kUsualCut * (range.last - range.first);
  const double begin = from_first ? 0.0 : range.first;
  if (*settings.t_cut <= begin)
    throw Error(
        fmt::format("data.t_cut = {} leaves nothing to train on (the first time is {}); "
                    "choose a later one",
                    *settings.t_cut, begin));
  if (settings.start == ClockStart::zero && range.first < 0)
    throw Error(
        fmt::format("the data begin at time {}, before 0; set data.start=first", range.first));
  if (settings.start == ClockStart::origin && !settings.origin) settings.origin = range.first;
  Protocol protocol;
  protocol.origin = settings.clock_origin();
  protocol.time_unit = settings.time_unit;
  protocol.t_cut = *settings.t_cut;
  protocol.cut_share = settings.cut_share;
  protocol.start = settings.start;
  protocol.horizon = range.last;
  if (from_first) {
    protocol.horizon = 0;
    for (const std::size_t i : split.train)
      if (data.events(i) > 0)
        protocol.horizon = std::max(
            protocol.horizon, data.times[data.first_event[i + 1] - 1] - protocol.start_of(data, i));
  }
  protocol.population = fit_standardisation(
      data, split.train, [&](std::size_t i) { return protocol.cut_of(data, i); });
  protocol.standardisation = protocol.population;
  if (!settings.standardise) {
    std::fill(protocol.standardisation.mean.begin(), protocol.standardisation.mean.end(), 0.0);
    std::fill(protocol.standardisation.scale.begin(), protocol.standardisation.scale.end(), 1.0);
  }
  return protocol;
}

Gaps gaps(const Protocol& protocol, const Dataset& data, std::span<const std::size_t> series) {
  std::vector<double> between;
  Gaps result;
  for (const std::size_t i : series) {
    if (data.events(i) == 0) continue;
    const std::size_t first = data.first_event[i], end = data.first_event[i + 1];
    const double start = protocol.start_of(data, i);
    result.longest_series =
        std::max(result.longest_series, (data.times[end - 1] - start) / protocol.time_unit);
    for (std::size_t e = first + 1; e < end; ++e)
      if (data.times[e] > data.times[e - 1]) between.push_back(data.times[e] - data.times[e - 1]);
  }
  if (between.empty()) return result;
  result.median = median(std::move(between)) / protocol.time_unit;
  return result;
}

// ------------------------------------------------------------------------------------- timelines

Window whole_window(const Protocol& protocol, const Dataset& data, std::size_t series) {
  const std::size_t first = data.first_event[series], end = data.first_event[series + 1];
  const double* const times = data.times.data();
  const auto origin = static_cast<std::size_t>(
      std::lower_bound(times + first, times + end, protocol.cut_of(data, series)) - times);
  return {series, first, origin, end};
}

namespace {

Timeline<float> begin_timeline(const Protocol& protocol, const Dataset& data,
                               const Window& window) {
  Timeline<float> timeline = begin_timeline(protocol, data, window.series);
  if (has_past(data, window)) timeline.start = protocol.to_model_time(data.times[window.first - 1]);
  timeline.cut =
      window.origin < window.end ? protocol.to_model_time(data.times[window.origin]) : kInfinity;
  return timeline;
}

// What was last observed of each feature before an event of a series, not too long ago.
std::vector<float> last_values(const Protocol& protocol, const Dataset& data, std::size_t from,
                               std::size_t event) {
  constexpr std::size_t kLookedAt = 4096;  // events
  std::vector<float> last(data.features.size(), std::numeric_limits<float>::quiet_NaN());
  std::size_t found = 0;
  for (std::size_t e = event; e-- > from && event - e <= kLookedAt && found < last.size();)
    for (const Observation& o : data.observed(e)) {
      const auto j = static_cast<std::size_t>(o.feature);
      if (!std::isnan(last[j])) continue;
      last[j] = protocol.to_model_value(j, o.value);
      ++found;
    }
  return last;
}

// `held` has an entry for every observation of [first, origin).
Timeline<float> evaluation_timeline(const Protocol& protocol, const Dataset& data,
                                    const Window& window, std::span<const std::uint8_t> held) {
  constexpr auto kJudge = Timeline<float>::kScore | Timeline<float>::kQuery;
  Timeline<float> timeline = begin_timeline(protocol, data, window);
  if (has_past(data, window))
    timeline.last = last_values(protocol, data, head_event(data, window), window.first);
  const std::size_t first_held = data.first_observation[window.first];
  for (std::size_t e = window.first; e < window.end; ++e) {
    if (!is_judged(window, e)) continue;
    const double time = protocol.to_model_time(data.times[e]);
    const bool beyond = e >= window.origin;
    const auto observed = data.observed(e);
    const std::size_t first = data.first_observation[e] - first_held;
    for (const bool judged : {true, false}) {  // what is held out is judged before the rest enters
      bool opened = false;
      for (std::size_t k = 0; k < observed.size(); ++k) {
        if ((beyond || held[first + k]) != judged) continue;
        if (!opened) timeline.stop(time, judged ? kJudge : Timeline<float>::kAbsorb);
        opened = true;
        observe(protocol, observed[k], timeline);
      }
    }
  }
  check_start(protocol, timeline);
  return timeline;
}

}  // namespace

Timeline<float> training_timeline(const Protocol& protocol, const Dataset& data,
                                  const Window& window) {
  Timeline<float> timeline = begin_timeline(protocol, data, window);
  for (std::size_t e = window.first; e < window.end; ++e) {
    timeline.stop(protocol.to_model_time(data.times[e]),
                  Timeline<float>::kAbsorb | Timeline<float>::kScore);
    for (const Observation& o : data.observed(e)) observe(protocol, o, timeline);
  }
  check_start(protocol, timeline);
  return timeline;
}

Timeline<float> training_timeline(const Protocol& protocol, const Dataset& data, std::size_t series,
                                  bool whole) {
  Window window = whole_window(protocol, data, series);
  if (!whole) window.end = window.origin;
  return training_timeline(protocol, data, window);
}

namespace {

std::string unit_of(const DataSettings& settings, const Dataset& data, std::size_t series) {
  const std::string_view group = data.group_name(series);
  if (settings.split == SplitBy::group && !group.empty()) return fmt::format("group {}", group);
  return data.ids[data.head_of(series)];
}

}  // namespace

Timeline<float> evaluation_timeline(const Protocol& protocol, const DataSettings& settings,
                                    const Dataset& data, std::size_t series) {
  Timeline<float> timeline = evaluation_timeline(
      protocol, data, series,
      draw_holdout(data, series, protocol.cut_of(data, series), settings.holdout,
                   static_cast<std::uint64_t>(settings.seed)));
  timeline.unit = unit_of(settings, data, series);
  return timeline;
}

Timeline<float> evaluation_timeline(const Protocol& protocol, const Dataset& data,
                                    std::size_t series, std::span<const std::uint8_t> holdout) {
  const std::size_t observations = data.first_observation[data.first_event[series + 1]] -
                                   data.first_observation[data.first_event[series]];
  if (holdout.size() != observations)
    throw Error(fmt::format("series {}: {} entries say what is held out of {} observations",
                            data.ids[series], holdout.size(), observations));
  return evaluation_timeline(protocol, data, whole_window(protocol, data, series), holdout);
}

Timeline<float> evaluation_timeline(const Protocol& protocol, const DataSettings& settings,
                                    const Dataset& data, const Window& window) {
  const std::size_t first = data.first_event[window.series];
  if (window.first == first && window.end == data.first_event[window.series + 1] &&
      !window.rolling && !data.continues_previous(window.series))
    return evaluation_timeline(protocol, settings, data, window.series);
  // A draw of its own, since the windows of a series are not written in its order.
  Generator rng(static_cast<std::uint64_t>(settings.seed), "holdout in a window",
                hash_of(data.ids[window.series]) + (window.first - first));
  Holdout held(data.first_observation[window.origin] - data.first_observation[window.first]);
  for (std::uint8_t& one : held) one = rng.uniform() < settings.holdout ? 1 : 0;
  Timeline<float> timeline = evaluation_timeline(protocol, data, window, held);
  timeline.unit = unit_of(settings, data, window.series);
  return timeline;
}

Timeline<float> absorbing_timeline(const Protocol& protocol, const Dataset& data,
                                   std::size_t series, std::size_t first, std::size_t end) {
  Timeline<float> timeline = begin_timeline(protocol, data, Window{series, first, end, end});
  for (std::size_t e = first; e < end; ++e) {
    timeline.stop(protocol.to_model_time(data.times[e]), Timeline<float>::kAbsorb);
    for (const Observation& o : data.observed(e)) observe(protocol, o, timeline);
  }
  check_start(protocol, timeline);
  return timeline;
}

Timeline<float> encoding_timeline(const Protocol& protocol, const Dataset& data, std::size_t series,
                                  bool scored) {
  const std::uint8_t what = Timeline<float>::kAbsorb | (scored ? Timeline<float>::kScore : 0);
  Timeline<float> timeline = begin_timeline(protocol, data, series);
  for (std::size_t e = data.first_event[series]; e < data.first_event[series + 1]; ++e) {
    timeline.stop(protocol.to_model_time(data.times[e]), what);
    for (const Observation& o : data.observed(e)) observe(protocol, o, timeline);
  }
  check_start(protocol, timeline);
  const double end = protocol.to_model_time(protocol.class_time(data, series));
  timeline.stop(std::max(end, timeline.start), Timeline<float>::kQuery);
  return timeline;
}

namespace {

// Everything absorbed, and queries before or after the observations of their moment.
enum class Asked { before, after };

Timeline<float> asking_timeline(const Protocol& protocol, const Dataset& data, std::size_t series,
                                const std::vector<double>& times, Asked asked) {
  Timeline<float> timeline = begin_timeline(protocol, data, series);
  const bool fixed = protocol.start == ClockStart::zero;
  if (fixed && !times.empty() && times.front() < 0)
    throw Error(fmt::format(
        "time {} lies before the model's clock starts at 0; give times from 0 on", times.front()));
  auto next = times.begin();
  const auto query_until = [&](double time) {
    for (; next != times.end() && (asked == Asked::before ? *next <= time : *next < time); ++next)
      timeline.stop(std::max(timeline.start, protocol.to_model_time(*next)),
                    Timeline<float>::kQuery);
  };
  for (std::size_t e = data.first_event[series]; e < data.first_event[series + 1]; ++e) {
    query_until(data.times[e]);
    timeline.stop(protocol.to_model_time(data.times[e]), Timeline<float>::kAbsorb);
    for (const Observation& o : data.observed(e)) observe(protocol, o, timeline);
  }
  query_until(kInfinity);
  check_start(protocol, timeline);
  return timeline;
}

}  // namespace

Timeline<float> query_timeline(const Protocol& protocol, const Dataset& data, std::size_t series,
                               const std::vector<double>& times) {
  return asking_timeline(protocol, data, series, times, Asked::before);
}

Timeline<float> filtering_timeline(const Protocol& protocol, const Dataset& data,
                                   std::size_t series, const std::vector<double>& times) {
  return asking_timeline(protocol, data, series, times, Asked::after);
}

}  // namespace edict

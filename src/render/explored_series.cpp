#include "render/explored_series.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "ask/anomalies.h"
#include "ask/classification.h"
#include "ask/distribution.h"
#include "base/not_finite.h"
#include "data/subset.h"
#include "model/infer.h"
#include "render/packed.h"

namespace edict::report {
namespace {

// Times at which a distribution is asked for: a regular part, and just before and just after every
// event, or every so manieth of very many, because that is where it jumps.
constexpr std::size_t kRegular = 96, kMostEvents = 300;
// A model that reads a whole series at once is asked anew for every time.
constexpr std::size_t kAskedAnew = 24;

struct Span {
  double start, end;
};

// From where the clock starts to the last event, or to the cut-off where that is not far behind it;
// and, of a model that classifies, to the time of the classes where that is not far either.
Span time_span(const Model& model, const Dataset& data, std::size_t series) {
  const Protocol& protocol = model.protocol;
  const double last = data.times[data.first_event[series + 1] - 1];
  const double start = protocol.start_of(data, series);
  constexpr double kFurthest = 4;  // times what was observed
  const double cut = protocol.cut_of(data, series);
  const double far = start + kFurthest * (last - start);
  double end = std::max(last, std::min(cut, far));
  if (const double time = protocol.class_time(data, series);
      model.network->classes() > 0 && time <= far)
    end = std::max(end, time);
  if (end > start) return {start, end};
  // A single event at the start of its clock has no length of its own; nor has a cut-off that
  // training never came to.
  const double unit = start + protocol.time_unit;
  return {start, cut <= protocol.horizon_of(data, series) ? std::max(cut, unit) : unit};
}

std::vector<double> regular_times(const Span& span, std::size_t count) {
  std::vector<double> times;
  for (std::size_t k = 0; k <= count; ++k)
    times.push_back(span.start +
                    (span.end - span.start) * static_cast<double>(k) / static_cast<double>(count));
  return times;
}

// Ascending. Just after an event is the next number.
std::vector<double> asked_times(const Model& model, const Dataset& data, std::size_t series) {
  const Protocol& protocol = model.protocol;
  const Span span = time_span(model, data, series);
  std::vector<double> times = regular_times(span, kRegular);
  const std::size_t events = data.events(series), stride = (events + kMostEvents - 1) / kMostEvents;
  for (std::size_t e = 0; e < events; e += stride) {
    const double time = data.times[data.first_event[series] + e];
    times.push_back(time);
    times.push_back(std::nextafter(time, kInfinity));
  }
  if (const double cut = protocol.cut_of(data, series); cut > span.start && cut < span.end)
    times.push_back(cut);
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());
  return times;
}

// Of these times, those at which a forecast from the cut-off is drawn: it has no jumps.
std::vector<std::uint32_t> forecast_places(double cut, const std::vector<double>& times) {
  std::vector<std::uint32_t> places;
  for (std::size_t k = 0; k < times.size(); ++k)
    if (times[k] >= cut && (k == 0 || times[k] != std::nextafter(times[k - 1], kInfinity)))
      places.push_back(static_cast<std::uint32_t>(k));
  return places;
}

std::vector<Curve<double>> curves_of(const ClassProbabilities& p,
                                     const std::vector<std::uint32_t>& places) {
  std::vector<Curve<double>> curves(p.classes);
  for (std::size_t c = 0; c < p.classes; ++c) {
    curves[c].at = places;
    for (std::size_t t = 0; t < places.size(); ++t) curves[c].points.push_back(p.row(t)[c]);
  }
  return curves;
}

// Of a model that classifies from its state.
std::vector<Curve<double>> probability_curves(const Model& model, const Answer& answer,
                                              const std::vector<std::uint32_t>& places) {
  if (model.network->classes() == 0 || !model.readout.empty() || places.empty()) return {};
  const Index hidden = model.network->hidden() * static_cast<Index>(model.members());
  return curves_of(
      class_probabilities(model,
                          Eigen::Map<const Matrix<float>>(answer.states.data(), hidden,
                                                          static_cast<Index>(places.size())),
                          model.classifiers()),
      places);
}

Band band_of(const Model& model, const Answer& answer, const std::vector<std::uint32_t>& places,
             std::size_t feature, double level) {
  Band band;
  band.at = places;
  for (std::size_t t = 0; t < places.size(); ++t)
    band.points.push_back(band_point(to_raw(model.protocol.standardisation, feature,
                                            answer.marginals[t * model.features.size() + feature]),
                                     level));
  return band;
}

std::vector<std::uint32_t> all_places(std::size_t count) {
  std::vector<std::uint32_t> places;
  for (std::size_t k = 0; k < count; ++k) places.push_back(static_cast<std::uint32_t>(k));
  return places;
}

// The same asked of the classifier itself, of the series `which` at the given places of a grid.
std::vector<Curve<double>> asked_probabilities(const Model& model, const Dataset& data,
                                               std::size_t which, const std::vector<double>& grid,
                                               const std::vector<std::uint32_t>& places,
                                               const ExploreRequest& request, ThreadPool& pool) {
  if (places.empty()) return {};
  std::vector<double> times;
  for (const std::uint32_t k : places) times.push_back(grid[k]);
  const auto paths = class_probabilities_over_time(model, data, std::span(&which, 1), times, pool,
                                                   request.guard, request.stop);
  return curves_of(paths[0], places);
}

// The places to keep such that every value of a left-out place, of each of `values` curves, is
// within `tolerance` of the straight line between its kept neighbours. One pass: from the last kept
// place the slopes that miss no place in between form an interval for each curve.
std::vector<std::size_t> kept_places(const std::vector<double>& x, std::size_t values,
                                     const std::function<double(std::size_t, std::size_t)>& value,
                                     double tolerance) {
  std::vector<std::size_t> kept;
  if (x.empty()) return kept;
  kept.push_back(0);
  std::vector<double> low(values, -kInfinity), high(values, kInfinity);
  for (std::size_t i = 1; i < x.size(); ++i) {
    const auto reaches = [&](std::size_t from) {
      const double dx = x[i] - x[from];
      for (std::size_t v = 0; v < values; ++v) {
        const double dy = value(i, v) - value(from, v);
        if (dx > 0 ? dy < low[v] * dx || dy > high[v] * dx : std::abs(dy) > tolerance) return false;
      }
      return true;
    };
    if (!reaches(kept.back())) {
      // Of a jump both sides stay; of a bend the place before this one, from which all is open.
      kept.push_back(kept.back() == i - 1 ? i : i - 1);
      std::fill(low.begin(), low.end(), -kInfinity);
      std::fill(high.begin(), high.end(), kInfinity);
      if (kept.back() != i && !reaches(i - 1)) kept.push_back(i);
      if (kept.back() == i) continue;
    }
    const double dx = x[i] - x[kept.back()];
    if (dx <= 0) continue;
    for (std::size_t v = 0; v < values; ++v) {
      const double dy = value(i, v) - value(kept.back(), v);
      low[v] = std::max(low[v], (dy - tolerance) / dx);
      high[v] = std::min(high[v], (dy + tolerance) / dx);
    }
  }
  if (kept.back() != x.size() - 1) kept.push_back(x.size() - 1);
  return kept;
}

struct Extent {
  double low = kInfinity, high = -kInfinity;
};

Extent extent_of(const Band& band) {
  Extent extent;
  for (const BandPoint& p : band.points) {
    extent.low = std::min(extent.low, p.mean - p.half);
    extent.high = std::max(extent.high, p.mean + p.half);
  }
  return extent;
}

template <class Point>
std::vector<double> times_of(const std::vector<double>& grid, const Curve<Point>& curve) {
  std::vector<double> times;
  for (const std::uint32_t k : curve.at) times.push_back(grid[k]);
  return times;
}

template <class Point>
Curve<Point> at_places(const Curve<Point>& curve, const std::vector<std::size_t>& places) {
  Curve<Point> result;
  for (const std::size_t k : places) {
    result.at.push_back(curve.at[k]);
    result.points.push_back(curve.points[k]);
  }
  return result;
}

// ------------------------------------------------------------------------------------- bytes

constexpr std::uint8_t kHasExpectations = 1, kHasBands = 2, kHasProbabilities = 4, kHasClips = 8,
                       kHasDates = 16;

std::int64_t steps(double value, double of_one) {
  constexpr double kMost = 1e12;  // far beyond any picture, and safe in the script's integers
  const double scaled = value * of_one;
  return std::isnan(scaled)
             ? 0
             : static_cast<std::int64_t>(std::nearbyint(std::clamp(scaled, -kMost, kMost)));
}

template <class Range, class Value>
void put_deltas(ByteWriter& to, const Range& range, const Value& value) {
  std::vector<std::int64_t> numbers;
  for (const auto& item : range) numbers.push_back(value(item));
  to.deltas(numbers);
}

template <class Point>
void put_places(ByteWriter& to, const Curve<Point>& curve) {
  put_deltas(to, curve.at, [](std::uint32_t k) { return static_cast<std::int64_t>(k); });
}

void put_band(ByteWriter& to, const Band& band) {
  to.varint(band.at.size());
  if (band.at.empty()) return;
  const Extent extent = extent_of(band);
  const double low = extent.low, high = extent.high;
  const double unit = high > low ? kBandSteps / (high - low) : 0.0;
  to.float64(low);
  to.float64(high);
  put_places(to, band);
  put_deltas(to, band.points, [&](const BandPoint& p) { return steps(p.mean - low, unit); });
  put_deltas(to, band.points, [&](const BandPoint& p) { return steps(p.half, unit); });
  put_deltas(to, band.points,
             [](const BandPoint& p) { return steps(std::log2(p.half / p.deviation), kLogSteps); });
  put_deltas(to, band.points, [](const BandPoint& p) { return steps(p.share, kShareSteps); });
}

void put_curve(ByteWriter& to, const Curve<double>& curve) {
  to.varint(curve.at.size());
  put_places(to, curve);
  put_deltas(to, curve.points, [](double p) { return steps(p, kShareSteps); });
}

// z, and where `whole` also deviation and share, of the listed observations.
void put_expectations(ByteWriter& to, const Dataset& data, std::size_t first,
                      std::span<const std::size_t> observations, const Expectations& expected,
                      bool whole) {
  std::vector<BandPoint> points;
  for (const std::size_t k : observations) {
    const Marginal& m = expected.marginals[k - first];
    if (whole) points.push_back(band_point(m, 0.5));
    to.signed_varint(steps(surprise(m, data.value[k]).z, whole ? kZSteps : kCoarseZSteps));
  }
  if (!whole) return;
  put_deltas(to, points,
             [](const BandPoint& p) { return steps(std::log2(p.deviation), kLogSteps); });
  put_deltas(to, points, [](const BandPoint& p) { return steps(p.share, kShareSteps); });
}

void put_grid(ByteWriter& to, const std::vector<double>& grid) {
  to.varint(grid.size());
  if (grid.empty()) return;
  const double span = grid.back() - grid.front();
  to.float64(grid.front());
  to.float64(grid.back());
  put_deltas(to, grid, [&](double t) {
    return span > 0 ? steps((t - grid.front()) / span, kGridSteps) : std::int64_t{0};
  });
}

void put_dates(ByteWriter& to, const Dataset& data, std::size_t series) {
  constexpr double kMinute = 60e6;
  to.float64(data.time_axis.origin_of(series) + data.time_axis.zone * kMinute);
  std::string text;
  for (std::size_t e = data.first_event[series]; e < data.first_event[series + 1]; ++e) {
    if (!text.empty()) text += '\n';
    text += written_time(data, series, data.times[e]);
  }
  to.varint(text.size());
  to.append(text);
}

// The observations of each shown feature, as places in the dataset's arrays.
struct Shown {
  std::vector<std::vector<std::size_t>> observations;  // as the features
  std::vector<std::size_t> event_of;                   // of each observation of the series
};

Shown shown_observations(const Dataset& data, std::size_t series,
                         const std::vector<std::size_t>& features) {
  std::vector<std::size_t> place(data.features.size(), features.size());
  for (std::size_t j = 0; j < features.size(); ++j) place[features[j]] = j;
  Shown shown{std::vector<std::vector<std::size_t>>(features.size()), {}};
  const std::size_t first_event = data.first_event[series];
  for (std::size_t e = first_event; e < data.first_event[series + 1]; ++e)
    for (std::size_t k = data.first_observation[e]; k < data.first_observation[e + 1]; ++k) {
      shown.event_of.push_back(e - first_event);
      const std::size_t j = place[static_cast<std::size_t>(data.feature[k])];
      if (j < features.size()) shown.observations[j].push_back(k);
    }
  return shown;
}

}  // namespace

BandPoint band_point(const Marginal& m, double level) {
  const double variance = m.aleatoric + m.epistemic;
  const bool finite = std::isfinite(variance) && variance > 0;
  return {m.mean, half_width(m, level), finite ? std::sqrt(variance) : m.scale,
          finite ? m.aleatoric / variance : 1.0};
}

std::vector<std::size_t> shown_features(const Dataset& data, std::size_t series,
                                        const ExploreRequest& request) {
  std::vector<std::size_t> features = request.features;
  if (features.empty())
    for (std::size_t k = data.first_observation[data.first_event[series]];
         k < data.first_observation[data.first_event[series + 1]]; ++k)
      features.push_back(static_cast<std::size_t>(data.feature[k]));
  std::sort(features.begin(), features.end());
  features.erase(std::unique(features.begin(), features.end()), features.end());
  return features;
}

std::size_t band_bytes(const Model& model, const Dataset& data, std::size_t series) {
  const std::size_t times = kRegular + 2 * std::min(data.events(series), kMostEvents);
  return 2 * times *
         (model.features.size() * sizeof(Marginal) +
          static_cast<std::size_t>(model.network->hidden()) * sizeof(float));
}

std::vector<ExploredBands> explored_bands(const Model& model, const Dataset& data,
                                          std::span<const std::size_t> series,
                                          const ExploreRequest& request, ThreadPool& pool) {
  std::vector<ExploredBands> result(series.size());
  if (!model.network->has_distribution()) {
    for (std::size_t i = 0; i < series.size(); ++i) {
      leave_if_stopped(request.stop);
      if (data.events(series[i]) == 0) continue;
      result[i].grid = regular_times(time_span(model, data, series[i]), kAskedAnew);
      // What is observed at the end counts just after it.
      result[i].grid.push_back(std::nextafter(result[i].grid.back(), kInfinity));
      result[i].given_probability = asked_probabilities(
          model, data, series[i], result[i].grid, all_places(result[i].grid.size()), request, pool);
    }
    return result;
  }
  // Two examples a series: everything absorbed, and nothing from the cut-off on.
  std::vector<std::vector<std::uint32_t>> forecast(series.size());
  std::vector<Timeline<float>> timelines(2 * series.size());
  pool.for_each(series.size(), [&](std::size_t i, std::size_t) {
    if (data.events(series[i]) > 0) {
      result[i].grid = asked_times(model, data, series[i]);
      forecast[i] = forecast_places(model.protocol.cut_of(data, series[i]), result[i].grid);
    }
    std::vector<double> later;
    for (const std::uint32_t k : forecast[i]) later.push_back(result[i].grid[k]);
    timelines[2 * i] = query_timeline(model.protocol, data, series[i], result[i].grid);
    timelines[2 * i + 1] = query_timeline(model.protocol, data, series[i], later);
  });
  std::vector<Example> examples = examples_of(timelines);
  for (std::size_t i = 1; i < examples.size(); i += 2) examples[i].absorb_until = timelines[i].cut;
  InferenceOptions options = model.inference_options(request.guard);
  // A readout has more to read than the state.
  options.states = model.network->classes() > 0 && model.readout.empty();
  options.stop = request.stop;
  const std::vector<Answer> answers = infer(model, examples, pool, options);
  pool.for_each(series.size(), [&](std::size_t i, std::size_t) {
    if (data.events(series[i]) == 0) return;
    const auto all = all_places(result[i].grid.size());
    for (const std::size_t j : shown_features(data, series[i], request))
      result[i].features.push_back(
          {j, band_of(model, answers[2 * i], all, j, request.level),
           band_of(model, answers[2 * i + 1], forecast[i], j, request.level)});
    if (!options.states) return;
    result[i].given_probability = probability_curves(model, answers[2 * i], all);
    result[i].forecast_probability = probability_curves(model, answers[2 * i + 1], forecast[i]);
  });
  if (model.network->classes() > 0 && !model.readout.empty())
    for (std::size_t i = 0; i < series.size(); ++i) {
      if (data.events(series[i]) == 0) continue;
      const Dataset before =
          subset(data, series.subspan(i, 1), model.protocol.cut_of(data, series[i]));
      const auto all = all_places(result[i].grid.size());
      result[i].given_probability =
          asked_probabilities(model, data, series[i], result[i].grid, all, request, pool);
      result[i].forecast_probability =
          asked_probabilities(model, before, 0, result[i].grid, forecast[i], request, pool);
    }
  return result;
}

Band thinned(const std::vector<double>& grid, const Band& band, double tolerance) {
  const Extent extent = extent_of(band);
  // The mean, the upper edge and that of what is aleatoric.
  const auto value = [&](std::size_t i, std::size_t v) {
    const BandPoint& p = band.points[i];
    return p.mean + (v == 0 ? 0.0 : p.half * (v == 1 ? 1.0 : std::sqrt(p.share)));
  };
  return at_places(band, kept_places(times_of(grid, band), 3, value,
                                     tolerance * std::max(0.0, extent.high - extent.low)));
}

Curve<double> thinned(const std::vector<double>& grid, const Curve<double>& curve,
                      double tolerance) {
  const auto value = [&](std::size_t i, std::size_t) { return curve.points[i]; };
  return at_places(curve, kept_places(times_of(grid, curve), 1, value, tolerance));
}

std::string packed_series(const Model& model, const Dataset& data, std::size_t series,
                          const ExploreRequest& request, const ExploredParts& parts) {
  ByteWriter to;
  const std::size_t first_event = data.first_event[series];
  const std::size_t first = data.first_observation[first_event];
  to.varint(data.events(series));
  to.exact(std::span(data.times).subspan(first_event, data.events(series)));
  const bool bands = parts.bands && !parts.bands->features.empty();
  const bool probabilities = parts.bands && !parts.bands->given_probability.empty();
  const bool clips = parts.expected && !parts.expected->clips.empty();
  const bool dates = data.time_axis.is_calendar();
  to.byte(static_cast<std::uint8_t>(
      (parts.expected ? kHasExpectations : 0) | (bands ? kHasBands : 0) |
      (probabilities ? kHasProbabilities : 0) | (clips ? kHasClips : 0) | (dates ? kHasDates : 0)));
  const double cut = model.protocol.cut_of(data, series);
  to.float64(cut);
  if (dates) put_dates(to, data, series);
  const std::vector<std::size_t> features = shown_features(data, series, request);
  const Shown shown = shown_observations(data, series, features);
  to.varint(features.size());
  for (std::size_t j = 0; j < features.size(); ++j) {
    const std::vector<std::size_t>& own = shown.observations[j];
    to.varint(features[j]);
    to.varint(own.size());
    std::size_t last = 0;
    std::vector<double> values;
    for (const std::size_t k : own) {
      to.varint(shown.event_of[k - first] - last);
      last = shown.event_of[k - first];
      values.push_back(data.value[k]);
    }
    to.exact(values);
    if (parts.expected) {
      put_expectations(to, data, first, own, *parts.expected, bands);
      if (bands) {
        const auto later = std::find_if(own.begin(), own.end(), [&](std::size_t k) {
          return data.times[first_event + shown.event_of[k - first]] >= cut;
        });
        const auto forecast = std::span(own).subspan(static_cast<std::size_t>(later - own.begin()));
        to.varint(forecast.size());
        put_expectations(to, data, first, forecast, *parts.forecast, true);
      }
    }
    if (clips) {
      std::vector<const Expectations::Clip*> changed;
      for (const Expectations::Clip& clip : parts.expected->clips)
        if (static_cast<std::size_t>(data.feature[clip.observation]) == features[j])
          changed.push_back(&clip);
      to.varint(changed.size());
      std::size_t before = 0;
      for (const Expectations::Clip* clip : changed) {
        const auto place = static_cast<std::size_t>(
            std::lower_bound(own.begin(), own.end(), clip->observation) - own.begin());
        to.varint(place - before);
        before = place;
        to.float64(clip->used);
      }
    }
    if (bands) {
      const ExploredFeature& drawn = parts.bands->features[j];
      put_band(to, thinned(parts.bands->grid, drawn.given, parts.tolerance));
      put_band(to, thinned(parts.bands->grid, drawn.forecast, parts.tolerance));
    }
  }
  if (bands || probabilities) put_grid(to, parts.bands->grid);
  if (probabilities)
    for (const auto* curves :
         {&parts.bands->given_probability, &parts.bands->forecast_probability}) {
      to.varint(curves->size());
      for (const Curve<double>& curve : *curves)
        put_curve(to, thinned(parts.bands->grid, curve, parts.tolerance));
    }
  return to.bytes();
}

}  // namespace edict::report

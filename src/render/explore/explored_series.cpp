#include "render/explore/explored_series.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "ask/classification.h"
#include "ask/distribution.h"
#include "base/not_finite.h"
#include "data/subset.h"
#include "model/infer.h"

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
  if (model.network->classes() == 0 || !model.first().readout.empty() || places.empty()) return {};
  const Index hidden = model.network->hidden() * static_cast<Index>(model.members.size());
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
  options.states = model.network->classes() > 0 && model.first().readout.empty();
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
  if (model.network->classes() > 0 && !model.first().readout.empty())
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

BandExtent extent_of(const Band& band) {
  BandExtent extent{kInfinity, -kInfinity};
  for (const BandPoint& p : band.points) {
    extent.low = std::min(extent.low, p.mean - p.half);
    extent.high = std::max(extent.high, p.mean + p.half);
  }
  return extent;
}

Band thinned(const std::vector<double>& grid, const Band& band, double tolerance) {
  const BandExtent extent = extent_of(band);
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

}  // namespace edict::report

#include "render/series_figures.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace edict::report {
namespace {

using study::Browse;
using study::BrowsedBand;
using study::BrowsedClip;
using study::BrowsedFeature;
using study::BrowsedSeries;
using study::BrowsedView;

Chart::Points over_time(const std::vector<double>& times, const std::vector<double>& values) {
  Chart::Points points;
  for (std::size_t t = 0; t < times.size(); ++t) points.emplace_back(times[t], values[t]);
  return points;
}

// mean ± half
struct Interval {
  Chart::Points lower, upper;
};

Interval interval(const std::vector<double>& times, const BrowsedBand& band) {
  Interval result;
  for (std::size_t t = 0; t < times.size(); ++t) {
    result.lower.emplace_back(times[t], band.mean[t] - band.half[t]);
    result.upper.emplace_back(times[t], band.mean[t] + band.half[t]);
  }
  return result;
}

// What would remain of the interval if the model knew everything.
Interval aleatoric_interval(const std::vector<double>& times, const BrowsedBand& band) {
  BrowsedBand inner = band;
  for (std::size_t t = 0; t < times.size(); ++t)
    inner.half[t] *= band.aleatoric[t] / std::hypot(band.aleatoric[t], band.epistemic[t]);
  return interval(times, inner);
}

Chart band_chart(const std::string& title, const std::vector<double>& times,
                 const std::string& feature, const BrowsedBand& band, const Range& y,
                 const std::string& time_unit) {
  Chart chart(kFigureWidth, 240, {times.front(), times.back()}, y, time_label(time_unit), feature,
              title);
  const Interval whole = interval(times, band), inner = aleatoric_interval(times, band);
  chart.band(whole.lower, whole.upper, "epistemic");
  chart.band(inner.lower, inner.upper, "aleatoric");
  chart.line(over_time(times, band.mean), "mean");
  return chart;
}

void observed(Chart& chart, double time, double value) {
  chart.marker(time, value, 3, "seen", fmt::format("observed {:.3g} at {:.3g}", value, time));
}

// Below the bands: the two parts of the deviation.
std::string deviation_chart(const std::string& feature, const std::vector<double>& times,
                            const BrowsedBand& band, const std::string& time_unit) {
  RangeOf range;
  for (const auto* deviations : {&band.aleatoric, &band.epistemic})
    for (const double d : *deviations) range.add(d);
  Chart chart(kFigureWidth, 160, {times.front(), times.back()}, {0, range.with_margin().high},
              time_label(time_unit), "deviation", feature + ": sources of uncertainty");
  chart.line(over_time(times, band.aleatoric), "spread-aleatoric");
  chart.line(over_time(times, band.epistemic), "spread-epistemic");
  return chart.render();
}

std::string probability_chart(const std::vector<double>& times,
                              const std::vector<std::vector<double>>& probability,
                              const std::string& time_unit) {
  Chart chart(kFigureWidth, 200, {times.front(), times.back()}, {0, 1}, time_label(time_unit),
              "probability", "class probability, given what was seen until then");
  for (std::size_t k = 0; k < probability.size(); ++k)
    chart.line(over_time(times, probability[k]), fmt::format("line m{}", k % kColours));
  return chart.render();
}

}  // namespace

std::string time_label(const std::string& unit) {
  return unit.empty() ? "time" : fmt::format("time ({})", unit);
}

std::string forecast_chart(const std::string& title, const std::vector<double>& times,
                           const BrowsedFeature& feature, const BrowsedBand& band, double cut,
                           const std::string& time_unit) {
  RangeOf range;
  for (std::size_t t = 0; t < times.size(); ++t) {
    range.add(band.mean[t] - band.half[t]);
    range.add(band.mean[t] + band.half[t]);
  }
  for (const auto* values : {&feature.seen, &feature.later})
    for (const auto& [time, value] : *values) range.add(value);
  Chart chart = band_chart(title, times, feature.name, band, range.with_margin(), time_unit);
  if (cut < times.back()) chart.vertical(cut, "cut");
  for (const auto& [time, value] : feature.seen) observed(chart, time, value);
  for (const auto& [time, value] : feature.later)
    chart.marker(time, value, 2.6, "hidden",
                 fmt::format("came true: {:.3g} at {:.3g}", value, time));
  return chart.render();
}

std::string noisy_chart(const std::string& title, const std::vector<double>& times,
                        const BrowsedFeature& feature, const BrowsedBand& band,
                        const std::string& time_unit) {
  // The picture keeps to the clean values and the middle of the bands.
  RangeOf range;
  for (const double mean : band.mean) range.add(mean);
  for (const auto* values : {&feature.seen, &feature.later})
    for (const auto& [time, value] : *values) range.add(value);
  for (const BrowsedClip& clip : band.clips) range.add(clip.used);
  Chart chart = band_chart(title, times, feature.name, band, range.with_margin(0.35), time_unit);
  for (const auto& [time, value] : feature.noisy)
    if (std::none_of(band.clips.begin(), band.clips.end(),
                     [at = time](const BrowsedClip& clip) { return clip.time == at; }))
      observed(chart, time, value);
  for (const BrowsedClip& clip : band.clips) {
    const std::string tip =
        fmt::format("observed {:.3g} at {:.3g}, {:.3g} deviations off; taken as {:.3g}", clip.raw,
                    clip.time, clip.sigmas, clip.used);
    chart.line({{clip.time, clip.raw}, {clip.time, clip.used}}, "clip");
    chart.marker(clip.time, clip.raw, 3, "raw", tip);
    chart.marker(clip.time, clip.used, 2.4, "used", tip);
  }
  return chart.render();
}

std::string series_view(const Browse& browse, const BrowsedSeries& series, View view,
                        const std::string& time_unit) {
  const BrowsedView& drawn = view == View::forecast ? series.forecast : series.noisy;
  std::string text = fmt::format("<h3>Series {}{}</h3>", escape(series.id),
                                 series.label ? ", class " + escape(*series.label) : "");
  if (!drawn.probability.empty()) {
    text += "<p>Class probability:";
    for (std::size_t k = 0; k < browse.classes.size(); ++k)
      text += fmt::format(" <span class=\"swatch\" style=\"background:var(--m{})\"></span>class {}",
                          k % kColours, escape(browse.classes[k]));
    text += "</p>";
  }
  if (view == View::noisy) {
    std::size_t clips = 0;
    for (const BrowsedBand& band : drawn.features) clips += band.clips.size();
    text += fmt::format("<p>EDGR clipped {} observations of these features.</p>", clips);
  }
  text += "<div class=\"figures\">";
  for (std::size_t j = 0; j < series.features.size(); ++j) {
    const BrowsedFeature& feature = series.features[j];
    const BrowsedBand& band = drawn.features[j];
    text += view == View::forecast
                ? forecast_chart(feature.name, series.times, feature, band, browse.t_cut, time_unit)
                : noisy_chart(feature.name, series.times, feature, band, time_unit);
    text += deviation_chart(feature.name, series.times, band, time_unit);
  }
  if (!drawn.probability.empty())
    text += probability_chart(series.times, drawn.probability, time_unit);
  return text + "</div>";
}

}  // namespace edict::report

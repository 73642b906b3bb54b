#include "render/demonstration.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "render/embedded.h"
#include "render/series_figures.h"

namespace edict::report {
namespace {

Chart::Points curve(const CalibrationResult& r, std::span<const MeanStd> values) {
  Chart::Points points;
  for (std::size_t k = 0; k < values.size(); ++k) points.emplace_back(r.level[k], values[k].mean);
  return points;
}

}  // namespace

std::string bands_figure(const Model& model, const Dataset& data, const Trajectory& trajectory,
                         const std::vector<double>& times, double level, double absorb_until) {
  std::string figures;
  const std::size_t s = trajectory.series;
  for (std::size_t j = 0; j < model.features.size(); ++j) {
    study::BrowsedBand band;
    for (std::size_t t = 0; t < times.size(); ++t) {
      const Marginal& m = trajectory.at(t, j);
      band.mean.push_back(m.mean);
      band.half.push_back(half_width(m, level));
      band.aleatoric.push_back(std::sqrt(m.aleatoric));
      band.epistemic.push_back(std::sqrt(m.epistemic));
    }
    study::BrowsedFeature feature{model.features[j], {}, {}, {}};
    for (std::size_t e = data.first_event[s]; e < data.first_event[s + 1]; ++e)
      for (const Observation& o : data.observed(e))
        if (static_cast<std::size_t>(o.feature) == j)
          (data.times[e] < absorb_until ? feature.seen : feature.later)
              .emplace_back(data.times[e], o.value);
    figures += forecast_chart(data.ids[s] + " · " + feature.name, times, feature, band,
                              absorb_until, time_scale(data, s));
  }
  return figures;
}

std::string coverage_figure(const Evaluation& evaluation) {
  Chart chart(440, 300, {0, 1}, {0, 1}, "level of the interval", "share inside it", "coverage");
  chart.line({{0, 0}, {1, 1}}, "ideal");
  for (const auto& [result, css] : {std::pair(&evaluation.interpolation, std::string("first")),
                                    std::pair(&evaluation.extrapolation, std::string("other"))}) {
    if (!*result) continue;
    const auto points = curve(**result, (*result)->coverage);
    chart.line(points, css);
    chart.dots(points, 2.6, css + "-dot");
  }
  return chart.render();
}

std::string width_figure(const Evaluation& evaluation) {
  Chart::Points in, out;
  if (evaluation.interpolation)
    in = curve(*evaluation.interpolation, evaluation.interpolation->width);
  if (evaluation.extrapolation)
    out = curve(*evaluation.extrapolation, evaluation.extrapolation->width);
  double top = 0;
  for (const auto* points : {&in, &out})
    for (const auto& [x, y] : *points) top = std::max(top, y);
  Chart chart(440, 300, {0, 1}, {0, 1.05 * top}, "level of the interval",
              "mean width (model units)", "efficiency");
  chart.line(in, "first");
  chart.line(out, "other");
  return chart.render();
}

std::string stress_figure(const StressResult& result) {
  Range levels{0, 1};
  for (const StressCurve& curve : result.curves)
    for (const StressPoint& point : curve.levels)
      levels.high = std::max(levels.high, static_cast<double>(point.level));
  Chart chart(640, 320, levels, {0, 102}, "noise level", "accuracy (%)", "accuracy under noise");
  const char* const css[] = {"first", "other", "third"};
  for (std::size_t g = 0; g < result.curves.size(); ++g) {
    Chart::Points mean, low, high;
    for (const StressPoint& point : result.curves[g].levels) {
      const MeanStd accuracy =
          over_seeds(point, [](const ClassificationResult& r) { return 100 * r.accuracy; });
      mean.emplace_back(point.level, accuracy.mean);
      low.emplace_back(point.level, accuracy.mean - accuracy.std);
      high.emplace_back(point.level, accuracy.mean + accuracy.std);
    }
    const std::string colour = css[g % 3];
    chart.band(low, high, colour + "-band");
    chart.line(mean, colour);
    chart.dots(mean, 2.8, colour + "-dot");
    chart.note(0.02 * levels.high, 22.0 - 8.0 * static_cast<double>(g),
               std::string(name_of(result.curves[g].guard.kind)), colour + "-text");
  }
  return chart.render();
}

std::string html_page(const std::string& title, const std::string& lead,
                      const std::vector<Section>& sections) {
  std::string body;
  for (const Section& section : sections) {
    body += fmt::format("<h2>{}</h2>\n<p>{}</p>\n<div class=\"figures\">", escape(section.title),
                        section.text);
    for (const std::string& figure : section.figures) body += figure;
    body += "</div>\n" + section.tables;
  }
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
      "content=\"width=device-width, "
      "initial-scale=1\"><title>{0}</title><style>{1}</style></head>\n"
      "<body><h1>{0}</h1>\n<p>{2}</p>\n{3}</body></html>\n",
      escape(title), embedded("src/render/page/charts.css").value(), lead, body);
}

}  // namespace edict::report

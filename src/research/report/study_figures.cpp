#include "research/report/study_figures.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <span>

#include "render/series_figures.h"

namespace edict::report {

std::size_t colour_of(const std::string& method) {
  static const std::vector<std::string> known{
      "EDICT", "EDICT w/ EDGR", "EDICT w/ Pop. Mean", "GRU-ODE-Bayes", "GRU-D", "IPN", "SeFT"};
  const auto found = std::find(known.begin(), known.end(), method);
  if (found != known.end()) return static_cast<std::size_t>(found - known.begin());
  // The colours that are left.
  return known.size() +
         std::accumulate(method.begin(), method.end(), std::size_t{0}, [](std::size_t sum, char c) {
           return sum + static_cast<unsigned char>(c);
         }) % (kColours - known.size());
}

std::string noise_figure(const Results& results, Score score, const std::string& dataset) {
  const std::string title = score == Score::auroc ? "AUROC" : "Accuracy";
  double low = 100;
  for (const ScoreRow& row : results.scores(score))
    if (row.dataset == dataset && row.level)
      for (const auto& value : {row.value.ours, row.value.published})
        if (value) low = std::min(low, value->mean - value->std);
  const std::vector<int>& levels = results.levels;
  Chart chart(kFigureWidth, 320, {levels.front() - 0.2, levels.back() + 0.2},
              {std::floor(low / 10) * 10, 101}, "level of noise", title + " (%)",
              fmt::format("{} · {}", dataset, title));
  for (const std::string& method : methods_of(results.scores(score), dataset)) {
    const std::string css = fmt::format("m{}", colour_of(method));
    Chart::Points ours, published;
    for (const ScoreRow& row : results.scores(score)) {
      if (row.dataset != dataset || row.method != method || !row.level) continue;
      const double level = *row.level;
      if (row.value.published) published.emplace_back(level, row.value.published->mean);
      if (!row.value.ours) continue;
      const auto [mean, std] = *row.value.ours;
      ours.emplace_back(level, mean);
      chart.whisker(level, mean - std, mean + std, "whisker " + css);
      chart.marker(level, mean, 3.2, "spot " + css,
                   fmt::format("{}, level {}: {} (published {})", method, level,
                               value_text(row.value.ours, kScoreDigits),
                               value_text(row.value.published, kScoreDigits)));
    }
    if (!published.empty()) chart.line(published, "line published " + css);
    if (!ours.empty()) chart.line(ours, "line " + css);
  }
  return chart.render();
}

std::string interval_figure(const std::vector<const study::StudiedRun*>& runs, Task task,
                            IntervalCurve curve) {
  const bool coverage = curve == IntervalCurve::coverage;
  double top = coverage ? 1.0 : 0.0;
  std::vector<std::pair<std::string, Chart::Points>> lines;
  for (const study::StudiedRun* run : runs) {
    const Evaluation& evaluation = run->results.evaluation.value();
    const auto& result =
        task == Task::interpolation ? evaluation.interpolation : evaluation.extrapolation;
    if (!result) continue;
    Chart::Points points;
    const std::span<const MeanStd> values =
        coverage ? std::span<const MeanStd>(result->coverage) : result->width;
    for (std::size_t k = 0; k < values.size(); ++k) {
      points.emplace_back(result->level[k], values[k].mean);
      if (!coverage) top = std::max(top, 1.05 * points.back().second);
    }
    lines.emplace_back(run->method, std::move(points));
  }
  Chart chart(kFigureWidth, 300, {0, 1}, {0, top > 0 ? top : 1}, "level of the interval",
              coverage ? "share inside it" : "mean width (model units)",
              fmt::format("{}, {}", coverage ? "Coverage" : "Efficiency", name_of(task)));
  if (coverage) chart.line({{0, 0}, {1, 1}}, "ideal");
  for (const auto& [method, points] : lines) {
    const std::string css = fmt::format("m{}", colour_of(method));
    chart.line(points, "line " + css);
    for (const auto& [x, y] : points)
      chart.marker(x, y, 2.4, "spot " + css, fmt::format("{}: {:.3f} at {:.3f}", method, y, x));
  }
  return chart.render();
}

std::vector<std::string> band_figures(const study::Browse& browse, const std::string& time_unit,
                                      std::size_t count) {
  std::vector<std::string> figures;
  std::set<std::optional<std::string>> classes;
  for (const study::BrowsedSeries& series : browse.series) {
    if (classes.size() == count || !classes.insert(series.label).second) continue;
    for (std::size_t j = 0; j < std::min<std::size_t>(3, series.features.size()); ++j)
      figures.push_back(forecast_chart(fmt::format("{} · {}", series.id, series.features[j].name),
                                       series.times, series.features[j],
                                       series.forecast.features[j], browse.t_cut, time_unit));
  }
  return figures;
}

std::vector<std::string> example_figures(const study::StudiedData& studied, std::size_t count) {
  const Dataset& data = studied.data;
  std::vector<std::string> figures;
  std::set<std::int32_t> classes;
  for (std::size_t i = 0; i < data.size() && figures.size() < count; ++i) {
    if (data.events(i) < 3 || !classes.insert(data.labels[i]).second) continue;
    std::vector<Chart::Points> points(data.features.size());
    for (std::size_t e = data.first_event[i]; e < data.first_event[i + 1]; ++e)
      for (const Observation& o : data.observed(e))
        points[static_cast<std::size_t>(o.feature)].emplace_back(data.times[e], o.value);
    // Where features differ in their units, more than a few in one picture say nothing.
    std::vector<std::size_t> order(points.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return points[a].size() > points[b].size();
    });
    order.resize(std::min<std::size_t>(3, order.size()));
    std::sort(order.begin(), order.end());
    RangeOf values;
    for (const std::size_t j : order)
      for (const auto& [time, value] : points[j]) values.add(value);
    const Range y_range = values.with_margin();
    std::string names;
    for (const std::size_t j : order) names += (names.empty() ? "" : ", ") + data.features[j];
    const std::string label =
        data.labels[i] == Dataset::kNone
            ? std::string()
            : ", class " + data.classes[static_cast<std::size_t>(data.labels[i])];
    Chart chart(kFigureWidth, 220,
                {data.times[data.first_event[i]], data.times[data.first_event[i + 1] - 1]}, y_range,
                time_label(studied.plan.time_unit), names,
                fmt::format("{} · {}{}", studied.plan.title, data.ids[i], label));
    for (std::size_t k = 0; k < order.size(); ++k) {
      chart.line(points[order[k]], fmt::format("line m{}", k));
      chart.dots(points[order[k]], 2.6, fmt::format("spot m{}", k));
      if (points[order[k]].empty()) continue;
      const auto& [x, y] = points[order[k]].back();
      chart.note(x, y + 0.05 * (y_range.high - y_range.low), data.features[order[k]],
                 fmt::format("name m{}", k));
    }
    figures.push_back(chart.render());
  }
  return figures;
}

}  // namespace edict::report

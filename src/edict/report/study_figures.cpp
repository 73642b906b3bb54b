#include "edict/report/study_figures.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "edict/report/results.h"
#include "edict/report/svg.h"

namespace edict {
namespace {

using nlohmann::json;
constexpr double kWidth = 440;

std::string time_label(const std::string& unit) {
  return unit.empty() ? "time" : fmt::format("time ({})", unit);
}

Chart::Points zip(const json& x, const json& y, const json* offset = nullptr, double sign = 0) {
  Chart::Points points;
  for (std::size_t i = 0; i < x.size(); ++i)
    points.emplace_back(x[i],
                        y[i].get<double>() + (offset ? sign * (*offset)[i].get<double>() : 0.0));
  return points;
}

Chart::Points points_of(const json& pairs) {
  Chart::Points points;
  for (const json& pair : pairs) points.emplace_back(pair[0], pair[1]);
  return points;
}

Range range_of(std::initializer_list<const Chart::Points*> parts) {
  Range range{INFINITY, -INFINITY};
  for (const Chart::Points* points : parts)
    for (const auto& [x, y] : *points) {
      range.low = std::min(range.low, y);
      range.high = std::max(range.high, y);
    }
  const double margin = 0.05 * (range.high - range.low);
  return {range.low - margin, range.high + margin};
}

std::string bands(const json& series, std::size_t j, double cut, const std::string& time_unit) {
  const json &times = series["times"], &drawn = series["forecast"]["features"][j],
             &feature = series["features"][j];
  const std::string name = feature["name"];
  json inner = json::array();
  for (std::size_t t = 0; t < times.size(); ++t) {
    const double a = drawn["aleatoric"][t], e = drawn["epistemic"][t];
    inner.push_back(drawn["half"][t].get<double>() * a / std::hypot(a, e));
  }
  const auto lower = zip(times, drawn["mean"], &drawn["half"], -1),
             upper = zip(times, drawn["mean"], &drawn["half"], 1),
             seen = points_of(feature["seen"]), later = points_of(feature["later"]);
  Chart chart(kWidth, 240, {times.front(), times.back()}, range_of({&lower, &upper, &seen, &later}),
              time_label(time_unit), name,
              fmt::format("{} · {}", series["id"].get<std::string>(), name));
  chart.band(lower, upper, "epistemic");
  chart.band(zip(times, drawn["mean"], &inner, -1), zip(times, drawn["mean"], &inner, 1),
             "aleatoric");
  chart.line(zip(times, drawn["mean"]), "mean");
  if (cut < times.back().get<double>()) chart.vertical(cut, "cut");
  chart.dots(seen, 3, "seen");
  chart.dots(later, 2.6, "hidden");
  return chart.render();
}

}  // namespace

std::size_t colour_of(const std::string& method) {
  static const std::vector<std::string> known{
      "EDICT", "EDICT w/ EDGR", "EDICT w/ Pop. Mean", "GRU-ODE-Bayes", "GRU-D", "IPN", "SeFT"};
  const auto found = std::find(known.begin(), known.end(), method);
  if (found != known.end()) return static_cast<std::size_t>(found - known.begin());
  return 7 +
         std::accumulate(method.begin(), method.end(), std::size_t{0}, [](std::size_t sum, char c) {
           return sum + static_cast<unsigned char>(c);
         }) % 2;
}

std::string noise_figure(const json& results, const std::string& score,
                         const std::string& dataset) {
  const std::string title = score == "auroc" ? "AUROC" : "Accuracy";
  double low = 100;
  for (const json& row : results[score])
    if (row["dataset"] == dataset && !row["level"].is_null())
      for (const char* whose : {"ours", "published"})
        if (!row[whose].is_null())
          low = std::min(low, row[whose]["mean"].get<double>() - row[whose]["std"].get<double>());
  const json& levels = results["levels"];
  Chart chart(kWidth, 320, {levels.front().get<double>() - 0.2, levels.back().get<double>() + 0.2},
              {std::floor(low / 10) * 10, 101}, "level of noise", title + " (%)",
              fmt::format("{} · {}", dataset, title));
  std::vector<std::string> methods;
  for (const json& row : results[score])
    if (row["dataset"] == dataset &&
        std::find(methods.begin(), methods.end(), row["method"]) == methods.end())
      methods.push_back(row["method"]);
  for (const std::string& method : methods) {
    const std::string css = fmt::format("m{}", colour_of(method));
    Chart::Points ours, published;
    for (const json& row : results[score]) {
      if (row["dataset"] != dataset || row["method"] != method || row["level"].is_null()) continue;
      const double level = row["level"];
      if (!row["published"].is_null()) published.emplace_back(level, row["published"]["mean"]);
      if (row["ours"].is_null()) continue;
      const double mean = row["ours"]["mean"], std = row["ours"]["std"];
      ours.emplace_back(level, mean);
      chart.whisker(level, mean - std, mean + std, "whisker " + css);
      chart.marker(level, mean, 3.2, "spot " + css,
                   fmt::format("{}, level {}: {} (published {})", method, level,
                               value_text(row["ours"], 1), value_text(row["published"], 1)));
    }
    if (!published.empty()) chart.line(published, "line published " + css);
    if (!ours.empty()) chart.line(ours, "line " + css);
  }
  return chart.render();
}

std::string interval_figure(const std::vector<const StudiedRun*>& runs, const std::string& task,
                            const std::string& curve) {
  double top = curve == "coverage" ? 1.0 : 0.0;
  std::vector<std::pair<std::string, Chart::Points>> lines;
  for (const StudiedRun* run : runs) {
    const json& result = run->evaluate[task];
    if (result.is_null()) continue;
    Chart::Points points;
    for (std::size_t k = 0; k < result["level"].size(); ++k) {
      points.emplace_back(result["level"][k], result[curve][k]["mean"]);
      if (curve != "coverage") top = std::max(top, 1.05 * points.back().second);
    }
    lines.emplace_back(run->method, std::move(points));
  }
  Chart chart(kWidth, 300, {0, 1}, {0, top > 0 ? top : 1}, "level of the interval",
              curve == "coverage" ? "share inside it" : "mean width (model units)",
              fmt::format("{}, {}", curve == "coverage" ? "Coverage" : "Efficiency", task));
  if (curve == "coverage") chart.line({{0, 0}, {1, 1}}, "ideal");
  for (const auto& [method, points] : lines) {
    const std::string css = fmt::format("m{}", colour_of(method));
    chart.line(points, "line " + css);
    for (const auto& [x, y] : points)
      chart.marker(x, y, 2.4, "spot " + css, fmt::format("{}: {:.3f} at {:.3f}", method, y, x));
  }
  return chart.render();
}

std::vector<std::string> band_figures(const json& browse, const std::string& time_unit,
                                      std::size_t count) {
  std::vector<std::string> figures;
  std::set<json> classes;
  std::size_t drawn = 0;
  for (const json& series : browse["series"]) {
    if (drawn == count || !classes.insert(series["label"]).second) continue;
    ++drawn;
    for (std::size_t j = 0; j < std::min<std::size_t>(3, series["features"].size()); ++j)
      figures.push_back(bands(series, j, browse["t_cut"], time_unit));
  }
  return figures;
}

std::vector<std::string> example_figures(const StudiedData& studied, std::size_t count) {
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
    Chart::Points all;
    for (const std::size_t j : order) all.insert(all.end(), points[j].begin(), points[j].end());
    const Range y_range = range_of({&all});
    std::string names;
    for (const std::size_t j : order) names += (names.empty() ? "" : ", ") + data.features[j];
    const std::string label =
        data.labels[i] == Dataset::kNone
            ? std::string()
            : ", class " + data.classes[static_cast<std::size_t>(data.labels[i])];
    Chart chart(kWidth, 220,
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

}  // namespace edict

#include "render/evaluation_figures.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>

#include "render/svg.h"

namespace edict::report {
namespace {

constexpr double kHeight = 300;

const std::string& colour(std::size_t k) {
  static const std::vector<std::string> css{"first", "other", "third"};
  return css[k % css.size()];
}

// Names in the plot, one below the other from the top right corner down.
void name_lines(Chart& chart, const Range& x, const Range& y,
                const std::vector<std::pair<std::string, std::string>>& names, double from = 0.62) {
  for (std::size_t k = 0; k < names.size(); ++k)
    chart.note(x.low + from * (x.high - x.low),
               y.high - (0.07 + 0.08 * static_cast<double>(k)) * (y.high - y.low), names[k].first,
               names[k].second + "-text");
}

std::string number(double value, int digits = 4) {
  return std::isnan(value) ? "–" : fmt::format("{:.{}f}", value, digits);
}

std::string percent(double share) {
  return std::isnan(share) ? "–" : fmt::format("{:.1f}", 100 * share);
}

std::string row(const char* tag, const std::string& name, const std::vector<std::string>& cells) {
  std::string text = fmt::format("<tr><th>{}</th>", escape(name));
  for (const std::string& cell : cells) text += fmt::format("<{0}>{1}</{0}>", tag, escape(cell));
  return text + "</tr>";
}

std::string curve_figure(const ClassifierEvaluation& e, const std::string& title,
                         const std::string& x_label, const std::string& y_label, bool ideal,
                         double from, const std::function<std::string(const ClassScores&)>& name,
                         const std::function<std::pair<double, double>(const CurvePoint&)>& at) {
  Chart chart(kFigureWidth, kHeight, {0, 1}, {0, 1}, x_label, y_label, title);
  if (ideal) chart.line({{0, 0}, {1, 1}}, "ideal");
  std::vector<std::pair<std::string, std::string>> names;
  for (std::size_t k = 0; k < e.judged.size(); ++k) {
    Chart::Points points;
    for (const CurvePoint& point : e.judged[k].curve) points.push_back(at(point));
    chart.line(points, colour(k));
    if (k < 6) names.emplace_back(name(e.judged[k]), colour(k));
  }
  // From the bottom up, where these curves leave room.
  for (std::size_t k = 0; k < names.size(); ++k)
    chart.note(from, 0.06 + 0.08 * static_cast<double>(names.size() - 1 - k), names[k].first,
               names[k].second + "-text");
  return chart.render();
}

Chart::Points curve(const CalibrationResult& r, std::span<const MeanStd> values) {
  Chart::Points points;
  for (std::size_t k = 0; k < values.size(); ++k) points.emplace_back(r.level[k], values[k].mean);
  return points;
}

}  // namespace

std::string learning_figure(const std::vector<EpochRow>& rows) {
  if (rows.empty()) return {};
  const bool classes = std::any_of(
      rows.begin(), rows.end(), [](const EpochRow& r) { return r.validation_cross_entropy != 0; });
  Chart::Points training, validation;
  RangeOf range;
  const EpochRow* best = nullptr;
  for (const EpochRow& r : rows) {
    const auto epoch = static_cast<double>(r.epoch);
    if (r.epoch > 0) training.emplace_back(epoch, classes ? r.cross_entropy : r.nll);
    validation.emplace_back(epoch, classes ? r.validation_cross_entropy : r.validation_nll);
    if (r.best) best = &r;
  }
  for (const auto* points : {&training, &validation})
    for (const auto& [x, y] : *points) range.add(y);
  const Range x{static_cast<double>(rows.front().epoch) - (rows.size() == 1 ? 1 : 0),
                static_cast<double>(rows.back().epoch)};
  const Range y = range.with_margin();
  Chart chart(kFigureWidth, kHeight, x, y, "epoch",
              classes ? "cross-entropy" : "negative log-likelihood", "learning");
  if (best) chart.vertical(static_cast<double>(best->epoch), "cut");
  chart.line(training, "first");
  chart.line(validation, "other");
  if (rows.size() < 3) {
    chart.dots(training, 2.6, "first-dot");
    chart.dots(validation, 2.6, "other-dot");
  }
  name_lines(chart, x, y, {{"training", "first"}, {"validation", "other"}});
  return chart.render();
}

std::string pit_figure(const TaskBreakdown& task, const std::string& title) {
  constexpr double kBins = static_cast<double>(kPitBins);
  double top = 2;
  for (const double share : task.pit) top = std::max(top, 1.05 * share * kBins);
  Chart chart(kFigureWidth, kHeight, {0, 1}, {0, top}, "probability integral F(x)", "density",
              title);
  for (std::size_t b = 0; b < kPitBins; ++b) {
    const double low = static_cast<double>(b) / kBins, high = static_cast<double>(b + 1) / kBins;
    const double height = task.pit[b] * kBins;
    chart.band({{low, 0}, {high, 0}}, {{low, height}, {high, height}}, "first-band");
    chart.line({{low, 0}, {low, height}, {high, height}, {high, 0}}, "bar");
  }
  chart.line({{0, 1}, {1, 1}}, "ideal");
  return chart.render();
}

std::string horizon_figure(const TaskBreakdown& task, const std::string& title) {
  Chart::Points model, last, mean;
  double top = 0;
  for (const ScoredGroup& group : task.horizons) {
    const auto place = static_cast<double>(model.size() + 1);
    model.emplace_back(place, group.model.mse);
    last.emplace_back(place, group.last_value.mse);
    mean.emplace_back(place, group.training_mean.mse);
    for (const auto* points : {&model, &last, &mean}) top = std::max(top, points->back().second);
  }
  const Range x{0.6, static_cast<double>(model.size()) + 0.4};
  const Range y{0, 1.4 * top};  // the names stand above the lines
  Chart chart(kFigureWidth, kHeight, x, y, "horizon: rows of the table, first to last",
              "MSE (model units)", title);
  std::size_t k = 0;
  for (const auto* points : {&model, &last, &mean}) {
    chart.line(*points, colour(k));
    chart.dots(*points, 2.8, colour(k++) + "-dot");
  }
  name_lines(chart, x, y, {{"model", "first"}, {"last value", "other"}, {"training mean", "third"}},
             0.04);
  return chart.render();
}

std::string scores_table(const std::vector<ScoredGroup>& groups, const std::string& what) {
  std::string text = "<div class=\"wide\"><table class=\"scores\"><thead>" +
                     row("th", what,
                         {"observed", "MSE", "last value", "training mean", "MAE", "own unit",
                          "NLL", "CRPS", "in 50 %", "in 90 %", "in 95 %"}) +
                     "</thead><tbody>";
  for (const ScoredGroup& group : groups) {
    const Scores& s = group.model;
    text += row(
        "td", group.name,
        {fmt::format("{}", group.observations), number(s.mse) + (beaten(group) ? " ▼" : ""),
         number(group.last_value.mse), number(group.training_mean.mse), number(s.mae),
         what == "feature" ? fmt::format("{:.4g}", s.mae * group.unit) : "–", number(s.nll),
         number(s.crps), percent(s.coverage[0]), percent(s.coverage[1]), percent(s.coverage[2])});
  }
  return text + "</tbody></table></div>";
}

std::string roc_figure(const ClassifierEvaluation& e) {
  return curve_figure(
      e, "ROC", "false positive rate", "true positive rate", true, 0.45,
      [](const ClassScores& s) { return fmt::format("{}: AUROC {:.3f}", s.name, s.auroc); },
      [](const CurvePoint& p) { return std::pair(p.false_positive_rate, p.true_positive_rate); });
}

std::string precision_recall_figure(const ClassifierEvaluation& e) {
  return curve_figure(
      e, "precision and recall", "recall", "precision", false, 0.03,
      [&](const ClassScores& s) {
        return fmt::format("{}: AUPRC {:.3f} (share {:.3f})", s.name, s.auprc,
                           static_cast<double>(s.positives) / static_cast<double>(e.result.series));
      },
      [](const CurvePoint& p) { return std::pair(p.true_positive_rate, p.precision); });
}

std::string reliability_figure(const ClassifierEvaluation& e) {
  Chart chart(kFigureWidth, kHeight, {0, 1}, {0, 1}, "predicted probability",
              "share that came true", "reliability");
  chart.line({{0, 0}, {1, 1}}, "ideal");
  for (std::size_t k = 0; k < e.judged.size(); ++k) {
    Chart::Points points;
    for (const ReliabilityBin& bin : e.judged[k].reliability)
      if (bin.series > 0) points.emplace_back(bin.predicted, bin.observed);
    chart.line(points, colour(k));
    for (const ReliabilityBin& bin : e.judged[k].reliability)
      if (bin.series > 0)
        chart.marker(bin.predicted, bin.observed, 3, colour(k) + "-dot",
                     fmt::format("{}: {} series, predicted {:.3f}, came true {:.3f}",
                                 e.judged[k].name, bin.series, bin.predicted, bin.observed));
  }
  return chart.render();
}

std::string confusion_table(const ClassifierEvaluation& e) {
  std::string text =
      "<div class=\"wide\"><table class=\"scores\"><caption>Confusion: a row a true "
      "class, a column a predicted one</caption><thead>" +
      row("th", "", e.classes) + "</thead><tbody>";
  for (std::size_t i = 0; i < e.classes.size(); ++i) {
    std::vector<std::string> cells;
    for (std::size_t j = 0; j < e.classes.size(); ++j)
      cells.push_back(fmt::format("{}", e.result.confusion[i * e.classes.size() + j]));
    text += row("td", e.classes[i], cells);
  }
  return text + "</tbody></table></div>";
}

std::string classifier_table(const ClassifierEvaluation& e) {
  const ClassificationResult& r = e.result;
  const auto n = static_cast<double>(e.judged.size());
  double auprc = 0, ece = 0;
  for (const ClassScores& s : e.judged) auprc += s.auprc / n, ece += s.ece / n;
  return "<div class=\"wide\"><table class=\"scores\"><thead>" +
         row("th", "", {"accuracy %", "AUROC", "AUPRC", "Brier", "log loss", "ECE"}) +
         "</thead><tbody>" +
         row("td", "classifier",
             {percent(r.accuracy), number(e.judged.size() == 1 ? e.judged[0].auroc : r.auroc.value),
              number(auprc), number(r.brier), number(r.log_loss), number(ece)}) +
         row("td", "class shares alone",
             {percent(e.prior.accuracy), number(0.5), number(e.prior.auprc), number(e.prior.brier),
              number(e.prior.log_loss), number(0)}) +
         "</tbody></table></div>";
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

}  // namespace edict::report

#include "front/cli/terminal/score_tables.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "base/text/utf8.h"

namespace edict::cli {
namespace {

// A number in `width` columns, or a dash where there is none; large ones keep to the width.
std::string told(double value, int width = 8, int digits = 4) {
  if (std::isnan(value)) return fmt::format("{:>{}}", "–", width);
  if (std::abs(value) >= std::pow(10.0, width - digits - 2))
    return fmt::format("{:>{}.{}g}", value, width, 3);
  return fmt::format("{:>{}.{}f}", value, width, digits);
}

std::string percent(double share, int width = 7) {
  if (std::isnan(share)) return fmt::format("{:>{}}", "–", width);
  return fmt::format("{:>{}.1f}", 100 * share, width);
}

std::string padded(const std::string& text, std::size_t width) {
  const std::size_t own = display_width(text);
  return text + std::string(own < width ? width - own : 0, ' ');
}

std::string score_row(const std::string& name, const Scores& scores) {
  std::string row = "  " + padded(name, 22);
  for (const double value : {scores.mse, scores.mae, scores.nll, scores.crps})
    row += told(value, 9);
  for (const double share : scores.coverage) row += percent(share);
  return row + "\n";
}

// One bar a bin, its height relative to twice the share that a calibrated model has.
std::string bars(const std::array<double, kPitBins>& shares) {
  static const std::vector<std::string> heights{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  std::string text;
  for (const double share : shares) {
    const double height = share * static_cast<double>(kPitBins) / 2;
    const auto step = static_cast<std::size_t>(std::max(0.0, height * 8));
    text += heights[std::min(step, heights.size() - 1)];
  }
  return text;
}

std::string task_baselines(const TaskBreakdown& task, const char* name, const std::string& kind) {
  const ScoredGroup& all = task.all;
  std::string text = fmt::format("  {} ({} observations)\n", name, all.observations);
  text += score_row("  " + kind, all.model);
  text += score_row("  last value", all.last_value);
  text += score_row("  training mean", all.training_mean);
  const bool after_last = all.model.mse >= all.last_value.mse;
  const bool after_mean = all.model.mse >= all.training_mean.mse;
  if (after_last || after_mean)
    text += fmt::format("    note: its error is no smaller than that of {}\n",
                        after_last && after_mean ? "either"
                        : after_last             ? "the last value"
                                                 : "the training mean");
  text += fmt::format("    PIT {}  flat where calibrated\n", bars(task.pit));
  return text;
}

std::string task_groups(const std::vector<ScoredGroup>& groups, const char* task, By by) {
  const bool features = by == By::feature;
  std::string text = fmt::format(
      "\n  {} by {}\n  {}{:>9}{:>9}{:>9}{:>9}{:>9}{:>7}{:>7}{:>7}{:>11}{:>11}{}\n", task,
      features ? "feature" : "horizon", padded("", 18), "observed", "MSE", "MAE", "NLL", "CRPS",
      "50 %", "90 %", "95 %", "last value", "train mean", features ? "   MAE, own unit" : "");
  for (const ScoredGroup& group : groups) {
    const Scores& s = group.model;
    std::string row = "  " + padded(group.name, 18) + fmt::format("{:>9}", group.observations);
    for (const double value : {s.mse, s.mae, s.nll, s.crps}) row += told(value, 9);
    for (const double share : s.coverage) row += percent(share);
    row += told(group.last_value.mse, 11) + told(group.training_mean.mse, 11);
    if (features) row += fmt::format("{:>16.4g}", s.mae * group.unit);
    text += row + (beaten(group) ? "  ▼\n" : "\n");
  }
  return text;
}

}  // namespace

std::string decimals(double value, int count) {
  return std::abs(value) < 1e6 ? fmt::format("{:.{}f}", value, count)
                               : fmt::format("{:.3g}", value);
}

std::string baselines_text(const Breakdown& breakdown, const std::string& kind) {
  std::string text = fmt::format(
      "\ncompared with forecasts without a model; every observation counts once, intervals in %\n"
      "  {}{:>9}{:>9}{:>9}{:>9}{:>7}{:>7}{:>7}\n",
      padded("", 22), "MSE", "MAE", "NLL", "CRPS", "50 %", "90 %", "95 %");
  if (breakdown.interpolation)
    text += task_baselines(*breakdown.interpolation, "interpolation", kind);
  if (breakdown.extrapolation)
    text += task_baselines(*breakdown.extrapolation, "extrapolation", kind);
  return text;
}

std::string breakdown_text(const Breakdown& breakdown, By by) {
  std::string text =
      by == By::feature
          ? "\nby feature; 'last value' and 'train mean' are their MSE; ▼: the model's is no "
            "smaller\n"
          : "\nby horizon: time since the series was last observed, in the data's unit\n";
  for (const auto& [task, name] : {std::pair(&breakdown.interpolation, "interpolation"),
                                   std::pair(&breakdown.extrapolation, "extrapolation")})
    if (*task)
      text += task_groups(by == By::feature ? (*task)->features : (*task)->horizons, name, by);
  return text;
}

std::string classifier_text(const ClassifierEvaluation& e) {
  const ClassificationResult& r = e.result;
  double auprc = 0, ece = 0;
  for (const ClassScores& scores : e.judged) {
    auprc += scores.auprc / static_cast<double>(e.judged.size());
    ece += scores.ece / static_cast<double>(e.judged.size());
  }
  const bool one = e.judged.size() == 1;
  std::string text = fmt::format(
      "\nclasses: {} series{}; AUROC, AUPRC and ECE of {}\n"
      "  {}{:>10}{:>9}{:>9}{:>9}{:>10}{:>9}\n",
      r.series, e.unlabelled > 0 ? fmt::format(" ({} without a label left out)", e.unlabelled) : "",
      one ? fmt::format(
                "class '{}' ({:.1f} % of them)", e.judged[0].name,
                100.0 * static_cast<double>(e.judged[0].positives) / static_cast<double>(r.series))
          : "each class against the rest, their means",
      padded("", 22), "accuracy", "AUROC", "AUPRC", "Brier", "log loss", "ECE");
  const auto row = [&](const std::string& name, double accuracy, double auroc, double precision,
                       double brier, double log_loss, double error) {
    text += "  " + padded(name, 22) + fmt::format("{:>8.2f} %", 100 * accuracy) + told(auroc, 9) +
            told(precision, 9) + told(brier, 9) + told(log_loss, 10) + told(error, 9) + "\n";
  };
  row("classifier", r.accuracy, one ? e.judged[0].auroc : r.auroc.value, auprc, r.brier, r.log_loss,
      ece);
  row("class shares alone", e.prior.accuracy, 0.5, e.prior.auprc, e.prior.brier, e.prior.log_loss,
      0.0);
  if (r.log_loss >= e.prior.log_loss)
    text += "    note: its log loss is no smaller than that of the class shares alone\n";
  if (!one)
    for (const ClassScores& scores : e.judged)
      text += "    " + padded(fmt::format("'{}' ({})", scores.name, scores.positives), 20) +
              std::string(10, ' ') + told(scores.auroc, 9) + told(scores.auprc, 9) +
              told(scores.brier, 9) + std::string(10, ' ') + told(scores.ece, 9) + "\n";

  std::size_t width = 8;
  for (const std::string& name : e.classes) width = std::max(width, display_width(name) + 2);
  text += "\n  confusion: a row a true class, a column a predicted one\n    " + padded("", width);
  const auto right = [&](const std::string& cell) {
    const std::size_t own = display_width(cell);
    return std::string(own < width ? width - own : 0, ' ') + cell;
  };
  for (const std::string& name : e.classes) text += right(name);
  text += "\n";
  for (std::size_t i = 0; i < e.classes.size(); ++i) {
    text += "    " + padded(e.classes[i], width);
    for (std::size_t j = 0; j < e.classes.size(); ++j)
      text += right(fmt::format("{}", r.confusion[i * e.classes.size() + j]));
    text += "\n";
  }
  if (!one) return text;
  text += fmt::format(
      "\n  reliability: of series given a probability of '{}', how many were\n"
      "    {}{:>12}{:>11}{:>9}\n",
      e.judged[0].name, padded("", 20), "predicted", "came true", "series");
  for (const ReliabilityBin& bin : e.judged[0].reliability)
    if (bin.series > 0)
      text += "    " + padded(fmt::format("{:.1f} to {:.1f}", bin.low, bin.high), 20) +
              told(bin.predicted, 12, 3) + told(bin.observed, 11, 3) +
              fmt::format("{:>9}", bin.series) + "\n";
  return text;
}

}  // namespace edict::cli

#include "render/evaluation_page.h"

#include <fmt/core.h>

#include <utility>

#include "render/embedded.h"
#include "render/evaluation_figures.h"
#include "render/svg.h"

namespace edict::report {
namespace {

// Those that there is something of.
std::vector<std::pair<const TaskBreakdown*, const char*>> tasks(const Breakdown& breakdown) {
  std::vector<std::pair<const TaskBreakdown*, const char*>> found;
  if (breakdown.interpolation) found.emplace_back(&*breakdown.interpolation, "interpolation");
  if (breakdown.extrapolation) found.emplace_back(&*breakdown.extrapolation, "extrapolation");
  return found;
}

std::string scores(const std::optional<CalibrationResult>& result) {
  return result ? fmt::format("MSE {:.4f}, ECE {:.3f}", result->mse.mean, result->ece)
                : "no observations";
}

Section calibration_section(const DetailedEvaluation& result, const std::string& series) {
  const Evaluation& evaluation = result.evaluation;
  Section section{
      "Calibration",
      fmt::format(
          "On {}. <span class=\"key\" style=\"background:var(--mean)\"></span>"
          "interpolation: {} <span class=\"key\" style=\"background:var(--second)\"></span>"
          "extrapolation: {}. A calibrated model's coverage lies on the dotted line, and its "
          "probability integral is spread evenly.",
          escape(series), scores(evaluation.interpolation), scores(evaluation.extrapolation)),
      {coverage_figure(evaluation), width_figure(evaluation)}};
  for (const auto& [task, name] : tasks(result.breakdown))
    section.figures.push_back(pit_figure(*task, fmt::format("PIT, {}", name)));
  return section;
}

Section error_section(const Breakdown& breakdown) {
  Section section{
      "Errors",
      "Every observation counts once, in the model's units but for the column <em>own unit</em>. "
      "<em>Last value</em> and <em>training mean</em> are the MSE of forecasts that need no model; "
      "▼ marks where one of them is smaller than the model's. A horizon is the time since the "
      "series was last observed, in the data's unit.",
      {}};
  for (const auto& [task, name] : tasks(breakdown)) {
    section.figures.push_back(horizon_figure(*task, fmt::format("{} by horizon", name)));
    section.tables += fmt::format("<h3>{}</h3>\n", name) + scores_table({task->all}, "") +
                      scores_table(task->horizons, "horizon") +
                      scores_table(task->features, "feature");
  }
  return section;
}

Section class_section(const ClassifierEvaluation& classes) {
  return {"Classes",
          fmt::format("{} series with a label. <em>Always the shares</em> answers the same "
                      "probabilities for every series: what can be said without looking.",
                      classes.result.series),
          {roc_figure(classes), precision_recall_figure(classes), reliability_figure(classes)},
          classifier_table(classes) + confusion_table(classes)};
}

Section learning_section(const std::vector<EpochRow>& epochs) {
  return {"Learning",
          fmt::format("{} epochs; the model of the dashed line was kept, by its loss on the "
                      "validation split.",
                      epochs.back().epoch),
          {learning_figure(epochs)}};
}

}  // namespace

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

std::string evaluation_page(const std::string& title, const std::string& series,
                            const std::optional<DetailedEvaluation>& evaluation,
                            const std::optional<ClassifierEvaluation>& classes,
                            const std::vector<EpochRow>& epochs) {
  std::vector<Section> sections;
  if (evaluation) {
    sections.push_back(calibration_section(*evaluation, series));
    sections.push_back(error_section(evaluation->breakdown));
  }
  if (classes) sections.push_back(class_section(*classes));
  if (!epochs.empty()) sections.push_back(learning_section(epochs));
  return html_page(title, "Distributions in continuous time, learnt from irregular observations.",
                   sections);
}

}  // namespace edict::report

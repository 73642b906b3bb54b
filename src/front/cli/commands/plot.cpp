#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>

#include "base/error.h"
#include "base/files/atomic_file.h"
#include "base/json/json.h"
#include "base/json/json_text.h"
#include "base/json/json_values.h"
#include "front/cli/asked.h"
#include "front/cli/command.h"
#include "front/cli/given_data.h"
#include "front/cli/judged_classes.h"
#include "front/cli/terminal/progress.h"
#include "judge/detailed_evaluation.h"
#include "learn/checkpoint.h"
#include "render/demonstration.h"
#include "render/evaluation_figures.h"

namespace edict::cli {
namespace {

struct PlotArguments {
  std::string model, data, out, json, split = "test";
  std::vector<std::string> ids;
  double level = 0.9;
  ReadOptions reading;
  int threads = 0;
};

std::vector<std::size_t> chosen(const PlotArguments& options, const Dataset& data,
                                const std::vector<std::size_t>& judged) {
  std::vector<std::size_t> series;
  for (const std::string& id : options.ids)
    series.push_back(place_of("--series", "series", id, data.ids));
  if (series.empty())
    series.assign(judged.begin(), judged.begin() + std::min<std::ptrdiff_t>(3, std::ssize(judged)));
  return series;
}

// Those that there is something of.
std::vector<std::pair<const TaskBreakdown*, const char*>> tasks(const Breakdown& breakdown) {
  std::vector<std::pair<const TaskBreakdown*, const char*>> found;
  if (breakdown.interpolation) found.emplace_back(&*breakdown.interpolation, "interpolation");
  if (breakdown.extrapolation) found.emplace_back(&*breakdown.extrapolation, "extrapolation");
  return found;
}

// What the model did with a series that it has met, for the reader of its bands.
std::string_view met_as(Part part) {
  return part == Part::train        ? "the model was trained on"
         : part == Part::validation ? "the model was chosen by"
                                    : "";
}

std::string figures(const std::optional<CalibrationResult>& result) {
  return result ? fmt::format("MSE {:.4f}, ECE {:.3f}", result->mse.mean, result->ece)
                : "no observations";
}

// Drawn series, by met_as.
using Met = std::map<std::string_view, std::vector<std::string>>;

// The bands of the chosen series.
std::vector<report::Section> band_sections(const PlotArguments& options, const Model& model,
                                           const Dataset& data,
                                           const std::vector<std::size_t>& series, ThreadPool& pool,
                                           Met& met) {
  std::vector<report::Section> sections;
  for (std::size_t i : series) {
    const double start = model.protocol.start_of(data, i);
    const double last = model.protocol.end_of(data, i);
    // A little further, so that the last dot is whole.
    const double end = last + 0.02 * (last - start);
    std::vector<double> times;
    constexpr int kPoints = 400;
    for (int k = 0; k <= kPoints; ++k) times.push_back(start + (end - start) * k / kPoints);
    const std::string_view how = met_as(model.seen.part_of(data.ids[i], data.group_name(i)));
    if (!how.empty()) met[how].push_back(data.ids[i]);
    PredictRequest request{times, {i}};
    request.absorb_until = model.protocol.cut_of(data, i);
    predict(model, data, request, pool, [&](const Trajectory& trajectory) {
      sections.push_back({"Series " + data.ids[i],
                          how.empty() ? "" : fmt::format("Note: {} this series. ", how),
                          {report::bands_figure(model, data, trajectory, times, options.level,
                                                request.absorb_until)}});
    });
  }
  sections.front().text += fmt::format(
      "The {:g} % predictive interval over time. <span class=\"key\" style=\"background:"
      "var(--aleatoric)\"></span>noise of the data (aleatoric) <span class=\"key\" "
      "style=\"background:var(--epistemic)\"></span>what the uncertainty of the model (epistemic) "
      "adds. "
      "Filled dots were absorbed; hollow ones, after the dashed line, were not.",
      100 * options.level);
  return sections;
}

report::Section calibration_section(const DetailedEvaluation& result, const JudgedSeries& judged) {
  const Evaluation& evaluation = result.evaluation;
  report::Section section{
      "Calibration",
      fmt::format(
          "On {} series{}. <span class=\"key\" style=\"background:var(--mean)\"></span>"
          "interpolation: {} <span class=\"key\" style=\"background:var(--second)\"></span>"
          "extrapolation: {}. A calibrated model's coverage lies on the dotted line, and its "
          "probability integral is spread evenly.",
          judged.series.size(),
          judged.about.empty() ? fmt::format(" of the {} split", judged.split)
                               : fmt::format(" ({})", judged.about),
          figures(evaluation.interpolation), figures(evaluation.extrapolation)),
      {report::coverage_figure(evaluation), report::width_figure(evaluation)}};
  for (const auto& [task, name] : tasks(result.breakdown))
    section.figures.push_back(report::pit_figure(*task, fmt::format("PIT, {}", name)));
  return section;
}

report::Section error_section(const Breakdown& breakdown) {
  report::Section section{
      "Errors",
      "Every observation counts once, in the model's units but for the column <em>own unit</em>. "
      "<em>Last value</em> and <em>training mean</em> are the MSE of forecasts that need no model; "
      "▼ marks where one of them is smaller than the model's. A horizon is the time since the "
      "series was last observed, in the data's unit.",
      {}};
  for (const auto& [task, name] : tasks(breakdown)) {
    section.figures.push_back(report::horizon_figure(*task, fmt::format("{} by horizon", name)));
    section.tables += fmt::format("<h3>{}</h3>\n", name) + report::scores_table({task->all}, "") +
                      report::scores_table(task->horizons, "horizon") +
                      report::scores_table(task->features, "feature");
  }
  return section;
}

report::Section class_section(const ClassifierEvaluation& classes) {
  return {"Classes",
          fmt::format("{} series with a label. <em>Always the shares</em> answers the same "
                      "probabilities for every series: what can be said without looking.",
                      classes.result.series),
          {report::roc_figure(classes), report::precision_recall_figure(classes),
           report::reliability_figure(classes)},
          report::classifier_table(classes) + report::confusion_table(classes)};
}

void run(const PlotArguments& options) {
  check_files({options.model, options.data}, {options.out, options.json});
  Progress progress("plotting");
  progress.begin();
  const Model model = load_model(options.model);
  const Dataset data = open_for(model, options.data, options.reading);
  const JudgedSeries judged = judged_series(model, data, options.split);
  ThreadPool pool(static_cast<std::size_t>(options.threads));

  std::vector<report::Section> sections;
  std::optional<DetailedEvaluation> result;
  Met met;
  if (model.network->has_distribution()) {
    sections = band_sections(options, model, data, chosen(options, data, judged.series), pool, met);
    result = evaluate_in_detail(model, data, judged.series, pool);
    sections.push_back(calibration_section(*result, judged));
    sections.push_back(error_section(result->breakdown));
  }
  const JudgedClasses classes = judged_classes(model, data, judged.series, pool);
  if (classes.result) sections.push_back(class_section(*classes.result));
  std::vector<EpochRow> epochs;
  if (const auto path = metrics_path(options.model); std::filesystem::exists(path)) {
    epochs = read_metrics(path);
    if (!epochs.empty())
      sections.push_back(
          {"Learning",
           fmt::format("{} epochs; the model of the dashed line was kept, by its loss "
                       "on the validation split.",
                       epochs.back().epoch),
           {report::learning_figure(epochs)}});
  }
  write_atomically(
      options.out,
      report::html_page(model.config.model.kind + " on " +
                            std::filesystem::path(options.data).filename().string(),
                        "Distributions in continuous time, learnt from irregular observations.",
                        sections));
  if (!options.json.empty()) {
    nlohmann::json json = nlohmann::json::object();
    if (result) {
      json = to_json(result->evaluation);
      json["breakdown"] = to_json(result->breakdown);
    }
    json["classifier"] = json_or_null(classes.result);
    json["split"] = judged.split;
    json["note"] = judged.about;
    write_atomically(options.json, json_text(json, 2) + "\n");
  }
  progress.end();
  std::FILE* const text = text_stream({options.out, options.json});
  if (!judged.about.empty()) fmt::print(text, "{}\n", judged.about);
  if (!classes.note.empty()) fmt::print(text, "note: {}\n", classes.note);
  if (!options.ids.empty())  // of a --split it was just told
    for (const auto& [how, ids] : met)
      fmt::print(text, "note: {} series {}, drawn here\n", how, fmt::join(ids, ", "));
  if (!is_standard_output(options.out))
    fmt::print(text, "{}\n", std::filesystem::absolute(options.out).string());
}

}  // namespace

void add_plot(CLI::App& app) {
  auto options = std::make_shared<PlotArguments>();
  CLI::App* command = app.add_subcommand(
      "plot", "A page of a model: bands of some series, calibration, errors, classes, learning");
  command->add_option("model", options->model, "a trained model")->required()->type_name("MODEL");
  command->add_option("data", options->data, "the data")->required()->type_name("DATA.csv");
  add_output(*command, "--out", options->out, "where to write; - is standard output")
      ->required()
      ->type_name("PAGE.html");
  add_output(*command, "--json", options->json, "the numbers of the page there too")
      ->type_name("FILE");
  command->add_option("--series", options->ids, "ids to draw; default: three of --split")
      ->delimiter(',')
      ->type_name("ID,...");
  add_split(*command, options->split);
  add_level(*command, options->level, "of the predictive interval");
  add_reading(*command, options->reading);
  add_threads(*command, options->threads);
  command->callback([options] { run(*options); });
}

}  // namespace edict::cli

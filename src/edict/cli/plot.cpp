#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "edict/cli/command.h"
#include "edict/cli/given_data.h"
#include "edict/cli/progress.h"
#include "edict/core/atomic_file.h"
#include "edict/core/error.h"
#include "edict/report/demonstration.h"

namespace edict::cli {
namespace {

struct Options {
  std::string model, data, out, split = "test";
  std::vector<std::string> ids;
  double level = 0.9;
  int threads = 0;
};

std::vector<std::size_t> chosen(const Options& options, const Dataset& data,
                                const std::vector<std::size_t>& judged) {
  std::vector<std::size_t> series;
  for (const std::string& id : options.ids) {
    const auto found = std::find(data.ids.begin(), data.ids.end(), id);
    if (found == data.ids.end())
      throw Error(fmt::format("{}: has no series '{}'; its first is '{}'", options.data, id,
                              data.ids.front()));
    series.push_back(static_cast<std::size_t>(found - data.ids.begin()));
  }
  if (series.empty())
    series.assign(judged.begin(), judged.begin() + std::min<std::ptrdiff_t>(3, std::ssize(judged)));
  return series;
}

// What the model did with a series that it has met, for the reader of its bands.
std::string_view met_as(Part part) {
  return part == Part::train        ? "the model was trained on"
         : part == Part::validation ? "the model was chosen by"
                                    : "";
}

std::string figures(const std::optional<CalibrationResult>& result) {
  return result ? fmt::format("MSE {:.4f}, ECE {:.3f}", result->mse.mean, result->ece)
                : "nothing to judge";
}

void run(const Options& options) {
  check_files({options.model, options.data}, {options.out});
  Progress progress("plotting");
  progress.begin();
  const Model model = load_model(options.model);
  const Dataset data = open_for(model, options.data);
  const JudgedSeries judged = judged_series(model, data, options.split);
  ThreadPool pool(static_cast<std::size_t>(options.threads));
  const std::vector<std::size_t> series = chosen(options, data, judged.series);

  std::vector<report::Section> sections;
  std::map<std::string_view, std::vector<std::string>> met;  // drawn series, by met_as
  for (std::size_t i : series) {
    const double start = model.protocol.start_of(data, i);
    const double end = data.events(i) > 0
                           ? std::max(model.protocol.t_cut, data.times[data.first_event[i + 1] - 1])
                           : model.protocol.horizon;
    std::vector<double> times;
    constexpr int kPoints = 400;
    for (int k = 0; k <= kPoints; ++k) times.push_back(start + (end - start) * k / kPoints);
    const std::string_view how = met_as(model.seen.part_of(data.ids[i], data.group_name(i)));
    if (!how.empty()) met[how].push_back(data.ids[i]);
    PredictRequest request{times, {i}};
    request.absorb_until = model.protocol.t_cut;
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
      "style=\"background:var(--epistemic)\"></span>what the model's own doubt (epistemic) adds. "
      "Filled dots were absorbed; hollow ones, after the dashed line at t = {:.4g}, were not.",
      100 * options.level, model.protocol.t_cut);
  const Evaluation evaluation = evaluate(model, data, judged.series, pool);
  sections.push_back(
      {"Calibration",
       fmt::format(
           "On {} series{}. <span class=\"key\" style=\"background:var(--mean)\"></span>"
           "interpolation: {} <span class=\"key\" style=\"background:var(--second)\"></span>"
           "extrapolation: {}. A calibrated model's coverage lies on the dotted line.",
           judged.series.size(),
           judged.about.empty() ? " of the test split" : fmt::format(" ({})", judged.about),
           figures(evaluation.interpolation), figures(evaluation.extrapolation)),
       {report::coverage_figure(evaluation), report::width_figure(evaluation)}});
  write_atomically(
      options.out,
      report::html_page("edict: " + model.config.model.kind + " on " +
                            std::filesystem::path(options.data).filename().string(),
                        "Distributions in continuous time, learnt from irregular observations.",
                        sections));
  progress.end();
  std::FILE* const text = text_stream({options.out});
  if (!judged.about.empty()) fmt::print(text, "{}\n", judged.about);
  if (!options.ids.empty())  // of a --split it was just told
    for (const auto& [how, ids] : met)
      fmt::print(text, "note: {} series {}, drawn here\n", how, fmt::join(ids, ", "));
  if (!is_standard_output(options.out))
    fmt::print(text, "{}\n", std::filesystem::absolute(options.out).string());
}

}  // namespace

void add_plot(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("plot", "A page with the bands of some series and the coverage curves");
  command->add_option("model", options->model, "a trained model")->required()->type_name("MODEL");
  command->add_option("data", options->data, "the data")->required()->type_name("DATA.csv");
  add_output(*command, "--out", options->out, "where to write; - is standard output")
      ->required()
      ->type_name("PAGE.html");
  command->add_option("--series", options->ids, "ids to draw; default: three of --split")
      ->delimiter(',')
      ->type_name("ID,...");
  add_split(*command, options->split);
  command->add_option("--level", options->level, "of the predictive interval")
      ->check(CLI::Range(0.001, 0.999999))
      ->capture_default_str();
  add_threads(*command, options->threads);
  command->callback([options] { run(*options); });
}

}  // namespace edict::cli

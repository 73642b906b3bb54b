#include "research/report/study_page.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/files/atomic_file.h"
#include "base/files/read_file.h"
#include "base/json/json.h"
#include "base/json/json_text.h"
#include "render/embedded.h"
#include "render/series_figures.h"
#include "research/report/study_figures.h"

namespace edict::report {
namespace {

using study::StudiedData;
using study::StudiedRun;
using study::Study;

std::string part(const char* name) {
  return std::string(embedded(std::string("src/render/page/") + name).value());
}

std::string page(const std::string& title, const std::string& body, const std::string& script) {
  std::string text =
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
      "content=\"width=device-width, initial-scale=1\"><title>" +
      escape(title) + "</title>\n<style>\n" + part("charts.css") + part("report.css") +
      "</style></head>\n<body>\n" + body;
  if (!script.empty()) text += "<script>\n" + script + "</script>\n";
  return text + "</body></html>\n";
}

std::string grid(const std::vector<std::string>& figures, const char* css = "figures") {
  std::string text = fmt::format("<div class=\"{}\">", css);
  for (const std::string& figure : figures) text += figure;
  return text + "</div>\n";
}

// Of the runs that differ by their training seed alone.
std::string group_id(const std::string& folder) {
  return fmt::format("runs-of-{}", folder.substr(0, folder.rfind('-')));
}

// Ours leads to its run, or where several runs made it, to their list; the published one below.
std::string cell(const Comparison& value, int digits) {
  std::string ours = value_text(value.ours, digits);
  if (value.runs.size() == 1)
    ours = fmt::format("<a href=\"runs/{}/index.html\">{}</a>", value.runs[0], ours);
  else if (value.runs.size() > 1)
    ours = fmt::format("<a href=\"#{}\">{}</a>", group_id(value.runs[0]), ours);
  return fmt::format("<td class=\"{}\">{}{}<span class=\"published-value\">{}</span></td>",
                     value.verdict ? name_of(*value.verdict) : "", ours, mark(value.verdict),
                     value_text(value.published, digits));
}

std::string legend(const std::vector<std::string>& methods) {
  std::string text = "<div class=\"legend\">";
  for (const std::string& method : methods)
    text += fmt::format(
        "<button type=\"button\" aria-pressed=\"true\" data-method=\"m{0}\"><span "
        "class=\"swatch\" style=\"background:var(--m{0})\"></span>{1}</button>",
        colour_of(method), escape(method));
  return text + "</div>";
}

std::string datasets_section(const Study& study, const Results& results) {
  std::string text =
      "<section id=\"datasets\"><h2>Datasets</h2>\n<p>The paper's table 1 beside what was read "
      "here, and a series of each class as it was observed.</p>\n<div class=\"scroll\"><table>"
      "<thead><tr><th class=\"text\" scope=\"col\">dataset</th><th scope=\"col\">classes</th><th "
      "scope=\"col\">features</th><th scope=\"col\">series</th><th scope=\"col\">events a "
      "series</th></tr></thead><tbody>\n";
  for (const DatasetRow& data : results.datasets) {
    const auto count = [&](std::size_t ours, long PublishedDataset::*published) {
      return fmt::format("<td>{}<span class=\"published-value\">{}</span></td>", ours,
                         data.published ? fmt::format("{}", *data.published.*published) : "–");
    };
    text += fmt::format(
        "<tr><th scope=\"row\">{}</th>{}{}{}<td>{:.1f}<span "
        "class=\"published-value\">–</span></td></tr>\n",
        escape(data.title), count(data.classes, &PublishedDataset::classes),
        count(data.features, &PublishedDataset::features),
        count(data.series, &PublishedDataset::series), data.events_per_series);
  }
  text += "</tbody></table></div>\n<p>Below each number: the published one.</p>\n";
  for (const StudiedData& data : study.datasets)
    text += grid(example_figures(data, 4), "figures pairs");
  return text + "</section>\n";
}

std::string interval_figures(const Study& study) {
  std::string text;
  for (const StudiedData& data : study.datasets) {
    std::vector<const StudiedRun*> evaluated;
    std::vector<std::string> methods;
    for (const StudiedRun& run : study.runs) {
      if (run.dataset != data.plan.name || !run.results.evaluation) continue;
      evaluated.push_back(&run);
      if (std::find(methods.begin(), methods.end(), run.method) == methods.end())
        methods.push_back(run.method);
    }
    if (evaluated.empty()) continue;
    std::vector<std::string> figures;
    for (const IntervalCurve curve : {IntervalCurve::coverage, IntervalCurve::width})
      for (const Task task : {Task::interpolation, Task::extrapolation})
        figures.push_back(interval_figure(evaluated, task, curve));
    text += fmt::format("<figure><figcaption>{}</figcaption>{}{}</figure>\n",
                        escape(data.plan.title), legend(methods), grid(figures, "figures pairs"));
  }
  return text;
}

std::string calibration_section(const Study& study, const Results& results) {
  std::string text =
      "<section id=\"calibration\"><h2>Calibration</h2>\n<p>Published below ours (the paper's "
      "tables 2 and 3). Interpolation: 10 % of the observations before "
      "t<sub>cut</sub> were hidden; extrapolation: everything after it. ECE: the mean "
      "over twenty levels from 0 to 1 of |coverage − level|, where the coverage of the split is "
      "the mean over its series, as published. ± of the MSE is over the test series, of our ECE "
      "over trainings where there are several.</p>\n"
      "<div class=\"scroll\"><table><thead><tr><th class=\"text\" scope=\"col\" rowspan=\"2\">"
      "dataset</th><th class=\"text\" scope=\"col\" rowspan=\"2\">method</th><th "
      "scope=\"colgroup\" colspan=\"2\">interpolation</th><th scope=\"colgroup\" colspan=\"2\">"
      "extrapolation</th></tr><tr><th scope=\"col\">MSE</th><th scope=\"col\">ECE</th>"
      "<th scope=\"col\">MSE</th><th scope=\"col\">ECE</th></tr></thead><tbody>\n";
  for (const DatasetRow& data : results.datasets)
    for (const std::string& method : methods_of(results.calibration, data.title)) {
      text += fmt::format("<tr><th scope=\"row\">{}</th><td class=\"text\">{}</td>",
                          escape(data.title), escape(method));
      for (const Task task : {Task::interpolation, Task::extrapolation})
        for (const Metric metric : {Metric::mse, Metric::ece}) {
          const auto row = std::find_if(results.calibration.begin(), results.calibration.end(),
                                        [&](const CalibrationRow& r) {
                                          return r.dataset == data.title && r.method == method &&
                                                 r.task == task && r.metric == metric;
                                        });
          text += row == results.calibration.end() ? "<td>–</td>"
                                                   : cell(row->value, kCalibrationDigits);
        }
      text += "</tr>\n";
    }
  return text +
         "</tbody></table></div>\n<h3>Coverage and efficiency</h3>\n<p>A calibrated model's "
         "coverage lies on the dotted line; the narrower its intervals, the more it knows.</p>\n" +
         interval_figures(study) + "</section>\n";
}

std::string noise_table(const Results& results, Score score, const std::string& dataset,
                        const std::vector<std::string>& methods) {
  std::string text = fmt::format(
      "<div class=\"scroll\"><table><caption>{}: {} (%)</caption><thead><tr><th class=\"text\" "
      "scope=\"col\">noise</th>",
      escape(dataset), name_of(score));
  for (const std::string& method : methods)
    text += fmt::format("<th scope=\"col\">{}</th>", escape(method));
  text += "</tr></thead><tbody>\n";
  const std::vector<ScoreRow>& rows = results.scores(score);
  for (const std::optional<int>& level : results.levels_and_none()) {
    text +=
        fmt::format("<tr><th scope=\"row\">{}</th>", level ? fmt::format("{}", *level) : "none");
    for (const std::string& method : methods) {
      const auto row = std::find_if(rows.begin(), rows.end(), [&](const ScoreRow& r) {
        return r.dataset == dataset && r.method == method && r.level == level;
      });
      text += row == rows.end() ? "<td>–</td>" : cell(row->value, kScoreDigits);
    }
    text += "</tr>\n";
  }
  return text + "</tbody></table></div>\n";
}

std::string noise_section(const Results& results) {
  std::string text =
      "<section id=\"noise\"><h2>Classification under noise</h2>\n<p>Noise that compounds over "
      "time is added to the test series only (the paper's figure 4 and its tables of accuracy and "
      "AUROC). Solid: ours, with the deviation over seeds; dashed: published. Level 0 of the "
      "published noise still has a deviation of 0.1; “none” is without any.</p>\n";
  for (const DatasetRow& data : results.datasets) {
    const auto methods = methods_of(results.accuracy, data.title);
    if (methods.empty()) continue;
    text += fmt::format("<h3>{}</h3>\n<figure>{}{}</figure>\n", escape(data.title), legend(methods),
                        grid({noise_figure(results, Score::accuracy, data.title),
                              noise_figure(results, Score::auroc, data.title)}));
    for (const Score score : {Score::accuracy, Score::auroc})
      text += noise_table(results, score, data.title, methods);
  }
  return text + "</section>\n";
}

constexpr const char* kBandsKey =
    "<span class=\"key\" style=\"background:var(--aleatoric)\"></span>noise of the data "
    "(aleatoric) <span class=\"key\" style=\"background:var(--epistemic)\"></span>what the model's "
    "own uncertainty (epistemic) adds. Filled dots were absorbed; hollow ones, after the dashed "
    "line, "
    "were not.";

std::string bands_section(const Study& study) {
  std::string text = fmt::format(
      "<section id=\"bands\"><h2>Distributions over time</h2>\n<p>The 90 % predictive interval "
      "(the paper's figure 2): it widens where nothing was observed and contracts where something "
      "was. {}</p>\n",
      kBandsKey);
  for (const StudiedData& data : study.datasets)
    for (const StudiedRun& run : study.runs)
      if (run.dataset == data.plan.name && run.results.browse) {
        text += fmt::format("<h3>{} on {}</h3>\n", escape(run.method), escape(data.plan.title)) +
                grid(band_figures(*run.results.browse, data.plan.time_unit, 2));
        break;
      }
  return text + "</section>\n";
}

bool browses(const StudiedRun& run) {
  return run.results.browse && !run.results.browse->series.empty();
}

// Every view of every series is drawn here and kept as text; the script shows the chosen one.
std::string browser_section(const Study& study) {
  std::string models, lists, views;
  std::size_t model = 0;
  for (const StudiedRun& run : study.runs) {
    if (!browses(run)) continue;
    const study::Browse& browse = *run.results.browse;
    const study::PlannedData& data = study.plan.dataset(run.dataset);
    const std::string name = escape(fmt::format("{}: {}", data.title, run.method));
    models += fmt::format("<option value=\"{}\">{}</option>", model, name);
    lists += fmt::format(
        "<div class=\"series-list\" role=\"listbox\" aria-label=\"test series of {}\" "
        "data-level=\"{:g}\" data-noise-level=\"{}\"{}>",
        name, 100 * browse.level, browse.noise_level, model == 0 ? "" : " hidden");
    for (std::size_t i = 0; i < browse.series.size(); ++i) {
      const study::BrowsedSeries& series = browse.series[i];
      lists += fmt::format(
          "<button type=\"button\" role=\"option\"><span>{}</span><span>{}</span></button>",
          escape(series.id), series.label ? "class " + escape(*series.label) : "");
      // Its text has no '<' that could end the element: names are escaped.
      for (const auto& [view, called] :
           {std::pair(View::forecast, "forecast"), std::pair(View::noisy, "noisy")})
        views += fmt::format("<script type=\"text/html\" data-view=\"{}-{}-{}\">{}</script>\n",
                             model, i, called, series_view(browse, series, view, data.time_unit));
    }
    lists += "</div>";
    ++model;
  }
  if (model == 0) return {};
  return fmt::format(
      "<section id=\"browse\"><h2>Browse the test series</h2>\n<p>{} Under noise, circles are "
      "observations that EDGR held to be implausible, and the small dots what it took instead; "
      "triangles lie outside the picture. Arrow keys go from series to series.</p>\n"
      "<div id=\"browser\"><div class=\"controls\"><label>model <select>{}</select></label>"
      "<fieldset class=\"choice\"><label><input type=\"radio\" name=\"mode\" value=\"forecast\" "
      "checked> forecast after t<sub>cut</sub></label><label><input type=\"radio\" name=\"mode\" "
      "value=\"noisy\"> noise of level <span class=\"noise-level\"></span> through EDGR</label>"
      "</fieldset></div>\n<div class=\"readout\" aria-live=\"polite\"></div>\n"
      "<div class=\"browser\"><div>{}</div><div class=\"view\"></div></div></div>\n"
      "<p>In the small charts: <span class=\"key\" "
      "style=\"background:var(--mean)\"></span>aleatoric"
      "<span class=\"key\" style=\"background:var(--second)\"></span>epistemic deviation.</p>\n"
      "{}</section>\n",
      kBandsKey, models, lists, views);
}

std::string epochs_text(const std::optional<study::TrainingSummary>& training) {
  if (!training) return "–";
  return fmt::format("{} of {}",
                     training->best_epoch ? fmt::format("{}", *training->best_epoch) : "none",
                     training->epochs);
}

std::string runs_section(const Study& study) {
  std::string text =
      "<section id=\"runs\"><h2>Runs</h2>\n<p>Each folder holds the settings, the trained model, "
      "its results, and the commands that redo it.</p>\n<div class=\"scroll\"><table><thead><tr>"
      "<th class=\"text\" scope=\"col\">dataset</th><th class=\"text\" "
      "scope=\"col\">method</th><th "
      "scope=\"col\">seed</th><th "
      "scope=\"col\">best epoch</th><th class=\"text\" "
      "scope=\"col\">folder</th></tr></thead><tbody>\n";
  std::vector<std::string> anchored;
  for (const StudiedRun& run : study.runs) {
    if (run.folder.empty()) continue;  // it failed before there was anything to show
    const std::string id = group_id(run.folder);
    const bool first = std::find(anchored.begin(), anchored.end(), id) == anchored.end();
    anchored.push_back(id);
    text += fmt::format(
        "<tr{}><th scope=\"row\">{}</th><td class=\"text\">{}</td><td>{}</td><td>{}</td><td "
        "class=\"text\"><a href=\"runs/{}/index.html\">{}</a></td></tr>\n",
        first ? fmt::format(" id=\"{}\"", id) : "", escape(run.dataset), escape(run.method),
        run.seed, epochs_text(run.results.training), run.folder, run.folder);
  }
  text += "</tbody></table></div>\n";
  for (const StudiedRun& run : study.runs)
    if (run.failure)
      text += fmt::format("<p class=\"failure\">{} on {} failed: {}</p>\n", escape(run.method),
                          escape(run.dataset), escape(*run.failure));
  return text + "</section>\n";
}

// Empty where a run ended before it was written.
std::string text_of(const std::filesystem::path& path) {
  return std::filesystem::exists(path) ? read_file(path) : "";
}

}  // namespace

std::string study_page(const Study& study, const Results& results) {
  std::string body =
      "<a class=\"skip\" href=\"#calibration\">Skip to the results</a>\n<header><h1>Continuous "
      "time "
      "evidential distributions, reproduced</h1>\n<p>Every number of ours stands above the "
      "published "
      "one and leads to the run it comes from. Published: Killian, Zhang, Hartvigsen and Amini, "
      "“Continuous Time Evidential Distributions for Irregular Time Series”, 2023.</p>\n"
      "<p class=\"verdicts\"><span class=\"better\">▲ better</span><span class=\"equal\">≈ no "
      "further apart than the larger deviation</span><span class=\"worse\">▼ worse</span></p>\n"
      "<nav aria-label=\"sections\"><a href=\"#datasets\">Datasets</a><a href=\"#calibration\">"
      "Calibration</a><a href=\"#noise\">Noise</a><a href=\"#bands\">Distributions</a>";
  if (std::any_of(study.runs.begin(), study.runs.end(), browses))
    body += "<a href=\"#browse\">Browse series</a>";
  body += "<a href=\"#runs\">Runs</a></nav></header>\n<main>\n";
  if (study.failures() > 0)
    body += fmt::format(
        "<p class=\"failure\">{} of {} runs failed; see <a href=\"#runs\">Runs</a>."
        "</p>\n",
        study.failures(), study.runs.size());
  body +=
      datasets_section(study, results) + calibration_section(study, results) +
      noise_section(results) + bands_section(study) + browser_section(study) + runs_section(study) +
      "</main>\n<footer>Written by <code>edict reproduce</code>. The same numbers: <a "
      "href=\"results.md\">results.md</a>, <a href=\"results.json\">results.json</a>.</footer>\n";
  return page("edict: the paper, reproduced", body, part("report.js"));
}

std::string run_page(const StudiedRun& run, const std::filesystem::path& folder) {
  std::string body = fmt::format(
      "<h1>{} on {}</h1>\n<p>Seed {} · <a href=\"../../index.html\">back to the report</a></p>\n"
      "<h2>Redo it</h2>\n<pre>{}</pre>\n<h2>Settings</h2>\n<pre>{}</pre>\n<h2>Files</h2>\n<ul>",
      escape(run.method), escape(run.dataset), run.seed, escape(text_of(folder / "command.txt")),
      escape(text_of(folder / "config.toml")));
  for (const char* name :
       {"config.toml", "command.txt", "model", "model.metrics.csv", "train.json", "evaluate.json",
        "classifier", "classify.json", "stress.json", "browse.json", "log.txt"})
    if (std::filesystem::exists(folder / name))
      body += fmt::format("<li><a href=\"{0}\">{0}</a></li>", name);
  return page(fmt::format("{} on {}", run.method, run.dataset), body + "</ul>\n", "");
}

Results write_report(const Study& study, const std::filesystem::path& out) {
  Results results = results_of(study);
  for (const StudiedRun& run : study.runs)
    if (const auto folder = out / "runs" / run.folder;
        !run.folder.empty() && std::filesystem::is_directory(folder))
      write_atomically(folder / "index.html", run_page(run, folder));
  write_atomically(out / "results.json", json_text(to_json(results), 1) + "\n");
  write_atomically(out / "results.md", results_markdown(results));
  write_atomically(out / "index.html", study_page(study, results));
  return results;
}

}  // namespace edict::report

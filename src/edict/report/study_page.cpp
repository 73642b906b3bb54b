#include "edict/report/study_page.h"

#include <fmt/core.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "edict/core/atomic_file.h"
#include "edict/core/json_text.h"
#include "edict/report/results.h"
#include "edict/report/study_figures.h"
#include "edict/report/svg.h"
#include "edict/study/embedded.h"

namespace edict {
namespace {

using nlohmann::json;

std::string part(const char* name) {
  return std::string(embedded(std::string("src/edict/report/page/") + name).value());
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

// JSON that cannot end the element it stands in.
std::string inside_script(const json& value) {
  std::string result;
  for (const char c : json_text(value))
    result += c == '<' ? std::string("\\u003c") : std::string(1, c);
  return result;
}

std::string grid(const std::vector<std::string>& figures, const char* css = "figures") {
  std::string text = fmt::format("<div class=\"{}\">", css);
  for (const std::string& figure : figures) text += figure;
  return text + "</div>\n";
}

std::string group_id(const std::string& dataset, const std::string& folder) {
  return fmt::format("runs-{}-{}", dataset, folder.substr(0, folder.rfind('-')));
}

// Ours leads to its run, or where several runs made it, to their list; the published one below.
std::string cell(const json& row, int digits) {
  const json& runs = row["runs"];
  const std::string verdict = row["verdict"].is_null() ? "" : row["verdict"].get<std::string>();
  std::string ours = value_text(row["ours"], digits);
  if (runs.size() == 1)
    ours = fmt::format("<a href=\"runs/{}/index.html\">{}</a>", runs[0].get<std::string>(), ours);
  else if (runs.size() > 1)
    ours = fmt::format("<a href=\"#{}\">{}</a>", group_id("of", runs[0].get<std::string>()), ours);
  const char* mark = verdict == "better"  ? " ▲"
                     : verdict == "worse" ? " ▼"
                     : verdict == "equal" ? " ≈"
                                          : "";
  std::string further;
  if (row.contains("per_series"))
    further = fmt::format("<span class=\"published-value\">per series {} (floor {:.3f})</span>",
                          value_text(row["per_series"], digits),
                          row["per_series"]["floor"].get<double>());
  return fmt::format("<td class=\"{}\">{}{}<span class=\"published-value\">{}</span>{}</td>",
                     verdict, ours, mark, value_text(row["published"], digits), further);
}

const json* find(const json& rows, const std::vector<std::pair<const char*, json>>& where) {
  for (const json& row : rows)
    if (std::all_of(where.begin(), where.end(),
                    [&](const auto& field) { return row[field.first] == field.second; }))
      return &row;
  return nullptr;
}

std::string datasets_section(const Study& study, const json& results) {
  std::string text =
      "<section id=\"datasets\"><h2>Datasets</h2>\n<p>The paper's table 1 beside what was read "
      "here, and a series of each class as it was observed.</p>\n<div class=\"scroll\"><table>"
      "<thead><tr><th class=\"text\" scope=\"col\">dataset</th><th scope=\"col\">classes</th><th "
      "scope=\"col\">"
      "features</th><th scope=\"col\">series</th><th scope=\"col\">events a "
      "series</th></tr></thead>"
      "<tbody>\n";
  for (const json& data : results["datasets"]) {
    text += fmt::format("<tr><th scope=\"row\">{}</th>", escape(data["dataset"]));
    for (const char* field : {"classes", "features", "series"})
      text += fmt::format("<td>{}<span class=\"published-value\">{}</span></td>",
                          json_text(data[field]),
                          data["published"].is_null() ? "–" : json_text(data["published"][field]));
    text += fmt::format("<td>{:.1f}<span class=\"published-value\">–</span></td></tr>\n",
                        data["events_per_series"].get<double>());
  }
  text += "</tbody></table></div>\n<p>Below each number: the published one.</p>\n";
  for (const StudiedData& data : study.datasets)
    text += grid(example_figures(data, 4), "figures pairs");
  return text + "</section>\n";
}

std::string calibration_section(const Study& study, const json& results) {
  std::string text =
      "<section id=\"calibration\"><h2>Calibration</h2>\n<p>Published below ours (the paper's "
      "tables 2 "
      "and 3), ± over the test series. Interpolation: 10 % of the observations before "
      "t<sub>cut</sub> were hidden; extrapolation: everything after it. ECE compares the coverage "
      "of the whole split with the level of the interval. That of each series by itself is mostly "
      "chance where few of its observations are judged: the floor is what a perfect model would "
      "score.</p>\n<div class=\"scroll\"><table><thead><tr><th "
      "class=\"text\" scope=\"col\" rowspan=\"2\">dataset</th><th class=\"text\" scope=\"col\" "
      "rowspan=\"2\">method</th><th "
      "scope=\"colgroup\" colspan=\"2\">interpolation</th><th scope=\"colgroup\" colspan=\"2\">"
      "extrapolation</th></tr><tr><th scope=\"col\">MSE</th><th scope=\"col\">ECE</th><th "
      "scope=\"col\">MSE</th><th scope=\"col\">ECE</th></tr></thead><tbody>\n";
  for (const json& data : results["datasets"])
    for (const std::string& method : methods_of(results["calibration"], data["dataset"])) {
      text += fmt::format("<tr><th scope=\"row\">{}</th><td class=\"text\">{}</td>",
                          escape(data["dataset"]), escape(method));
      for (const char* task : {"interpolation", "extrapolation"})
        for (const char* metric : {"MSE", "ECE"}) {
          const json* row = find(results["calibration"], {{"dataset", data["dataset"]},
                                                          {"method", method},
                                                          {"task", task},
                                                          {"metric", metric}});
          text += row ? cell(*row, 3) : "<td>–</td>";
        }
      text += "</tr>\n";
    }
  text +=
      "</tbody></table></div>\n<h3>Coverage and efficiency</h3>\n<p>A calibrated model's "
      "coverage lies on the dotted line; the narrower its intervals, the more it knows.</p>\n";
  for (const StudiedData& data : study.datasets) {
    std::vector<const StudiedRun*> judged;
    for (const StudiedRun& run : study.runs)
      if (run.dataset == data.plan.name && !run.evaluate.is_null()) judged.push_back(&run);
    if (judged.empty()) continue;
    text += fmt::format("<figure><figcaption>{}</figcaption><div class=\"legend\">",
                        escape(data.plan.title));
    std::vector<std::string> named;
    for (const StudiedRun* run : judged) {
      if (std::find(named.begin(), named.end(), run->method) != named.end()) continue;
      named.push_back(run->method);
      text += fmt::format(
          "<button type=\"button\" aria-pressed=\"true\" data-method=\"m{0}\"><span "
          "class=\"swatch\" style=\"background:var(--m{0})\"></span>{1}</button>",
          colour_of(run->method), escape(run->method));
    }
    text += "</div>" +
            grid({interval_figure(judged, "interpolation", "coverage"),
                  interval_figure(judged, "extrapolation", "coverage"),
                  interval_figure(judged, "interpolation", "width"),
                  interval_figure(judged, "extrapolation", "width")},
                 "figures pairs") +
            "</figure>\n";
  }
  return text + "</section>\n";
}

std::string noise_table(const json& results, const std::string& score, const std::string& dataset,
                        const std::vector<std::string>& methods) {
  std::string text = fmt::format(
      "<div class=\"scroll\"><table><caption>{}: {} (%)</caption><thead><tr><th class=\"text\" "
      "scope=\"col\">noise"
      "</th>",
      escape(dataset), score == "auroc" ? "AUROC" : "accuracy");
  for (const std::string& method : methods)
    text += fmt::format("<th scope=\"col\">{}</th>", escape(method));
  text += "</tr></thead><tbody>\n";
  json levels = results["levels"];
  levels.insert(levels.begin(), nullptr);
  for (const json& level : levels) {
    text +=
        fmt::format("<tr><th scope=\"row\">{}</th>", level.is_null() ? "none" : json_text(level));
    for (const std::string& method : methods) {
      const json* row =
          find(results[score], {{"dataset", dataset}, {"method", method}, {"level", level}});
      text += row ? cell(*row, 1) : "<td>–</td>";
    }
    text += "</tr>\n";
  }
  return text + "</tbody></table></div>\n";
}

std::string noise_section(const json& results) {
  std::string text =
      "<section id=\"noise\"><h2>Classification under noise</h2>\n<p>Noise that compounds over "
      "time is added to the test series only (the paper's figure 4 and its tables of accuracy and "
      "AUROC). Solid: ours, with the deviation over seeds; dashed: published. Level 0 of the "
      "published noise still has a deviation of 0.1; “none” is without any.</p>\n";
  for (const json& data : results["datasets"]) {
    const std::string dataset = data["dataset"];
    const auto methods = methods_of(results["accuracy"], dataset);
    if (methods.empty()) continue;
    text += fmt::format("<h3>{}</h3>\n<figure><div class=\"legend\">", escape(dataset));
    for (const std::string& method : methods)
      text += fmt::format(
          "<button type=\"button\" aria-pressed=\"true\" data-method=\"m{0}\"><span "
          "class=\"swatch\" style=\"background:var(--m{0})\"></span>{1}</button>",
          colour_of(method), escape(method));
    text += "</div>" +
            grid({noise_figure(results, "accuracy", dataset),
                  noise_figure(results, "auroc", dataset)}) +
            "</figure>\n";
    for (const char* score : {"accuracy", "auroc"})
      text += noise_table(results, score, dataset, methods);
  }
  return text + "</section>\n";
}

constexpr const char* kBandsKey =
    "<span class=\"key\" style=\"background:var(--aleatoric)\"></span>noise of the data "
    "(aleatoric) <span class=\"key\" style=\"background:var(--epistemic)\"></span>what the model's "
    "own doubt (epistemic) adds. Filled dots were absorbed; hollow ones, after the dashed line, "
    "were not.";

std::string bands_section(const Study& study) {
  std::string text = fmt::format(
      "<section id=\"bands\"><h2>Distributions over time</h2>\n<p>The 90 % predictive interval "
      "(the paper's figure 2): it widens where nothing was observed and contracts where something "
      "was. {}</p>\n",
      kBandsKey);
  for (const StudiedData& data : study.datasets)
    for (const StudiedRun& run : study.runs)
      if (run.dataset == data.plan.name && !run.browse.is_null()) {
        text += fmt::format("<h3>{} on {}</h3>\n", escape(run.method), escape(data.plan.title)) +
                grid(band_figures(run.browse, data.plan.time_unit, 2));
        break;
      }
  return text + "</section>\n";
}

std::string browser_section(const Study& study) {
  json sets = json::array();
  for (const StudiedRun& run : study.runs) {
    if (run.browse.is_null() || run.browse["series"].empty()) continue;
    json set = run.browse;
    set.erase("inputs");
    set["method"] = run.method;
    for (const StudiedData& data : study.datasets)
      if (data.plan.name == run.dataset) {
        set["dataset"] = data.plan.title;
        set["time_unit"] = data.plan.time_unit;
      }
    sets.push_back(std::move(set));
  }
  if (sets.empty()) return {};
  return fmt::format(
      "<section id=\"browse\"><h2>Browse the test series</h2>\n<p>{} Under noise, circles are "
      "observations that EDGR held to be implausible, and the small dots what it took instead; "
      "triangles lie outside the picture. Arrow keys go from series to series.</p>\n"
      "<div id=\"browser\"><div class=\"controls\"><label>model <select></select></label>"
      "<fieldset class=\"choice\"><label><input type=\"radio\" name=\"mode\" value=\"forecast\" "
      "checked> forecast after t<sub>cut</sub></label><label><input type=\"radio\" name=\"mode\" "
      "value=\"noisy\"> noise of level <span class=\"noise-level\"></span> through EDGR</label>"
      "</fieldset></div>\n<div class=\"readout\" aria-live=\"polite\"></div>\n"
      "<div class=\"browser\"><div class=\"series-list\" role=\"listbox\" aria-label=\"test "
      "series\"></div><div class=\"view\"></div></div></div>\n"
      "<p>In the small charts: <span class=\"key\" "
      "style=\"background:var(--mean)\"></span>aleatoric"
      "<span class=\"key\" style=\"background:var(--second)\"></span>epistemic deviation.</p>\n"
      "<script type=\"application/json\" id=\"browse-data\">{}</script></section>\n",
      kBandsKey, inside_script(sets));
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
    if (run.failure) continue;
    const std::string id = group_id("of", run.folder);
    const bool first = std::find(anchored.begin(), anchored.end(), id) == anchored.end();
    anchored.push_back(id);
    text += fmt::format(
        "<tr{}><th scope=\"row\">{}</th><td class=\"text\">{}</td><td>{}</td><td>{}</td><td "
        "class=\"text\"><a href=\"runs/{}/index.html\">{}</a></td></tr>\n",
        first ? fmt::format(" id=\"{}\"", id) : "", escape(run.dataset), escape(run.method),
        run.seed,
        run.train.is_null() ? "–"
                            : fmt::format("{} of {}", json_text(run.train["best_epoch"]),
                                          json_text(run.train["epochs"])),
        run.folder, run.folder);
  }
  text += "</tbody></table></div>\n";
  for (const StudiedRun& run : study.runs)
    if (run.failure)
      text += fmt::format("<p class=\"failure\">{} on {} failed: {}</p>\n", escape(run.method),
                          escape(run.dataset), escape(*run.failure));
  return text + "</section>\n";
}

std::string read(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace

std::string study_page(const Study& study, const json& results) {
  const bool browses = std::any_of(study.runs.begin(), study.runs.end(),
                                   [](const StudiedRun& r) { return !r.browse.is_null(); });
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
  if (browses) body += "<a href=\"#browse\">Browse series</a>";
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
      escape(run.method), escape(run.dataset), run.seed, escape(read(folder / "command.txt")),
      escape(read(folder / "config.toml")));
  for (const char* name :
       {"config.toml", "command.txt", "model", "model.metrics.csv", "train.json", "evaluate.json",
        "classifier", "classify.json", "stress.json", "browse.json", "log.txt"})
    if (std::filesystem::exists(folder / name))
      body += fmt::format("<li><a href=\"{0}\">{0}</a></li>", name);
  return page(fmt::format("{} on {}", run.method, run.dataset), body + "</ul>\n", "");
}

json write_report(const Study& study, const std::filesystem::path& out) {
  json results = results_of(study);
  for (const StudiedRun& run : study.runs)
    if (const auto folder = out / "runs" / run.folder;
        !run.folder.empty() && std::filesystem::is_directory(folder))
      write_atomically(folder / "index.html", run_page(run, folder));
  write_atomically(out / "results.json", json_text(results, 1) + "\n");
  write_atomically(out / "results.md", results_markdown(results));
  write_atomically(out / "index.html", study_page(study, results));
  return results;
}

}  // namespace edict

#include "research/import/import.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <string_view>

#include "base/error.h"
#include "base/files/read_file.h"
#include "base/json/json.h"
#include "data/read/csv/csv.h"
#include "front/cli/command.h"
#include "front/cli/data_json.h"
#include "front/cli/terminal/progress.h"

namespace edict::cli {
namespace {

struct ImportArguments {
  std::string from, out, json;
  std::uint64_t seed = 0;
  double keep = 0.1;
  std::size_t window = 50;
  MimicWindow mimic;
};

using Import =
    std::function<Dataset(const ImportArguments&, ImportReport&, const edict::Progress&)>;

// Reading is most of the work; the rest of the bar is for writing.
constexpr double kReading = 0.8;

// What was downloaded is not replaced by what is made of it: of the files in that folder only one
// that holds such data already.
void check_downloads(const ImportArguments& options) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  if (!fs::is_directory(options.from, ignored) || !fs::is_regular_file(options.out, ignored))
    return;
  const fs::path out = fs::canonical(options.out), from = fs::canonical(options.from);
  const bool inside =
      std::mismatch(from.begin(), from.end(), out.begin(), out.end()).first == from.end();
  constexpr std::string_view kOwn = "id,time,";
  if (inside && read_file(out, kOwn.size()) != kOwn)
    throw Error(fmt::format("{}: belongs to the downloaded files; give the output another name",
                            options.out));
}

Dataset read_and_write(const ImportArguments& options, const Import& import, ImportReport& report) {
  Progress progress("importing");
  Dataset data =
      import(options, report, [&](double share) { progress.update(kReading * share, "reading"); });
  if (data.size() == 0)
    throw Error(
        fmt::format("{}: no series is left after cleaning; nothing was written", options.from));
  progress.update(kReading, "writing");
  write_csv(data, options.out);
  return data;
}

void run(const ImportArguments& options, const Import& import) {
  check_files({options.from}, {options.out, options.json});
  check_downloads(options);
  std::FILE* const text = text_stream({options.out, options.json});
  const auto start = std::chrono::steady_clock::now();
  ImportReport report;
  const Dataset data = read_and_write(options, import, report);
  for (const auto& [what, details] : report.lines) fmt::print(text, "{:<9} {}\n", what, details);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  fmt::print(text,
             "{}: {} series, {} events, {} observations of {} features, {} classes ({:.1f} s)\n",
             shown(options.out), data.size(), data.events(), data.observations(),
             data.features.size(), data.classes.size(), seconds);
  if (options.json.empty()) return;
  nlohmann::json json = data_json(options.out, data);
  json["cleaning"] = nlohmann::json::array();
  for (const auto& [what, details] : report.lines)
    json["cleaning"].push_back({{"what", what}, {"details", details}});
  write_json(options.json, json);
}

}  // namespace

void add_import(CLI::App& app) {
  auto options = std::make_shared<ImportArguments>();
  CLI::App* import = app.add_subcommand(
      "import", "Turn a public dataset, as downloaded, into CSV (docs/how-to/datasets.md)");
  import->require_subcommand(1);
  const auto add = [&](const char* name, const char* help, Import work) {
    CLI::App* command = import->add_subcommand(name, help);
    command->add_option("--from", options->from, "folder with the downloaded files, packed or not")
        ->required()
        ->type_name("DIR");
    add_output(*command, "--out", options->out, "where to write; - is standard output")
        ->required()
        ->type_name("DATA.csv");
    add_json(*command, options->json);
    command->callback([options, work = std::move(work)] { run(*options, work); });
    return command;
  };

  CLI::App* gestures =
      add("gestures", "uWave accelerometer gestures, 8 classes; times in seconds",
          [](const ImportArguments& o, ImportReport& report, const edict::Progress& progress) {
            return import_gestures(o.from, report, o.seed, o.keep, progress);
          });
  gestures->add_option("--seed", options->seed, "of the values kept; same seed, same data")
      ->capture_default_str();
  gestures->add_option("--keep", options->keep, "share of the values kept")
      ->check(within(0.0, 1.0))
      ->capture_default_str();

  CLI::App* activity =
      add("activity", "Localization Data for Person Activity, 7 classes; times in seconds",
          [](const ImportArguments& o, ImportReport& report, const edict::Progress& progress) {
            return import_activity(o.from, report, o.window, progress);
          });
  activity->add_option("--window", options->window, "rows a series")
      ->check(within(1, 1000000))
      ->capture_default_str();

  add("physionet", "PhysioNet Challenge 2012, in-hospital death; times in hours",
      [](const ImportArguments& o, ImportReport& report, const edict::Progress& progress) {
        return import_physionet(o.from, report, progress);
      });

  CLI::App* mimic =
      add("mimic-extract", "MIMIC-Extract's hourly means, death in the ICU; times in hours",
          [](const ImportArguments& o, ImportReport& report, const edict::Progress& progress) {
            return import_mimic_extract(o.from, report, o.mimic, progress);
          });
  mimic->add_option("--hours", options->mimic.hours, "only rows before this hour; default all")
      ->check(positive());
  mimic
      ->add_option("--shortest-stay", options->mimic.shortest_stay,
                   "only stays of at least this many hours")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
}

}  // namespace edict::cli

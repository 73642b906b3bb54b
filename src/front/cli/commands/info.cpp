#include <fmt/core.h>

#include <filesystem>

#include "base/files/read_file.h"
#include "base/json/json.h"
#include "base/text/counted.h"
#include "data/read/csv/csv.h"
#include "data/summary.h"
#include "front/cli/command.h"
#include "front/cli/data_json.h"
#include "front/cli/given_data.h"
#include "model/model.h"

namespace edict::cli {
namespace {

// A model file starts with the length of its JSON header, whose bytes 4 to 7 are zero.
bool looks_like_model(std::string_view bytes) {
  return bytes.size() > 8 && bytes.substr(4, 5) == std::string_view("\0\0\0\0{", 5);
}

// The first and the last moment, as the file writes them.
void print_calendar(const Dataset& data) {
  std::size_t first = data.size(), last = data.size();  // series
  const auto raw = [&](std::size_t i, bool end) {
    const std::size_t event = end ? data.first_event[i + 1] - 1 : data.first_event[i];
    return data.time_axis.to_raw(i, data.times[event]);
  };
  for (std::size_t i = 0; i < data.size(); ++i) {
    if (data.events(i) == 0) continue;
    if (first == data.size() || raw(i, false) < raw(first, false)) first = i;
    if (last == data.size() || raw(i, true) > raw(last, true)) last = i;
  }
  if (first == data.size()) return;
  fmt::print("  from {} to {}\n", written_time(data, first, data.times[data.first_event[first]]),
             written_time(data, last, data.times[data.first_event[last + 1] - 1]));
}

void print_data(const std::string& path, const Dataset& data) {
  const Summary s = summarise(data);
  fmt::print("{}\n  {} series, {} ({:.1f} per series), {}\n", path, s.series,
             counted(s.events, "event"), s.events_per_series,
             counted(s.observations, "observation"));
  if (data.time_axis.is_calendar()) print_calendar(data);
  fmt::print(
      "  time {:.6g} to {:.6g}, median gap {:.4g}{}\n", s.first_time, s.last_time, s.median_gap,
      data.time_axis.unit == TimeUnit::none ? "" : fmt::format(" ({})", described(data.time_axis)));
  if (s.empty_series > 0)
    fmt::print("  {} series ha{} no event\n", s.empty_series, s.empty_series == 1 ? "s" : "ve");
  fmt::print("\n  {:<20} {:>10} {:>9} {:>11} {:>11} {:>11} {:>11}\n", "feature", "observed",
             "missing", "mean", "std", "min", "max");
  for (std::size_t j = 0; j < data.features.size(); ++j) {
    const FeatureSummary& f = s.features[j];
    fmt::print("  {:<20} {:>10} {:>8.1f}% {:>11.4g} {:>11.4g} {:>11.4g} {:>11.4g}\n",
               data.features[j], f.count, 100 * f.missing, f.mean, f.std, f.min, f.max);
  }
  if (!data.statics.empty()) {
    fmt::print("\n  {:<20} {:>10} {:>11} {:>11}\n", "static", "missing", "mean", "std");
    for (std::size_t c = 0; c < data.statics.size(); ++c)
      fmt::print("  {:<20} {:>9.1f}% {:>11.4g} {:>11.4g}\n", data.statics[c],
                 100 * s.statics[c].missing, s.statics[c].mean, s.statics[c].std);
  }
  if (data.labelled()) {
    fmt::print("\n  {:<20} {:>10} {:>9}\n", "label", "series", "share");
    for (std::size_t k = 0; k < data.classes.size(); ++k)
      fmt::print("  {:<20} {:>10} {:>8.1f}%\n", data.classes[k], s.class_counts[k],
                 100.0 * static_cast<double>(s.class_counts[k]) / static_cast<double>(s.series));
    if (s.unlabelled > 0) fmt::print("  {:<20} {:>10}\n", "(none)", s.unlabelled);
  }
  if (!data.groups.empty()) fmt::print("\n  {}\n", counted(data.groups.size(), "group"));
}

nlohmann::json model_json(const std::string& path, const Model& model) {
  nlohmann::json json{{"model", path},
                      {"kind", model.config.model.kind},
                      {"members", model.members.size()},
                      {"parameters", model.first().params.size()},
                      {"distribution", model.network->has_distribution()},
                      {"classifies", model.network->classes() > 0},
                      {"classes", model.classes},
                      {"train", model.seen.count(Part::train)},
                      {"validation", model.seen.count(Part::validation)},
                      {"test", model.seen.count(Part::test)},
                      {"calibrated_by", model.calibration.fit_series},
                      {"correlated_pairs", model.calibration.correlations.pairs().size()},
                      {"smooths", !model.fusion.empty()},
                      {"config", to_json(model.config)},
                      {"statics", model.statics},
                      {"features", nlohmann::json::array()}};
  for (std::size_t j = 0; j < model.features.size(); ++j)
    json["features"].push_back({{"name", model.features[j]},
                                {"mean", model.protocol.population.mean[j]},
                                {"scale", model.protocol.population.scale[j]}});
  return json;
}

void print_model(const std::string& path, Model model) {
  fmt::print("{}\n  {} with {} parameters{}, {}{}\n", path, model.config.model.kind,
             model.first().params.size(), model.members.size() > 1 ? " per member" : "",
             counted(model.features.size(), "feature"),
             model.network->classes() > 0
                 ? fmt::format(", classifies {} classes", model.network->classes())
                 : "");
  if (model.members.size() > 1)
    fmt::print("  an ensemble of {} members, trained from the seeds {} to {}\n",
               model.members.size(), model.config.train.seed,
               model.config.train.seed + static_cast<std::int64_t>(model.members.size()) - 1);
  fmt::print("  trained on {} series, chosen by {} (validation), {} left to test it\n",
             model.seen.count(Part::train), model.seen.count(Part::validation),
             model.seen.count(Part::test));
  if (!model.calibration.empty())
    fmt::print("  calibrated by {} {}, its conformal intervals by {} others\n",
               model.calibration.fit_series, calibrating(model, model.calibration.fit_series),
               model.calibration.conformal_series);
  if (const auto pairs = model.calibration.correlations.pairs(); !pairs.empty())
    fmt::print("  {} of features have correlated errors, the most {} and {} ({:+.2f})\n",
               counted(pairs.size(), "pair"), model.features[pairs[0].first],
               model.features[pairs[0].second], pairs[0].correlation);
  if (!model.fusion.empty())
    fmt::print(
        "  fills gaps from both sides: a second network of the same size reads series from their "
        "end; the two were weighted on {} series\n",
        model.fusion.fit_series);
  if (const Reading& r = model.reading; !r.time.empty()) {
    const auto named = [](const char* what, const std::string& column) {
      return column.empty() ? std::string() : fmt::format(", {} '{}'", what, column);
    };
    fmt::print("  read from columns: id '{}', time '{}' ({}){}{}\n", r.id, r.time,
               described(model.time_axis), named("label", r.label), named("group", r.group));
  }
  fmt::print("\n  {:<24} {}\n", "setting", "value");
  for (const settings::Key& key : keys(model.config))
    fmt::print("  {:<24} {}\n", key.name, settings::value_text(key));
  fmt::print("\n  {:<20} {:>11} {:>11}\n", "feature", "mean", "scale");
  for (std::size_t j = 0; j < model.features.size(); ++j)
    fmt::print("  {:<20} {:>11.4g} {:>11.4g}\n", model.features[j],
               model.protocol.population.mean[j], model.protocol.population.scale[j]);
}

// What comes through a pipe is there once: it is kept, and looked at from memory.
void run(const std::string& path, const std::string& json, const ReadOptions& reading) {
  check_files({path}, {json});
  const std::string name = name_of_file(path);
  // Standard output holds either the text or the JSON.
  const bool text = !is_standard_output(json);
  const auto show_data = [&](const Dataset& data) {
    if (text) print_data(name, data);
    write_json(json, json.empty() ? nlohmann::json() : data_json(name, data));
  };
  const auto show_model = [&](Model model) {
    write_json(json, json.empty() ? nlohmann::json() : model_json(name, model));
    if (text) print_model(name, std::move(model));
  };
  std::error_code ignored;
  if (std::filesystem::is_regular_file(path, ignored)) {
    constexpr std::size_t kHead = 9;
    if (looks_like_model(read_file(path, kHead)))
      show_model(load_model(path));
    else
      show_data(open_told(path, reading));
    return;
  }
  const std::string bytes = read_file(path);
  if (looks_like_model(bytes))
    show_model(from_tensors(tensors_from(bytes, name), name));
  else
    show_data(told(read_csv_text(bytes, name, reading)));
}

}  // namespace

void add_info(CLI::App& app) {
  struct Options {
    std::string path, json;
    ReadOptions reading;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("info", "Show what is in a data or model file");
  command->add_option("file", options->path, "the file; - is standard input")
      ->required()
      ->type_name("DATA.csv|MODEL");
  add_json(*command, options->json);
  add_reading(*command, options->reading);
  command->callback([options] { run(options->path, options->json, options->reading); });
}

}  // namespace edict::cli

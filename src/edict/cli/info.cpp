#include <fmt/core.h>

#include <fstream>

#include "edict/cli/command.h"
#include "edict/data/summary.h"
#include "edict/model/model.h"
#include "edict/sources/source.h"

namespace edict::cli {
namespace {

bool looks_like_model(const std::string& path) {
  // A model file starts with the length of its JSON header, whose bytes 4 to 7 are zero.
  std::ifstream in(path, std::ios::binary);
  char head[9] = {};
  return in.read(head, 9) && head[4] == 0 && head[5] == 0 && head[6] == 0 && head[7] == 0 &&
         head[8] == '{';
}

void print_data(const std::string& path) {
  const Dataset data = open_data(path);
  const Summary s = summarise(data);
  fmt::print("{}\n  {} series, {} events ({:.1f} a series), {} observations\n", path, s.series,
             s.events, s.events_per_series, s.observations);
  fmt::print("  time {:.6g} to {:.6g}, median gap {:.4g}\n", s.first_time, s.last_time,
             s.median_gap);
  if (s.empty_series > 0) fmt::print("  {} series have no event\n", s.empty_series);
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
  if (!data.groups.empty()) fmt::print("\n  {} groups\n", data.groups.size());
}

void print_model(const std::string& path) {
  Model model = load_model(path);
  fmt::print("{}\n  {} with {} parameters, {} features{}\n", path, model.config.model.kind,
             model.params.size(), model.features.size(),
             model.network->classes() > 0
                 ? fmt::format(", classifies {} classes", model.network->classes())
                 : "");
  fmt::print("  trained on {} series, chosen by {} (validation), {} left to judge it (test)\n",
             model.seen.count(Part::train), model.seen.count(Part::validation),
             model.seen.count(Part::test));
  fmt::print("\n  {:<24} {}\n", "setting", "value");
  for (const settings::Key& key : keys(model.config))
    fmt::print("  {:<24} {}\n", key.name, settings::value_text(key));
  fmt::print("\n  {:<20} {:>11} {:>11}\n", "feature", "mean", "scale");
  for (std::size_t j = 0; j < model.features.size(); ++j)
    fmt::print("  {:<20} {:>11.4g} {:>11.4g}\n", model.features[j],
               model.protocol.population.mean[j], model.protocol.population.scale[j]);
}

}  // namespace

void add_info(CLI::App& app) {
  auto path = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("info", "Tell what is in a data or model file");
  command->add_option("file", *path, "the file")->required()->type_name("DATA.csv|MODEL");
  command->callback([path] { looks_like_model(*path) ? print_model(*path) : print_data(*path); });
}

}  // namespace edict::cli

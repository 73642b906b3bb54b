#include "edict/cli/given_data.h"

#include <fmt/core.h>

#include <algorithm>

#include "edict/sources/source.h"

namespace edict::cli {

void add_split(CLI::App& command, std::string& split) {
  command
      .add_option("--split", split,
                  "which series, by what the model recorded of its training; a file of new series "
                  "is taken whole")
      ->check(CLI::IsMember({"train", "validation", "test", "unseen", "all"}))
      ->capture_default_str();
}

Dataset open_for(const Model& model, const std::string& uri) {
  MatchedData matched = model.match(open_data(uri));
  for (const std::string& note : matched.notes) fmt::print(stderr, "note: {}\n", note);
  return std::move(matched.data);
}

bool any_trained_on(const Model& model, const Dataset& data, std::span<const std::size_t> series) {
  return std::any_of(series.begin(), series.end(), [&](std::size_t i) {
    return model.seen.part_of(data.ids[i], data.group_name(i)) == Part::train;
  });
}

std::string about_series(const Model& model, const Dataset& data,
                         std::span<const std::size_t> series) {
  std::size_t trained = 0, validated = 0, unseen = 0;
  for (const std::size_t i : series) {
    const Part part = model.seen.part_of(data.ids[i], data.group_name(i));
    trained += part == Part::train;
    validated += part == Part::validation;
    unseen += part == Part::unseen;
  }
  if (unseen == series.size())
    return fmt::format("{} new series, none of them seen in training", series.size());
  if (trained > 0 && validated > 0)
    return fmt::format("note: {} of these {} series were trained on, {} chose the model", trained,
                       series.size(), validated);
  if (trained > 0)
    return fmt::format("note: {} of these {} series were trained on", trained, series.size());
  if (validated > 0)
    return fmt::format("note: {} of these {} series chose the model", validated, series.size());
  return "";
}

}  // namespace edict::cli

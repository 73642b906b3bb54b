#include "edict/cli/given_data.h"

#include <fmt/core.h>

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
  return matched(model, open_data(uri));
}

Dataset matched(const Model& model, Dataset data) {
  MatchedData found = model.match(std::move(data));
  for (const std::string& note : found.notes) fmt::print(stderr, "note: {}\n", note);
  return std::move(found.data);
}

JudgedSeries judged_series(const Model& model, const Dataset& data, const std::string& split) {
  JudgedSeries judged{model.series_of(data, split), split, "", false};
  std::size_t trained = 0, validated = 0, unseen = 0;
  for (const std::size_t i : judged.series) {
    const Part part = model.seen.part_of(data.ids[i], data.group_name(i));
    trained += part == Part::train;
    validated += part == Part::validation;
    unseen += part == Part::unseen;
  }
  const std::size_t all = judged.series.size();
  judged.trained_on = trained > 0;
  if (unseen == all) {
    judged.split = name_of(Part::unseen);
    judged.about = fmt::format("{} new series, none of them seen in training", all);
  } else if (trained > 0 && validated > 0) {
    judged.about = fmt::format("note: {} of these {} series were trained on, {} chose the model",
                               trained, all, validated);
  } else if (trained > 0) {
    judged.about = fmt::format("note: {} of these {} series were trained on", trained, all);
  } else if (validated > 0) {
    judged.about = fmt::format("note: {} of these {} series chose the model", validated, all);
  }
  return judged;
}

}  // namespace edict::cli

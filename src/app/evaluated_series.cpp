#include "app/evaluated_series.h"

namespace edict::app {

EvaluatedSeries evaluated_series(const Model& model, const Dataset& data,
                                 const std::string& split) {
  EvaluatedSeries result{model.series_of(data, split), split};
  for (const std::size_t i : result.series) {
    const Part part = model.seen.part_of(data.ids[i], data.group_name(i));
    result.trained += part == Part::train;
    result.validated += part == Part::validation;
    result.unseen += part == Part::unseen;
  }
  if (result.all_new()) result.split = name_of(Part::unseen);
  return result;
}

std::string calibrating(const Model& model, std::size_t count) {
  if (model.config.data.split != SplitBy::group) return "series";
  return count == 1 ? "group" : "groups";
}

}  // namespace edict::app

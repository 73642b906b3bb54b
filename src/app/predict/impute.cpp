#include "app/predict/impute.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "app/find_name.h"
#include "ask/trajectory.h"

namespace edict::app {

FeaturesToFill features_to_fill(const std::vector<std::string>& names, const Model& model) {
  FeaturesToFill result;
  std::vector<std::size_t>& features = result.places;
  if (names.empty()) {
    features.resize(model.features.size());
    std::iota(features.begin(), features.end(), std::size_t{0});
    return result;
  }
  std::vector<std::string> known = model.features;
  for (const CategoryColumn& column : model.reading.categories)
    if (!column.is_static) known.push_back(column.column);
  for (const std::string& name : names) {
    const auto [place, note] = find_name("features", "feature", name, known);
    if (!note.empty()) result.notes.push_back(note);
    for (std::size_t j = 0; j < model.features.size(); ++j)
      if (j == place ||
          (place >= model.features.size() && model.features[j].starts_with(known[place] + "=")))
        features.push_back(j);
  }
  std::sort(features.begin(), features.end());
  features.erase(std::unique(features.begin(), features.end()), features.end());
  return result;
}

ImputeResult impute(const Model& model, const Dataset& data, const ImputeRequest& request,
                    ThreadPool& pool, const ImputeSink& sink) {
  if (!model.network->has_distribution()) throw no_distribution(model.config.model.kind);
  const std::vector<std::size_t> series =
      request.series ? *request.series : listed_or_all(data, {});
  ImputeResult result{.two_sided = !model.fusion.empty(), .series = series.size()};
  if (result.two_sided && !request.past_alone) result.sides = Sides::both;
  const edict::ImputeRequest filling{.grid = request.times,
                                     .table = request.table,
                                     .own_times = request.own_times,
                                     .sides = result.sides,
                                     .guard = request.guard};
  struct Part {
    std::unique_ptr<ImputedRows> rows;
    std::size_t series, without_times;
  };
  std::size_t done = 0;
  for_each_part(
      series, series_at_once(model, request.times_per_series * model.features.size()), pool,
      [&](std::span<const std::size_t> some) {
        Part made{sink.begin(), some.size(), 0};
        for (const ImputedSeries& imputed : edict::impute(model, data, filling, some, pool)) {
          made.without_times += imputed.times.empty();
          made.rows->add(imputed);
        }
        return made;
      },
      [&](const Part& made) {
        result.without_times += made.without_times;
        done += made.series;
        sink.take(*made.rows, static_cast<double>(done) / static_cast<double>(series.size()));
      });
  return result;
}

}  // namespace edict::app

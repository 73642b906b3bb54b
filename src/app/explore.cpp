#include "app/explore.h"

#include <utility>

#include "app/find_name.h"
#include "base/error.h"

namespace edict::app {
namespace {

std::vector<std::size_t> places(const std::string& given, const std::string& what,
                                const std::vector<std::string>& names,
                                const std::vector<std::string>& known,
                                std::vector<std::string>& notes) {
  std::vector<std::size_t> result;
  for (const std::string& name : names) {
    FoundName found = find_name(given, what, name, known);
    if (!found.note.empty()) notes.push_back(std::move(found.note));
    result.push_back(found.place);
  }
  return result;
}

}  // namespace

void check(const ExploreRequest& request, const Model& model) {
  if (!model.network->has_distribution() && model.network->classes() == 0)
    throw Error(ErrorCode::unsupported,
                {.subject = request.model_name,
                 .problem = "has neither a distribution nor a classifier to show"});
}

ExploreResult explore(const Model& model, const Dataset& data, const ExploreRequest& request,
                      ThreadPool& pool) {
  check(request, model);
  if (data.size() == 0)
    throw Error(ErrorCode::invalid,
                {.subject = request.data_name, .problem = "has no series to show"});
  ExploreResult result;
  report::ExploreOptions options = request.page;
  options.request.features = places("show", "feature", request.shown, model.features, result.notes);
  const std::vector<std::size_t> series =
      request.ids.empty() ? model.series_of(data, request.split)
                          : places("series", "series", request.ids, data.ids, result.notes);
  result.series = series.size();
  result.page = report::explore_page(model, data, series, pool, options);
  return result;
}

}  // namespace edict::app

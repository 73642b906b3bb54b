// A page to browse data and what a model makes of them, series by series.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/threads/thread_pool.h"
#include "model/model.h"
#include "render/explore/explore_page.h"

namespace edict::app {

struct ExploreRequest {
  report::ExploreOptions page = {};
  std::string split = "all";            // whose series, where none are listed
  std::vector<std::string> ids = {};    // of the series to show
  std::vector<std::string> shown = {};  // names of features; default: those that a series has
  std::string model_name = "the model", data_name = "the data";  // in messages
};

// Throws Error for a model that has nothing to show.
void check(const ExploreRequest& request, const Model& model);

struct ExploreResult {
  report::ExplorePage page;
  std::size_t series = 0;
  std::vector<std::string> notes = {};  // about names, in sentences
};

// The data have the model's columns, and are in pieces where the model was trained on pieces.
ExploreResult explore(const Model& model, const Dataset& data, const ExploreRequest& request,
                      ThreadPool& pool);

}  // namespace edict::app

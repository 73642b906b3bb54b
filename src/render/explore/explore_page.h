// The page of `edict explore`: any data and a model, series by series, in one file that needs no
// network. What is drawn is drawn by the page itself from packed numbers (packed_series.h), so
// that thousands of series fit.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>

#include "render/explore/explored_series.h"

namespace edict::report {

struct ExploreOptions {
  ExploreRequest request;
  double megabytes = 20;  // that the page may take, of a million bytes each
  std::string data_name;  // for the title
  std::function<void(double share)> progress = {};
};

struct ExplorePage {
  std::string html;
  // Series by what the page holds of them: everything; observations without bands; the name alone.
  std::size_t whole = 0, observations_only = 0, named_only = 0;
  double tolerance = 0;  // of the bands, as a share of a chart's height
};

// Everything fits if it can: first the bands are drawn through fewer points, then only the most
// surprising series have them, then the least surprising are left without observations. Throws
// Error where not even the list of series fits.
ExplorePage explore_page(const Model& model, const Dataset& data,
                         std::span<const std::size_t> series, ThreadPool& pool,
                         const ExploreOptions& options);

}  // namespace edict::report

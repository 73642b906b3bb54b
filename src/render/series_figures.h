// Charts of single series: the distribution of a feature over time, which uncertainty is
// aleatoric and which epistemic, the class probabilities. The same for the report's figures and its
// browser.
#pragma once

#include <string>
#include <vector>

#include "render/browse.h"
#include "render/svg.h"

namespace edict::report {

// "time (h)"
std::string time_label(const std::string& unit);

// One feature with its observations. What was not absorbed, from `cut` on, is hollow.
std::string forecast_chart(const std::string& title, const std::vector<double>& times,
                           const study::BrowsedFeature& feature, const study::BrowsedBand& band,
                           double cut, const std::string& time_unit);

// Everything absorbed, with noise: circles are what the guard changed, small dots what it took
// instead.
std::string noisy_chart(const std::string& title, const std::vector<double>& times,
                        const study::BrowsedFeature& feature, const study::BrowsedBand& band,
                        const std::string& time_unit);

// All charts of one series in one of its two views, as a fragment of a page.
enum class View { forecast, noisy };
std::string series_view(const study::Browse& browse, const study::BrowsedSeries& series, View view,
                        const std::string& time_unit);

}  // namespace edict::report

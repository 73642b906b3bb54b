// The figures of a study's report, as SVG.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "edict/study/study.h"

namespace edict {

// Number of the colour a method has everywhere: the classes m0, m1, … of report.css.
std::size_t colour_of(const std::string& method);

// "accuracy" or "auroc" against the level of noise: ours with deviations, published dashed.
std::string noise_figure(const nlohmann::json& results, const std::string& score,
                         const std::string& dataset);

// Coverage ("coverage") or efficiency ("width") against the level of the interval, a line a run.
std::string interval_figure(const std::vector<const StudiedRun*>& runs, const std::string& task,
                            const std::string& curve);

// Some series with their bands, from a run's browse.json: the first of each class, up to `count`.
std::vector<std::string> band_figures(const nlohmann::json& browse, const std::string& time_unit,
                                      std::size_t count);

// One series a class, as it was observed.
std::vector<std::string> example_figures(const StudiedData& data, std::size_t count);

}  // namespace edict

// The figures of a study's report, as SVG.
#pragma once

#include <string>
#include <vector>

#include "research/report/results.h"

namespace edict::report {

// Number of the colour a method has everywhere: the classes m0, m1, … of report.css.
std::size_t colour_of(const std::string& method);

// A score against the level of noise: ours with deviations, published dashed.
std::string noise_figure(const Results& results, Score score, const std::string& dataset);

// Coverage, or efficiency (the width), against the level of the interval, a line a run.
enum class IntervalCurve { coverage, width };
std::string interval_figure(const std::vector<const study::StudiedRun*>& runs, Task task,
                            IntervalCurve curve);

// Some series with their bands: the first of each class, up to `count`.
std::vector<std::string> band_figures(const study::Browse& browse, const std::string& time_unit,
                                      std::size_t count);

// One series a class, as it was observed.
std::vector<std::string> example_figures(const study::StudiedData& studied, std::size_t count);

}  // namespace edict::report

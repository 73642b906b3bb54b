// The paper's figure 2 for a model of one's own: bands over time that widen where nothing was
// observed and contract where something was, and the coverage curves beside them.
#pragma once

#include <string>
#include <vector>

#include "ask/trajectory.h"
#include "judge/evaluate.h"
#include "judge/stress.h"

namespace edict::report {

// One chart a feature. Observations before `absorb_until` were absorbed, later ones are shown
// hollow.
std::string bands_figure(const Model& model, const Dataset& data, const Trajectory& trajectory,
                         const std::vector<double>& times, double level, double absorb_until);

std::string coverage_figure(const Evaluation& evaluation);
std::string width_figure(const Evaluation& evaluation);

// Accuracy against the noise level, a line a guard, ± one deviation over seeds.
std::string stress_figure(const StressResult& result);

// A self-contained page around figures.
struct Section {
  std::string title, text;
  std::vector<std::string> figures;
  std::string tables = {};  // HTML below the figures
};
std::string html_page(const std::string& title, const std::string& lead,
                      const std::vector<Section>& sections);

}  // namespace edict::report

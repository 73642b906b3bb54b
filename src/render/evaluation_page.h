// The pages of `edict evaluate --html` and `edict stress --plot`, each one file.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "judge/classes/classifier_evaluation.h"
#include "judge/detailed_evaluation.h"
#include "learn/trainer.h"

namespace edict::report {

// A self-contained page around figures.
struct Section {
  std::string title, text;
  std::vector<std::string> figures;
  std::string tables = {};  // HTML below the figures
};
std::string html_page(const std::string& title, const std::string& lead,
                      const std::vector<Section>& sections);

// How good a model is: calibration, errors, classes and how it was trained, as far as there is
// something of each. `series`: which were evaluated ("40 series of the test split").
std::string evaluation_page(const std::string& title, const std::string& series,
                            const std::optional<DetailedEvaluation>& evaluation,
                            const std::optional<ClassifierEvaluation>& classes,
                            const std::vector<EpochRow>& epochs);

}  // namespace edict::report

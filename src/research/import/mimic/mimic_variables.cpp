#include "research/import/mimic/mimic_variables.h"

#include <algorithm>
#include <array>

namespace edict {
namespace {

constexpr auto kRanges = std::to_array<PlausibleRange>({
    {"alanine aminotransferase", 1, 20000, "IU/L"},
    {"albumin", 0.5, 7, "g/dL"},
    {"alkaline phosphate", 1, 5000, "IU/L"},
    {"anion gap", 0, 60, "mEq/L"},
    {"asparate aminotransferase", 1, 30000, "IU/L"},
    {"bicarbonate", 2, 70, "mEq/L"},
    {"bilirubin", 0.1, 80, "mg/dL"},
    {"blood urea nitrogen", 1, 300, "mg/dL"},
    {"calcium", 2, 25, "mg/dL"},
    {"calcium ionized", 0.2, 5, "mmol/L"},
    {"cardiac index", 0.3, 15, "L/min/m²"},
    {"cardiac output thermodilution", 0.5, 30, "L/min"},
    {"central venous pressure", -20, 60, "mmHg"},
    {"chloride", 50, 175, "mEq/L"},
    {"co2", 2, 70, "mEq/L"},
    {"co2 (etco2, pco2, etc.)", 2, 200, "mmHg"},
    {"creatinine", 0.1, 30, "mg/dL"},
    {"diastolic blood pressure", 10, 200, "mmHg"},
    {"fibrinogen", 10, 2000, "mg/dL"},
    {"fraction inspired oxygen", 0.21, 1, "fraction"},
    {"fraction inspired oxygen set", 0.21, 1, "fraction"},
    {"glascow coma scale total", 3, 15, "points"},
    {"glucose", 5, 2500, "mg/dL"},
    {"heart rate", 10, 300, "bpm"},
    {"height", 100, 240, "cm"},
    {"hematocrit", 5, 75, "%"},
    {"hemoglobin", 1, 25, "g/dL"},
    {"lactate", 0.1, 40, "mmol/L"},
    {"lactate dehydrogenase", 10, 40000, "IU/L"},
    {"lactic acid", 0.1, 40, "mmol/L"},
    {"magnesium", 0.3, 20, "mg/dL"},
    {"mean blood pressure", 15, 250, "mmHg"},
    {"mean corpuscular hemoglobin", 5, 60, "pg"},
    {"mean corpuscular hemoglobin concentration", 10, 50, "g/dL"},
    {"mean corpuscular volume", 40, 160, "fL"},
    {"oxygen saturation", 20, 100, "%"},
    {"partial pressure of carbon dioxide", 8, 200, "mmHg"},
    {"partial pressure of oxygen", 10, 760, "mmHg"},
    {"partial thromboplastin time", 10, 200, "s"},
    {"peak inspiratory pressure", 0, 100, "cmH2O"},
    {"ph", 6.5, 8, "pH"},
    {"phosphate", 0.1, 25, "mg/dL"},
    {"phosphorous", 0.1, 25, "mg/dL"},
    {"plateau pressure", 0, 100, "cmH2O"},
    {"platelets", 1, 2500, "cells/nL"},
    {"positive end-expiratory pressure", 0, 50, "cmH2O"},
    {"positive end-expiratory pressure set", 0, 50, "cmH2O"},
    {"potassium", 1, 15, "mEq/L"},
    {"potassium serum", 1, 15, "mEq/L"},
    {"prothrombin time inr", 0.5, 30, "ratio"},
    {"prothrombin time pt", 5, 200, "s"},
    {"pulmonary artery pressure mean", 1, 120, "mmHg"},
    {"pulmonary artery pressure systolic", 1, 180, "mmHg"},
    {"red blood cell count", 0.5, 10, "cells/pL"},
    {"respiratory rate", 1, 100, "bpm"},
    {"respiratory rate set", 1, 100, "bpm"},
    {"sodium", 90, 190, "mEq/L"},
    {"systemic vascular resistance", 50, 8000, "dyn·s/cm⁵"},
    {"systolic blood pressure", 20, 300, "mmHg"},
    {"temperature", 25, 45, "°C"},
    {"tidal volume observed", 10, 3000, "mL"},
    {"tidal volume set", 10, 3000, "mL"},
    {"tidal volume spontaneous", 10, 3000, "mL"},
    {"troponin-i", 0.01, 500, "ng/mL"},
    {"troponin-t", 0.001, 100, "ng/mL"},
    {"weight", 20, 300, "kg"},
    {"white blood cell count", 0.1, 600, "cells/nL"},
});

constexpr auto kSlips = std::to_array<UnitSlip>({
    {"fraction inspired oxygen", 21, 100, 0.01, 0},
    {"fraction inspired oxygen set", 21, 100, 0.01, 0},
    {"temperature", 77, 113, 1 / 1.8, -32 / 1.8},
});

}  // namespace

std::span<const PlausibleRange> mimic_ranges() { return kRanges; }
std::span<const UnitSlip> mimic_slips() { return kSlips; }

const PlausibleRange* mimic_range(std::string_view name) {
  const auto at = std::find_if(kRanges.begin(), kRanges.end(),
                               [&](const PlausibleRange& range) { return range.name == name; });
  return at == kRanges.end() ? nullptr : &*at;
}

const UnitSlip* mimic_slip(std::string_view name) {
  const auto at = std::find_if(kSlips.begin(), kSlips.end(),
                               [&](const UnitSlip& slip) { return slip.name == name; });
  return at == kSlips.end() ? nullptr : &*at;
}

}  // namespace edict

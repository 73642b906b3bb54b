#include "research/import/physionet_parameters.h"

#include <algorithm>

namespace edict {
namespace {

constexpr bool kRare = false;

constexpr std::array<PhysionetParameter, 37> kParameters{{
    {{"ALP", 1, 5000, "IU/L"}},
    {{"ALT", 1, 20000, "IU/L"}},
    {{"AST", 1, 30000, "IU/L"}},
    {{"Albumin", 0.5, 7, "g/dL"}},
    {{"BUN", 1, 300, "mg/dL"}},
    {{"Bilirubin", 0.1, 80, "mg/dL"}},
    {{"Cholesterol", 20, 1000, "mg/dL"}, kRare},
    {{"Creatinine", 0.1, 30, "mg/dL"}},
    {{"DiasABP", 10, 200, "mmHg"}},
    {{"FiO2", 0.21, 1, "fraction"}},
    {{"GCS", 3, 15, "points"}},
    {{"Glucose", 5, 2500, "mg/dL"}},
    {{"HCO3", 2, 70, "mmol/L"}},
    {{"HCT", 5, 75, "%"}},
    {{"HR", 10, 300, "bpm"}},
    {{"K", 1, 15, "mEq/L"}},
    {{"Lactate", 0.1, 40, "mmol/L"}},
    {{"MAP", 15, 250, "mmHg"}},
    {{"MechVent", 0, 1, "0 or 1"}},
    {{"Mg", 0.3, 20, "mmol/L"}},
    {{"NIDiasABP", 10, 200, "mmHg"}},
    {{"NIMAP", 15, 250, "mmHg"}},
    {{"NISysABP", 20, 300, "mmHg"}},
    {{"Na", 90, 190, "mEq/L"}},
    {{"PaCO2", 8, 200, "mmHg"}},
    {{"PaO2", 10, 760, "mmHg"}},
    {{"Platelets", 1, 2500, "cells/nL"}},
    {{"RespRate", 1, 100, "bpm"}},
    {{"SaO2", 20, 100, "%"}},
    {{"SysABP", 20, 300, "mmHg"}},
    {{"Temp", 25, 45, "°C"}},
    {{"TroponinI", 0.01, 500, "µg/L"}, kRare},
    {{"TroponinT", 0.001, 100, "µg/L"}, kRare},
    {{"Urine", 0, 5000, "mL"}, true, true},
    {{"WBC", 0.1, 600, "cells/nL"}},
    {{"Weight", 20, 300, "kg"}},
    {{"pH", 6.5, 8, "pH"}},
}};

constexpr std::array<PlausibleRange, 5> kDescriptorRanges{{
    {"Age", 12, 120, "years"},
    {"Gender", 0, 1, "0 or 1"},
    {"Height", 120, 230, "cm"},
    {"ICUType", 1, 4, "1 to 4"},
    {"Weight", 20, 300, "kg"},
}};

constexpr std::array<UnitSlip, 2> kSlips{{
    {"pH", 650, 800, 0.01, 0},          // the point forgotten: 735 for 7.35
    {"Height", 300, 585, 1 / 2.54, 0},  // centimetres taken for inches: 431.8 for 170
}};

}  // namespace

std::span<const PhysionetParameter> physionet_parameters() { return kParameters; }

int physionet_parameter(std::string_view name) {
  static_assert(
      std::is_sorted(kParameters.begin(), kParameters.end(),
                     [](const auto& a, const auto& b) { return a.range.name < b.range.name; }));
  const auto at = std::lower_bound(
      kParameters.begin(), kParameters.end(), name,
      [](const PhysionetParameter& p, std::string_view wanted) { return p.range.name < wanted; });
  const bool found = at != kParameters.end() && at->range.name == name;
  return found ? static_cast<int>(at - kParameters.begin()) : -1;
}

std::array<std::string_view, kPhysionetStatics> physionet_statics() {
  return {"Age", "Gender", "Height", "ICUType1", "ICUType2", "ICUType3", "ICUType4", "Weight"};
}

const PlausibleRange* physionet_descriptor(std::string_view name) {
  const auto at = std::find_if(kDescriptorRanges.begin(), kDescriptorRanges.end(),
                               [&](const PlausibleRange& range) { return range.name == name; });
  return at == kDescriptorRanges.end() ? nullptr : &*at;
}

const UnitSlip* physionet_slip(std::string_view name, double value) {
  for (const UnitSlip& slip : kSlips)
    if (slip.matches(value) && slip.name == name) return &slip;
  return nullptr;
}

}  // namespace edict

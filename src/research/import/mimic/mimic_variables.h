// Plausible ranges and unit slips of MIMIC-Extract's variables, by their lower-case names.
// docs/how-to/datasets.md gives the reasons and must agree.
#pragma once

#include <span>
#include <string_view>

#include "research/import/plausible.h"

namespace edict {

std::span<const PlausibleRange> mimic_ranges();
std::span<const UnitSlip> mimic_slips();

// Null where the variable has none: then only values that are no numbers are removed.
const PlausibleRange* mimic_range(std::string_view name);

// The slip that values of this variable may be, or null.
const UnitSlip* mimic_slip(std::string_view name);

}  // namespace edict

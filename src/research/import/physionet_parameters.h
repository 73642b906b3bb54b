// The parameters of the PhysioNet 2012 challenge: which become features, their plausible ranges,
// and the unit slips that are repaired. docs/how-to/datasets.md gives the reasons and must agree.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include "research/import/plausible.h"

namespace edict {

struct PhysionetParameter {
  PlausibleRange range;
  bool kept = true;     // the three rarest of the 37 are not, as in the paper
  bool summed = false;  // within a bin; else averaged
};

// All 37 time-varying parameters, in the order of the features.
std::span<const PhysionetParameter> physionet_parameters();

// Index into physionet_parameters(), or −1.
int physionet_parameter(std::string_view name);

// Static covariates, in order: Age, Gender, Height, ICUType1 … ICUType4, Weight.
inline constexpr std::size_t kPhysionetStatics = 8;
std::array<std::string_view, kPhysionetStatics> physionet_statics();

// Of the descriptors Age, Gender, Height, ICUType and (admission) Weight; null for other names.
const PlausibleRange* physionet_descriptor(std::string_view name);

// The slip that this value of a parameter or descriptor is, or null.
const UnitSlip* physionet_slip(std::string_view name, double value);

}  // namespace edict

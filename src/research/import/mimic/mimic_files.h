// The two shapes MIMIC-Extract's output comes in.
#pragma once

#include <filesystem>

#include "research/import/import.h"

namespace edict {

// all_hourly_data.h5: frame `vitals_labs_mean` (or the columns `mean` of `vitals_labs`) with the
// row index subject_id, hadm_id, icustay_id, hours_in; frame `patients` (or `statics`) with
// icustay_id, mort_icu, age and gender.
Dataset read_mimic_hdf5(const std::filesystem::path& path, const MimicWindow& window,
                        ImportReport& report, const Progress& progress);

// The export of the first frame with one header line, or the two to three that pandas writes for
// columns of two levels; and of the second, if that path is not empty. Without it the first file
// must have a column mort_icu.
Dataset read_mimic_csv(const std::filesystem::path& vitals, const std::filesystem::path& patients,
                       const MimicWindow& window, ImportReport& report, const Progress& progress);

}  // namespace edict

// PhysioNet 2012 as others prepare it, for figures that stand beside theirs (presets/published/
// field.csv). docs/how-to/datasets.md describes our own way, which is import_physionet.
//
//   forecasting     hourly bins, the mean of a bin; 36 channels: all time-varying parameters but
//                   MechVent; z-scores over all stays, those beyond ±5 left out; t ≤ 36 h is given
//                   and the next three bins that a stay has are asked for (GraFITi, ProFITi)
//   interpolation   minutes; all 37 parameters and the descriptors Age, Gender, Height and ICUType
//                   as 41 channels; z-scores over all stays (HeTVAE)
//
// The public reader of the forecasters has two quirks: the row that opens a new hour is lost, and
// the last bin of a stay is never written. Published figures come from it, so it can be had with
// and without them. Nothing implausible is removed here, as there.
#pragma once

#include <cstddef>
#include <filesystem>

#include "data/dataset.h"
#include "research/import/import.h"

namespace edict {

struct FieldRules {
  int bin_minutes = 60;
  bool descriptors = false;  // as channels at time 0, and MechVent with them
  bool quirks = false;
  double farthest = 5.0;  // z-scores beyond it are left out
};

// Times in hours, values as z-scores. From the folder of the downloads, as import_physionet.
Dataset field_physionet(const std::filesystem::path& from, const FieldRules& rules,
                        ImportReport& report);

// The same series with only the first `count` events after `time`.
Dataset first_events_after(const Dataset& data, double time, std::size_t count);

}  // namespace edict

// Real datasets, from the files their distributors ship to a Dataset with the paper's
// preprocessing. docs/how-to/datasets.md says where each comes from, what is done to it, and why.
//
// `from` is the folder a user downloaded into (archives need not be unpacked), or for the datasets
// of a single file that file. Throws Error where a file is missing (naming it and where to get it),
// damaged or not in the documented format. Values that are merely absurd are dropped and counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "data/dataset.h"

namespace edict {

// Called now and then with the share of the work done, from 0 to 1, by one thread at a time.
using Progress = std::function<void(double share)>;

// What was read, kept, repaired and dropped, in the order of the work: ("dropped", "10 stays …").
struct ImportReport {
  std::vector<std::pair<std::string, std::string>> lines;

  void add(std::string what, std::string details) {
    lines.emplace_back(std::move(what), std::move(details));
  }
};

// PhysioNet/CinC Challenge 2012: set-{a,b,c} as .tar.gz, .tgz, .tar, .zip or unpacked folder,
// whichever are there, each with its Outcomes-{a,b,c}.txt. 34 features; times in hours, the start
// of a 10-minute bin; label "1" is in-hospital death.
Dataset import_physionet(const std::filesystem::path& from, ImportReport& report,
                         const Progress& progress = {});

// uWave gestures, the UCR files UWaveGestureLibrary{X,Y,Z}_{TRAIN,TEST} (.tsv, .ts or .txt).
// Features x, y, z; times in seconds at 100 Hz. Of each gesture ⌊keep_fraction · 945⌋ values stay,
// drawn by (seed, id).
Dataset import_gestures(const std::filesystem::path& from, ImportReport& report,
                        std::uint64_t seed = 0, double keep_fraction = 0.1,
                        const Progress& progress = {});

// Localization Data for Person Activity, ConfLongDemo_JSI.txt. Twelve features, one tag an event;
// windows of `window` rows without overlap; times in seconds from the start of the window; seven
// classes; the group is the recording.
Dataset import_activity(const std::filesystem::path& from, ImportReport& report,
                        std::size_t window = 50, const Progress& progress = {});

// Which part of which stays of MIMIC-Extract. By default all of it. For a mortality that is
// predicted rather than read off the last hours, the pipeline's own benchmark takes the first 24
// hours of stays of at least 30 hours.
struct MimicWindow {
  double hours = std::numeric_limits<double>::infinity();  // rows with hours_in below this
  double shortest_stay = 0.0;                              // in hours, by the last hours_in + 1
};

// MIMIC-Extract: all_hourly_data.h5, or vitals_labs_mean.csv with patients.csv. Times in hours;
// features missing in more than 95 % of the rows are dropped; label "1" is death in the ICU.
Dataset import_mimic_extract(const std::filesystem::path& from, ImportReport& report,
                             const MimicWindow& window = {}, const Progress& progress = {});

}  // namespace edict

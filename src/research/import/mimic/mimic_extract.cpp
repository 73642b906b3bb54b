#include <initializer_list>

#include "base/error.h"
#include "base/files/folder.h"
#include "research/import/download.h"
#include "research/import/import.h"
#include "research/import/mimic/mimic_files.h"

namespace edict {
namespace {

namespace fs = std::filesystem;

constexpr Download kMimicDownload{
    "the output of MIMIC-Extract",
    "https://github.com/MLforHealth/MIMIC_Extract, with credentialed access to "
    "https://physionet.org/content/mimiciii/1.4/",
    "PhysioNet Credentialed Health Data License 1.5.0, no redistribution",
    "all_hourly_data.h5 of several GB, or its export vitals_labs_mean.csv with patients.csv"};

// The first of these that is in the folder, or an empty path.
fs::path first_of(const fs::path& folder, std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (fs::is_regular_file(folder / name)) return folder / name;
  return {};
}

// A run with a limited population is written as all_hourly_data_1000.h5.
fs::path find_hdf5(const fs::path& folder) {
  for (const fs::path& path : entries_of(folder))
    if (path.filename().string().starts_with("all_hourly_data") && path.extension() == ".h5")
      return path;
  return {};
}

fs::path find_patients(const fs::path& folder) {
  return first_of(folder, {"patients.csv", "statics.csv", "static_data.csv"});
}

}  // namespace

Dataset import_mimic_extract(const fs::path& from, ImportReport& report, const MimicWindow& window,
                             const Progress& progress) {
  if (fs::is_regular_file(from)) {
    const fs::path ending = from.extension();
    if (ending == ".csv")
      return read_mimic_csv(from, find_patients(from.parent_path()), window, report, progress);
    if (ending == ".h5" || ending == ".hdf5" || ending == ".hdf")
      return read_mimic_hdf5(from, window, report, progress);
  }
  if (fs::is_directory(from)) {
    if (const fs::path file = find_hdf5(from); !file.empty())
      return read_mimic_hdf5(file, window, report, progress);
    const fs::path vitals = first_of(from, {"vitals_labs_mean.csv", "vitals_labs.csv"});
    if (!vitals.empty())
      return read_mimic_csv(vitals, find_patients(from), window, report, progress);
  }
  fail_missing(from, "all_hourly_data.h5 or vitals_labs_mean.csv", kMimicDownload);
}

}  // namespace edict

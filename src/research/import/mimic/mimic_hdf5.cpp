#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <limits>

#include "base/error.h"
#include "research/import/download.h"
#include "research/import/mimic/mimic_builder.h"
#include "research/import/mimic/mimic_files.h"
#include "research/import/mimic/pandas_frame.h"

namespace edict {
namespace {

constexpr std::size_t kRowsAtOnce = 8192;
constexpr std::size_t kMostRows = std::size_t{1} << 26;  // all of MIMIC-III has 6 million hours
constexpr std::array<const char*, 4> kIndex{"subject_id", "hadm_id", "icustay_id", "hours_in"};

std::unique_ptr<PandasFrame> open_first(const Hdf5File& file, const std::string& first,
                                        const std::string& second, ImportReport& report) {
  const std::string& key = file.has(first) ? first : second;
  if (!file.has(key))
    file.fail(first, fmt::format("is not there, nor is /{}; give the all_hourly_data.h5 that "
                                 "MIMIC-Extract writes",
                                 second));
  auto frame = open_pandas_frame(file, key);
  if (frame->rows() > kMostRows) file.fail(key, "claims more rows than MIMIC-III can have");
  report.add("read", fmt::format("/{}: {} rows", key, grouped(frame->rows())));
  return frame;
}

MimicPatients read_patients(const Hdf5File& file, ImportReport& report) {
  const auto frame = open_first(file, "patients", "statics", report);
  const auto stays = frame->integers("icustay_id");
  const auto died = frame->integers("mort_icu");
  const auto age = frame->find("age");
  const auto ages = age ? frame->numbers(*age) : std::vector<double>();
  const auto genders = frame->texts("gender");
  if (!genders) report.add("missing", "gender, which is not there or pickled");
  MimicPatients patients;
  for (std::size_t i = 0; i < stays.size(); ++i) {
    MimicPatient patient{Dataset::kNone, age ? unmasked_age(ages[i]) : kNaN, kNaN};
    if (died[i] == 0 || died[i] == 1) patient.died = static_cast<std::int32_t>(died[i]);
    if (genders && ((*genders)[i] == "M" || (*genders)[i] == "F"))
      patient.male = (*genders)[i] == "M" ? 1.0 : 0.0;
    patients.emplace(stays[i], patient);
  }
  return patients;
}

}  // namespace

Dataset read_mimic_hdf5(const std::filesystem::path& path, const MimicWindow& window,
                        ImportReport& report, const Progress& progress) {
  const Hdf5File file(path);
  const auto frame = open_first(file, "vitals_labs_mean", "vitals_labs", report);
  const MimicPatients patients = read_patients(file, report);

  std::vector<std::size_t> columns;
  std::vector<std::string> features;
  for (std::size_t c = 0; c < frame->columns().size(); ++c) {
    const auto& [name, level] = frame->columns()[c];
    const bool index = std::find(kIndex.begin(), kIndex.end(), name) != kIndex.end();
    if (index || !(level.empty() || level == "mean")) continue;
    columns.push_back(c);
    features.push_back(name);
  }
  MimicBuilder builder(features, patients, window, path.string());

  const auto stays = frame->integers("icustay_id");
  const auto hours = frame->integers("hours_in");
  const std::size_t width = frame->columns().size();
  std::vector<double> block(kRowsAtOnce * width), values(columns.size());
  for (std::size_t first = 0; first < frame->rows(); first += kRowsAtOnce) {
    const std::size_t count = std::min(kRowsAtOnce, frame->rows() - first);
    frame->read(first, count, block.data());
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t c = 0; c < columns.size(); ++c) values[c] = block[i * width + columns[c]];
      builder.add_row(stays[first + i], static_cast<double>(hours[first + i]), values);
    }
    if (progress) progress(static_cast<double>(first + count) / static_cast<double>(frame->rows()));
  }
  return builder.finish(report);
}

}  // namespace edict

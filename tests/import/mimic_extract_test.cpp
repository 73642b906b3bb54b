// The fixtures and what is in them: fixtures/write_mimic_fixture.py.
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <sstream>

#include "data/read/csv/csv.h"
#include "import/pack.h"
#include "research/import/mimic/mimic_variables.h"

namespace edict {
namespace {

namespace fs = std::filesystem;

const fs::path kFixtures = fs::path(EDICT_TEST_DIR) / "fixtures";

Dataset import(const fs::path& from, const MimicWindow& window = {}) {
  ImportReport report;
  return import_mimic_extract(from, report, window);
}

void expect_the_three_stays(const Dataset& data) {
  EXPECT_EQ(data.features, (std::vector<std::string>{"fraction inspired oxygen", "glucose",
                                                     "heart rate", "temperature"}));
  EXPECT_EQ(data.ids, (std::vector<std::string>{"211552", "294638", "228232"}));
  EXPECT_EQ(data.labels, (std::vector<std::int32_t>{0, 1, 0}));
  ASSERT_EQ(data.events(0), 6u);
  ASSERT_EQ(data.events(1), 4u);
  ASSERT_EQ(data.events(2), 3u);
  for (std::size_t stay = 0, e = 0; stay < 3; ++stay)
    for (std::size_t hour = 0; hour < data.events(stay); ++hour, ++e) {
      EXPECT_EQ(data.times[e], static_cast<double>(hour));
      EXPECT_NEAR(value_of(data, e, "temperature"), 37.0, 1e-9);  // one was in Fahrenheit
      if (stay != 1 || hour != 2) {
        EXPECT_EQ(value_of(data, e, "heart rate"), 80.0 + static_cast<double>(hour + 10 * stay));
      }
      if (hour % 2 == 0) {
        EXPECT_EQ(value_of(data, e, "glucose"), 100.0 + static_cast<double>(hour));
      }
    }
  EXPECT_DOUBLE_EQ(value_of(data, 6, "fraction inspired oxygen"), 0.5);  // was in percent
  EXPECT_EQ(data.observations(), 39u);
  EXPECT_EQ(data.statics, (std::vector<std::string>{"age", "male"}));
  EXPECT_EQ(data.covariates(0)[0], 76.5);
  EXPECT_EQ(data.covariates(1)[0], 47.8);
  EXPECT_EQ(data.covariates(2)[0], 90.0);  // masked as 300
}

void expect_genders(const Dataset& data) {
  EXPECT_EQ(data.covariates(0)[1], 1.0);
  EXPECT_EQ(data.covariates(1)[1], 0.0);
  EXPECT_EQ(data.covariates(2)[1], 0.0);
}

TEST(MimicExtract, ReadsTheFileAsThePipelineWritesIt) {
  ImportReport report;
  const Dataset data = import_mimic_extract(kFixtures / "mimic_pipeline.h5", report);
  expect_the_three_stays(data);
  expect_genders(data);
  const std::string text = text_of(report);
  expect_contains(text, "read: 13 hours of 3 stays, 5 variables");
  expect_contains(text, "removed: heart rate: 1 of 13 values outside 10 to 300 bpm");
  expect_contains(text, "repaired: temperature: 1 values");
  expect_contains(text, "missing in more than 95 % of the hours: troponin-t");
  expect_contains(text, "kept: 3 stays, 1 of them ending in death; 39 values");
}

TEST(MimicExtract, ReadsTheFixedLayoutAndOnlyTheMeans) {
  const Dataset data = import(kFixtures / "mimic_fixed.h5");
  expect_the_three_stays(data);
  EXPECT_TRUE(std::isnan(data.covariates(0)[1]));  // pickled there
}

TEST(MimicExtract, ReadsTheTableLayout) {
  const Dataset data = import(kFixtures / "mimic_table.h5");
  expect_the_three_stays(data);
  expect_genders(data);
}

TEST(MimicExtract, ReadsTheCsvExport) {
  const Dataset data = import(kFixtures / "mimic_csv");
  expect_the_three_stays(data);
  expect_genders(data);
  expect_same(data, import(kFixtures / "mimic_pipeline.h5"));
}

TEST(MimicExtract, FindsTheFileInAFolder) {
  DownloadFolder download;
  download.write("all_hourly_data.h5", content(kFixtures / "mimic_pipeline.h5"));
  expect_the_three_stays(import(download.path()));
}

TEST(MimicExtract, TheWindowCutsStaysAndLeavesOutShortOnes) {
  ImportReport report;
  const Dataset data = import_mimic_extract(kFixtures / "mimic_pipeline.h5", report, {2.0, 4.0});
  EXPECT_EQ(data.ids, (std::vector<std::string>{"211552", "294638"}));
  EXPECT_EQ(data.times, (std::vector<double>{0, 1, 0, 1}));
  expect_contains(text_of(report), "dropped: 1 stays shorter than 4 hours");
  expect_contains(text_of(report), "dropped: 6 rows from hour 2 on");
}

TEST(MimicExtract, TheCsvOfTheDatasetReadsBack) {
  const Dataset data = import(kFixtures / "mimic_pipeline.h5");
  const TemporaryFolder out;
  write_csv(data, out / "m.csv");
  expect_same(data, read_csv(out / "m.csv"));
}

const std::string kPatients = "icustay_id,mort_icu,age\n1,0,50\n2,1,60\n";

Dataset import_csv(const std::string& vitals, ImportReport& report,
                   const std::string& patients = kPatients) {
  DownloadFolder download;
  download.write("vitals_labs_mean.csv", vitals);
  if (!patients.empty()) download.write("static_data.csv", patients);
  return import_mimic_extract(download.path(), report);
}

TEST(MimicExtract, HeadersComeInSeveralShapes) {
  const std::string rows = "1,0,80,5\n1,1,81,\n2,0,90,6\n";
  ImportReport report;
  const Dataset one = import_csv("icustay_id,hours_in,heart rate,lactate\n" + rows, report);
  EXPECT_EQ(one.features, (std::vector<std::string>{"heart rate", "lactate"}));
  EXPECT_EQ(one.observations(), 5u);
  EXPECT_EQ(one.labels, (std::vector<std::int32_t>{0, 1}));
  for (const std::string header :
       {"icustay_id,hours_in,heart rate,lactate\n,,mean,mean\n",
        "icustay_id,hours_in,\"('heart rate', 'mean')\",\"('lactate', 'mean')\"\n",
        "LEVEL2,,Heart Rate,Lactate\nAggregation Function,,mean,mean\nicustay_id,hours_in,,\n"})
    expect_same(one, import_csv(header + rows, report));
  std::string windows;
  for (char c : "icustay_id,hours_in,heart rate,lactate\n" + rows)
    windows += c == '\n' ? std::string("\r\n") : std::string(1, c);
  expect_same(one, import_csv(windows, report));
}

TEST(MimicExtract, CountsAndDeviationsBesideTheMeansAreLeftOut) {
  ImportReport report;
  const Dataset data =
      import_csv("icustay_id,hours_in,heart rate,heart rate\n,,mean,std\n1,0,80,5\n", report);
  EXPECT_EQ(data.features, (std::vector<std::string>{"heart rate"}));
  EXPECT_EQ(value_of(data, 0, "heart rate"), 80.0);
}

TEST(MimicExtract, TheOutcomeMayBeInTheSameFile) {
  ImportReport report;
  const Dataset data =
      import_csv("icustay_id,hours_in,mort_icu,heart rate\n1,0,1,80\n2,0,0,90\n", report, "");
  EXPECT_EQ(data.features, (std::vector<std::string>{"heart rate"}));
  EXPECT_EQ(data.labels, (std::vector<std::int32_t>{1, 0}));
}

// 20 hours: a feature seen once is missing in exactly 95 %, and stays.
TEST(MimicExtract, ExactlyNinetyFivePercentMissingStays) {
  std::string rows = "icustay_id,hours_in,heart rate,once,never\n";
  for (int hour = 0; hour < 20; ++hour)
    rows += "1," + std::to_string(hour) + ",80," + (hour == 7 ? "3" : "") + ",\n";
  ImportReport report;
  EXPECT_EQ(import_csv(rows, report).features, (std::vector<std::string>{"heart rate", "once"}));
  rows += "1,20,80,,\n";
  EXPECT_EQ(import_csv(rows, report).features, (std::vector<std::string>{"heart rate"}));
}

TEST(MimicExtract, StaysLeftWithoutValuesGoAndOthersKeepTheirPlace) {
  std::string rows = "icustay_id,hours_in,heart rate,rare\n2,0,,\n2,1,9999,7\n";
  for (int hour = 0; hour < 30; ++hour) rows += "1," + std::to_string(hour) + ",80,\n";
  rows += "3,0,,\n3,5,70,\n";
  ImportReport report;
  const Dataset data = import_csv(rows, report);
  EXPECT_EQ(data.ids, (std::vector<std::string>{"1", "3"}));
  EXPECT_EQ(data.labels, (std::vector<std::int32_t>{0, Dataset::kNone}));
  EXPECT_EQ(data.covariates(0)[0], 50.0);
  EXPECT_TRUE(std::isnan(data.covariates(1)[0]));
  ASSERT_EQ(data.events(1), 1u);
  EXPECT_EQ(data.times[30], 5.0);
  EXPECT_EQ(value_of(data, 30, "heart rate"), 70.0);
  expect_contains(text_of(report), "dropped: 1 stays without any value");
  expect_contains(text_of(report), "kept: 1 stays without an outcome");
}

TEST(MimicExtract, RepeatedHoursAreDroppedAndMixedStaysRefused) {
  ImportReport report;
  const std::string header = "icustay_id,hours_in,heart rate\n";
  const Dataset data = import_csv(header + "1,0,80\n1,0,80\n1,1,81\n", report);
  EXPECT_EQ(data.events(), 2u);
  expect_contains(text_of(report), "1 rows that repeat an hour");
  const auto message = [&](const std::string& rows) {
    return error_of([&] { import_csv(header + rows, report); });
  };
  expect_contains(message("1,0,80\n2,0,80\n1,1,80\n"), "stay 1 are not together or there twice");
  expect_contains(message("1,1,80\n1,0,80\n"), "sort the rows");
}

TEST(MimicExtract, WrongCsvIsRefusedWithFileAndLine) {
  ImportReport report;
  const auto message = [&](const std::string& vitals, const std::string& patients = kPatients) {
    return error_of([&] { import_csv(vitals, report, patients); });
  };
  const std::string header = "icustay_id,hours_in,heart rate\n";
  expect_contains(message("a,b,c\n1,2,3\n"), "no header with 'icustay_id' and 'hours_in'");
  expect_contains(message(""), "no header with");
  expect_contains(message(header + "1,0,fast\n"),
                  "vitals_labs_mean.csv:2: column 'heart rate': 'fast' is not a number");
  expect_contains(message(header + "x,0,80\n"), "column 'icustay_id'");
  expect_contains(message(header + "1,0,80\n1,1\n"), "vitals_labs_mean.csv:3: has 2 cells");
  expect_contains(message(header), "no rows are left");
  expect_contains(message("icustay_id,hours_in\n1,0\n"), "has no columns of hourly means");
  expect_contains(message("icustay_id,hours_in,ph,pH\n1,0,7,7\n"), "two columns 'ph'");
  expect_contains(message(header + "1,0,80\n", ""), "no column 'mort_icu'");
  expect_contains(message(header + "1,0,80\n", "icustay_id,age\n1,50\n"), "'mort_icu'");
}

TEST(MimicExtract, AMissingFileIsNamedWithItsSource) {
  DownloadFolder download;
  const auto message = error_of([&] { import(download.path()); });
  expect_contains(message, "no all_hourly_data.h5 or vitals_labs_mean.csv");
  expect_contains(message, "https://github.com/MLforHealth/MIMIC_Extract");
  expect_contains(message, "Credentialed Health Data License");
  expect_contains(message, "several GB");
  expect_contains(error_of([] { import("/nowhere/x.h5"); }), "no such file or folder");
}

TEST(MimicExtract, DamagedHdf5IsRefused) {
  DownloadFolder download;
  download.write("all_hourly_data.h5", "not HDF5 at all");
  const auto message = [&] { return error_of([&] { import(download.path()); }); };
  expect_contains(message(), "is no HDF5 file, damaged or cut short");
  download.write("all_hourly_data.h5", content(kFixtures / "mimic_pipeline.h5"));
  download.cut("all_hourly_data.h5", 0.5);
  expect_contains(message(), "is no HDF5 file, damaged or cut short");
}

TEST(MimicExtract, HowLongAFileWasCutDoesNotMatter) {
  const std::string original = content(kFixtures / "mimic_table.h5");
  DownloadFolder download;
  for (std::size_t length = 0; length < original.size(); length += 509) {
    download.write("all_hourly_data.h5", original.substr(0, length));
    expect_contains(error_of([&] { import(download.path()); }), "cut short");
  }
}

// The precision of the whole numbers in the table's record, of which 64 became 191 bits: the HDF5
// library itself would write beyond its buffers.
TEST(MimicExtract, NumbersOfUnknownFormAreRefused) {
  std::string damaged = content(kFixtures / "mimic_table.h5");
  // A fixed-point type of 8 bytes: offset 0 and precision 64, 16 bits each.
  const std::string integer("\x10\x08\x00\x00\x08\x00\x00\x00\x00\x00\x40\x00", 12);
  std::size_t found = 0;
  for (std::size_t at = damaged.find(integer); at != damaged.npos;
       at = damaged.find(integer, at + 1)) {
    damaged[at + 10] = '\xbf';
    ++found;
  }
  ASSERT_GT(found, 0u);
  DownloadFolder download;
  download.write("all_hourly_data.h5", damaged);
  error_of([&] { import(download.path()); });
}

// The table in the documentation is the one in the code.
TEST(MimicExtract, TheDocumentedRangesAreTheOnesUsed) {
  std::istringstream file(content(EDICT_SOURCE_DIR "/docs/how-to/datasets.md"));
  std::set<std::string> rows;
  for (std::string line; std::getline(file, line);) rows.insert(line);
  for (const PlausibleRange& range : mimic_ranges()) {
    std::ostringstream row;
    row << "| " << range.name << " | " << range.low << " | " << range.high << " | " << range.unit
        << " |";
    EXPECT_TRUE(rows.contains(row.str())) << row.str();
  }
  for (const UnitSlip& slip : mimic_slips()) {
    const PlausibleRange* range = mimic_range(slip.name);
    ASSERT_NE(range, nullptr) << slip.name;
    EXPECT_TRUE(range->holds(slip.repaired(slip.low))) << slip.name;
    EXPECT_TRUE(range->holds(slip.repaired(slip.high))) << slip.name;
  }
}

}  // namespace
}  // namespace edict

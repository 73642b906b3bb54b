#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <sstream>

#include "data/read/csv/csv.h"
#include "import/pack.h"
#include "research/import/physionet_parameters.h"

namespace edict {
namespace {

const std::string kHeader = "Time,Parameter,Value\n";

std::string descriptors(const std::string& id, const std::string& height = "170.2",
                        const std::string& weight = "80") {
  return kHeader + "00:00,RecordID," + id + "\n00:00,Age,54\n00:00,Gender,0\n00:00,Height," +
         height + "\n00:00,ICUType,4\n00:00,Weight," + weight + "\n";
}

const std::string kOutcomes =
    "RecordID,SAPS-I,SOFA,Length_of_stay,Survival,In-hospital_death\n"
    "101,6,1,5,-1,0\n102,16,8,8,3,1\n103,1,1,1,-1,0\n";

Files stays() {
  return {{"set-a/102.txt", descriptors("102", "-1", "-1") + "00:09,HR,90\n"},
          {"set-a/101.txt", descriptors("101") + "00:07,HR,73\n00:09,HR,75\n00:10,HR,99\n"
                                                 "00:07,Urine,60\n00:08,Urine,30\n"
                                                 "47:59,Temp,36.5\n48:00,Temp,37\n"},
          {"set-a/103.txt", descriptors("103")}};
}

Dataset import_files(const Files& files, ImportReport& report) {
  DownloadFolder download;
  download.write(files);
  download.write("Outcomes-a.txt", kOutcomes);
  return import_physionet(download.path(), report);
}

Dataset import_one(const std::string& rows) {
  ImportReport report;
  return import_files({{"set-a/101.txt", descriptors("101") + rows}}, report);
}

TEST(Physionet, BinsAverageAndUrineIsSummed) {
  ImportReport report;
  const Dataset data = import_files(stays(), report);
  ASSERT_EQ(data.size(), 2u);  // 103 has no series
  EXPECT_EQ(data.ids, (std::vector<std::string>{"101", "102"}));
  EXPECT_EQ(data.features.size(), 34u);
  ASSERT_EQ(data.events(0), 4u);
  EXPECT_DOUBLE_EQ(data.times[0], 0.0);
  EXPECT_DOUBLE_EQ(data.times[1], 10.0 / 60.0);
  EXPECT_DOUBLE_EQ(data.times[2], 47.0 + 50.0 / 60.0);
  EXPECT_DOUBLE_EQ(data.times[3], 48.0);
  EXPECT_DOUBLE_EQ(value_of(data, 0, "HR"), 74.0);
  EXPECT_DOUBLE_EQ(value_of(data, 0, "Urine"), 90.0);
  EXPECT_DOUBLE_EQ(value_of(data, 1, "HR"), 99.0);
  expect_contains(text_of(report), "dropped: 1 stays without any series");
  expect_contains(text_of(report), "kept: 2 stays, 1 of them ending in death");
}

TEST(Physionet, DescriptorsBecomeStaticsAndOutcomesLabels) {
  ImportReport report;
  const Dataset data = import_files(stays(), report);
  EXPECT_EQ(data.statics, (std::vector<std::string>{"Age", "Gender", "Height", "ICUType1",
                                                    "ICUType2", "ICUType3", "ICUType4", "Weight"}));
  const std::vector<double> expected{54, 0, 170.2, 0, 0, 0, 1, 80};
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_EQ(data.covariates(0)[i], expected[i]) << data.statics[i];
  EXPECT_TRUE(std::isnan(data.covariates(1)[2]));
  EXPECT_TRUE(std::isnan(data.covariates(1)[7]));
  EXPECT_EQ(data.classes[static_cast<std::size_t>(data.labels[0])], "0");
  EXPECT_EQ(data.classes[static_cast<std::size_t>(data.labels[1])], "1");
}

TEST(Physionet, FolderTarAndZipGiveTheSameDataset) {
  ImportReport report;
  const Dataset folder = import_files(stays(), report);
  for (const char* name : {"set-a.tar.gz", "set-a.zip"}) {
    DownloadFolder download;
    download.pack(name, stays());
    download.write("Outcomes-a.txt", kOutcomes);
    expect_same(folder, import_physionet(download.path(), report));
  }
}

TEST(Physionet, WindowsLineEndsAndRowOrderChangeNothing) {
  const std::string rows = "00:07,HR,73\n00:09,HR,75.3\n00:08,HR,71.1\n10:00,pH,7.4\n";
  const std::string shuffled = "10:00,pH,7.4\r\n00:08,HR,71.1\r\n00:09,HR,75.3\r\n00:07,HR,73\r\n";
  expect_same(import_one(rows), import_one(shuffled));
}

TEST(Physionet, SetsArePutTogether) {
  DownloadFolder download;
  download.write(stays());
  download.pack("set-c.zip", {{"201.txt", descriptors("201") + "01:00,HR,60\n"}});
  download.write("Outcomes-a.txt", kOutcomes);
  download.write("Outcomes-c.txt", "RecordID,In-hospital_death\r\n201,1\r\n");
  ImportReport report;
  const Dataset data = import_physionet(download.path(), report);
  EXPECT_EQ(data.ids, (std::vector<std::string>{"101", "102", "201"}));
  EXPECT_EQ(data.labels[2], 1);
}

TEST(Physionet, ImplausibleValuesAreRemovedAndCounted) {
  ImportReport report;
  const Dataset data = import_files(
      {{"set-a/101.txt", descriptors("101", "14", "80") +
                             "01:00,HR,0\n01:00,HR,80\n01:00,Temp,-17.8\n01:00,Temp,-1\n"
                             "01:00,WBC,1e999\n01:00,Na,nan\n02:00,SysABP,0\n"}},
      report);
  ASSERT_EQ(data.events(), 1u);
  ASSERT_EQ(data.observations(), 1u);
  EXPECT_EQ(value_of(data, 0, "HR"), 80.0);
  EXPECT_TRUE(std::isnan(data.covariates(0)[2]));  // a height of 14 cm
  const std::string text = text_of(report);
  expect_contains(text, "removed: HR: 1 of 2 values outside 10 to 300 bpm");
  expect_contains(text, "removed: Temp: 1 of 1 values outside 25 to 45 °C");
  expect_contains(text, "removed: WBC: 1 of 1");
  expect_contains(text, "removed: Na: 1 of 1");
  expect_contains(text, "removed: descriptor Height: 1 of 1");
  expect_contains(text, "dropped: 1 values marked missing by -1");
}

TEST(Physionet, TheTwoObviousUnitSlipsAreRepaired) {
  ImportReport report;
  const Dataset data =
      import_files({{"set-a/101.txt", descriptors("101", "431.8") + "01:00,pH,735\n"}}, report);
  EXPECT_DOUBLE_EQ(value_of(data, 0, "pH"), 7.35);
  EXPECT_NEAR(data.covariates(0)[2], 170.0, 1e-9);
  expect_contains(text_of(report), "repaired: pH: 1 values");
}

TEST(Physionet, LaterWeightsAreMeasurements) {
  const Dataset data = import_one("00:00,Weight,81\n05:00,Weight,82\n");
  EXPECT_EQ(data.covariates(0)[7], 80.0);
  ASSERT_EQ(data.events(), 2u);
  EXPECT_EQ(value_of(data, 0, "Weight"), 81.0);
  EXPECT_EQ(value_of(data, 1, "Weight"), 82.0);
}

TEST(Physionet, RepeatedRowsAndStaysCountOnce) {
  DownloadFolder download;
  const std::string text = descriptors("101") + "00:07,Urine,60\n00:07,Urine,60\n";
  download.pack("set-a.tar.gz", {{"set-a/101.txt", text}, {"copy/101.txt", text}});
  download.write("Outcomes-a.txt", kOutcomes);
  ImportReport report;
  const Dataset data = import_physionet(download.path(), report);
  ASSERT_EQ(data.size(), 1u);
  EXPECT_EQ(value_of(data, 0, "Urine"), 60.0);
  expect_contains(text_of(report), "1 repeated rows");
  expect_contains(text_of(report), "1 stays that were there twice");
}

TEST(Physionet, UnknownAndRareParametersAreDroppedWithCounts) {
  ImportReport report;
  const Dataset data = import_files(
      {{"set-a/101.txt", descriptors("101") + "00:10,HR,60\n00:10,TroponinT,0.1\n"
                                              "00:10,,5\n00:10,Mood,3\n48:01,HR,60\n"}},
      report);
  EXPECT_EQ(data.observations(), 1u);
  expect_contains(text_of(report), "1 values of the rarest parameters");
  expect_contains(text_of(report), "1 rows of the unknown parameter ''");
  expect_contains(text_of(report), "1 rows of the unknown parameter 'Mood'");
  expect_contains(text_of(report), "1 values after the first 48 hours");
}

TEST(Physionet, StaysWithoutOutcomeKeepNoLabel) {
  ImportReport report;
  const Dataset data =
      import_files({{"set-a/999.txt", descriptors("999") + "00:10,HR,60\n"}}, report);
  EXPECT_EQ(data.labels[0], Dataset::kNone);
  expect_contains(text_of(report), "1 stays without an outcome");
}

TEST(Physionet, MissingFilesAreNamedWithTheirSource) {
  DownloadFolder download;
  ImportReport report;
  const auto import = [&] { import_physionet(download.path(), report); };
  const std::string nothing = error_of(import);
  expect_contains(nothing, "no set-a, set-b or set-c");
  expect_contains(nothing, "https://physionet.org/content/challenge-2012/1.0.0/");
  expect_contains(nothing, "ODC-By");
  expect_contains(nothing, "MB");
  download.write(stays());
  expect_contains(error_of(import), "no Outcomes-a.txt");
  expect_contains(error_of([&] { import_physionet("/nowhere/at/all", report); }),
                  "no such file or folder");
}

TEST(Physionet, WrongTextIsRefusedWithFileAndLine) {
  const auto message = [](const std::string& text) {
    ImportReport report;
    return error_of([&] { import_files({{"set-a/101.txt", text}}, report); });
  };
  expect_contains(message("Zeit,Parameter,Value\n"), "101.txt:1: begins with 'Zeit");
  expect_contains(message(""), "not with 'Time,Parameter,Value'");
  expect_contains(message(kHeader + "00:10,HR,fast\n"), "101.txt:2: column 'Value': 'fast'");
  expect_contains(message(kHeader + "0010,HR,60\n"), "101.txt:2: column 'Time': '0010'");
  expect_contains(message(kHeader + "00:61,HR,60\n"), "column 'Time'");
  expect_contains(message(kHeader + "00:10,HR,60,1\n"), "column 'Value'");
  expect_contains(message(kHeader + "00:10,HR\n"), "column 'Value'");
  expect_contains(message(descriptors("102")), "contradicts the file's name");
}

TEST(Physionet, WrongOutcomesAreRefused) {
  DownloadFolder download;
  download.write(stays());
  ImportReport report;
  const auto message = [&](const std::string& outcomes) {
    download.write("Outcomes-a.txt", outcomes);
    return error_of([&] { import_physionet(download.path(), report); });
  };
  expect_contains(message("RecordID,Survival\n101,0\n"), "lacks 'RecordID' or 'In-hospital_death'");
  expect_contains(message("RecordID,In-hospital_death\n101\n"), "Outcomes-a.txt:2: has 1 columns");
  expect_contains(message("RecordID,In-hospital_death\n101,0\n101,1\n"), "another outcome");
}

TEST(Physionet, ACutArchiveIsRefused) {
  DownloadFolder download;
  Files files;
  for (int id = 1000; id < 1200; ++id)
    files.emplace_back(
        "set-a/" + std::to_string(id) + ".txt",
        descriptors(std::to_string(id)) + "00:10,HR," + std::to_string(id % 97 + 20));
  download.pack("set-a.tar.gz", files);
  download.cut("set-a.tar.gz", 0.5);
  download.write("Outcomes-a.txt", kOutcomes);
  ImportReport report;
  expect_contains(error_of([&] { import_physionet(download.path(), report); }), "cut short");
}

TEST(Physionet, ProgressRisesToOne) {
  DownloadFolder download;
  download.pack("set-a.zip", stays());
  download.write("Outcomes-a.txt", kOutcomes);
  ImportReport report;
  double last = 0.0;
  import_physionet(download.path(), report, [&](double share) {
    EXPECT_GE(share, last);
    last = share;
  });
  EXPECT_DOUBLE_EQ(last, 1.0);
}

TEST(Physionet, TheCsvReadsBack) {
  ImportReport report;
  const Dataset data = import_files(stays(), report);
  const TemporaryFolder out;
  write_csv(data, out / "p.csv");
  ReadOptions all;  // also those that nobody observed
  all.features = data.features;
  expect_same(data, read_csv(out / "p.csv", all));
}

// The table in the documentation is the one in the code.
TEST(Physionet, TheDocumentedRangesAreTheOnesUsed) {
  std::istringstream file(content(EDICT_SOURCE_DIR "/docs/how-to/datasets.md"));
  std::set<std::string> rows;
  for (std::string line; std::getline(file, line);) rows.insert(line);
  const auto text = [](double value) {
    std::ostringstream out;
    out << value;
    return out.str();
  };
  std::size_t kept = 0;
  for (const auto& [range, is_kept, summed] : physionet_parameters()) {
    kept += is_kept;
    const std::string prefix = "| " + std::string(range.name) + " | " + text(range.low) + " | " +
                               text(range.high) + " | " + std::string(range.unit) + " |";
    const auto at = rows.lower_bound(prefix);
    EXPECT_TRUE(at != rows.end() && at->starts_with(prefix)) << prefix;
  }
  EXPECT_EQ(kept, 34u);
}

}  // namespace
}  // namespace edict

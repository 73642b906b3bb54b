// The importers from the command line, on tiny downloads made here.
#include <algorithm>

#include "base/json/json.h"
#include "cli/tool.h"

namespace edict {
namespace {

class ImportTest : public ToolTest {
 protected:
  // Two gestures of 20 values an axis.
  void place_gestures() {
    for (const char axis : {'X', 'Y', 'Z'}) {
      std::string text;
      for (int gesture = 1; gesture <= 2; ++gesture) {
        text += std::to_string(gesture);
        for (int t = 0; t < 20; ++t) {
          text += '\t';
          text += std::to_string(gesture + 0.01 * t);
        }
        text += "\n";
      }
      write(std::string("down/UWaveGestureLibrary") + axis + "_TRAIN.tsv", text);
    }
  }
  void place_stays() {
    const std::string head =
        "Time,Parameter,Value\n00:00,Age,54\n00:00,Gender,0\n00:00,Height,170\n00:00,ICUType,4\n"
        "00:00,Weight,80\n00:00,RecordID,";
    write("down/set-a/101.txt", head + "101\n00:07,HR,73\n00:09,HR,75\n10:00,HR,999\n");
    write("down/set-a/102.txt", head + "102\n05:00,Temp,37\n");
    write("down/Outcomes-a.txt",
          "RecordID,SAPS-I,SOFA,Length_of_stay,Survival,In-hospital_death\n"
          "101,6,1,5,-1,0\n102,16,8,8,3,1\n");
  }
  void place_rows(int rows) {
    std::string text;
    for (int i = 0; i < rows; ++i)
      text += "A01,010-000-024-033," + std::to_string(633790226051280329 + 1000000LL * i) +
              ",27.05.2009 14:03:25:128," + std::to_string(i) + ",0.5,-1,walking\n";
    write("down/ConfLongDemo_JSI.txt", text);
  }
  void place_hours() {
    std::string rows = "subject_id,hadm_id,icustay_id,hours_in,heart rate,glucose\n";
    for (const int stay : {7, 8})
      for (int hour = 0; hour < 3 * (stay - 6); ++hour)
        rows += "1,2," + std::to_string(stay) + "," + std::to_string(hour) + ",80,110\n";
    write("down/vitals_labs_mean.csv", rows);
    write("down/patients.csv",
          "subject_id,hadm_id,icustay_id,gender,age,mort_icu\n1,2,7,M,60,0\n1,2,8,F,70,1\n");
  }

  static void expect(const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << "no '" << part << "' in: " << text;
  }
  void expect_refused(const Outcome& outcome, const std::string& message) {
    EXPECT_EQ(outcome.code, 2) << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    expect(outcome.err, message);
    EXPECT_FALSE(exists("data.csv"));
  }
};

TEST_F(ImportTest, GesturesKeepTheShareAskedFor) {
  place_gestures();
  const Outcome outcome = edict("import gestures --from down --out data.csv --keep 0.5");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  expect(outcome.out, "data.csv: 2 series");
  expect(outcome.out, " 60 observations of 3 features, 2 classes");  // half of 2 × 60
  expect(outcome.out + outcome.err, "UWaveGestureLibraryX_TRAIN.tsv");
  EXPECT_EQ(edict("info data.csv").code, 0);

  ASSERT_EQ(edict("import gestures --from down --out same.csv --keep 0.5").code, 0);
  ASSERT_EQ(edict("import gestures --from down --out other.csv --keep 0.5 --seed 1").code, 0);
  EXPECT_EQ(read("same.csv"), read("data.csv"));
  EXPECT_NE(read("other.csv"), read("data.csv"));
}

TEST_F(ImportTest, PhysionetTellsWhatItRemoved) {
  place_stays();
  const Outcome outcome = edict("import physionet --from down --out data.csv");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  expect(outcome.out, "data.csv: 2 series, 2 events, 2 observations of 34 features, 2 classes");
  expect(outcome.out + outcome.err, "HR: 1 of 3 values outside 10 to 300 bpm");
  expect(read("data.csv"), "static:Age");
  // The same for programs.
  ASSERT_EQ(edict("import physionet --from down --out data.csv --json found.json").code, 0);
  const nlohmann::json found = nlohmann::json::parse(read("found.json"));
  EXPECT_EQ(found["series"], 2);
  EXPECT_EQ(found["features"].size(), 34u);
  expect(found["cleaning"].dump(), "HR: 1 of 3 values outside 10 to 300 bpm");
}

TEST_F(ImportTest, ActivityCutsWindowsOfTheLengthAskedFor) {
  place_rows(9);
  const Outcome outcome = edict("import activity --from down --out data.csv --window 4");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  expect(outcome.out, "data.csv: 2 series, 8 events, 24 observations of 12 features");
}

TEST_F(ImportTest, MimicTakesAWindowOfLongStays) {
  place_hours();
  Outcome outcome = edict("import mimic-extract --from down --out data.csv");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  expect(outcome.out, "data.csv: 2 series, 9 events, 18 observations");
  outcome = edict("import mimic-extract --from down --out data.csv --hours 2 --shortest-stay 4");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  expect(outcome.out, "data.csv: 1 series, 2 events, 4 observations");
}

TEST_F(ImportTest, AMissingFileIsNamedAndNothingIsWritten) {
  std::filesystem::create_directories(path() / "down");
  expect_refused(edict("import gestures --from down --out data.csv"), "UWaveGestureLibrary");
  expect_refused(edict("import physionet --from down --out data.csv"), "set-a");
  expect_refused(edict("import activity --from down --out data.csv"), "ConfLongDemo_JSI.txt");
  expect_refused(edict("import mimic-extract --from down --out data.csv"), "all_hourly_data.h5");
  expect_refused(edict("import physionet --from nowhere --out data.csv"), "nowhere");
  EXPECT_EQ(files(), 1u);
}

TEST_F(ImportTest, DamagedInputLeavesAnEarlierFileAlone) {
  place_gestures();
  write("kept.csv", "id,time,x\na,0,1\n");
  write("down/UWaveGestureLibraryY_TRAIN.tsv", "1\t0.5\tabc\n");
  expect_refused(edict("import gestures --from down --out kept.csv"), "UWaveGestureLibraryY");
  EXPECT_EQ(read("kept.csv"), "id,time,x\na,0,1\n");
}

TEST_F(ImportTest, BadOptionsAreRefused) {
  place_gestures();
  expect_refused(edict("import gestures --from down --out data.csv --keep 2"), "--keep");
  expect_refused(edict("import activity --from down --out data.csv --window 0"), "--window");
  expect_refused(edict("import mimic-extract --from down --out data.csv --hours -1"), "--hours");
  expect_refused(edict("import gestures --from down --out missing/data.csv"), "create it first");
  expect_refused(edict("import uwave --from down --out data.csv"), "");
}

TEST_F(ImportTest, ADownloadIsNotReplaced) {
  place_gestures();
  const std::string file = "down/UWaveGestureLibraryX_TRAIN.tsv", before = read(file);
  const Outcome refused = edict("import gestures --from down --out " + file);
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.err.find("belongs to the downloaded files"), std::string::npos) << refused.err;
  EXPECT_EQ(read(file), before);
  // What an earlier import made may stand in the same folder.
  for (int time = 0; time < 2; ++time)
    EXPECT_EQ(edict("import gestures --from down --out down/gestures.csv").code, 0);
}

}  // namespace
}  // namespace edict

// PhysioNet as others prepare it, on a download of two stays.
#include "research/import/physionet_field.h"

#include <gtest/gtest.h>

#include <cmath>

#include "import/pack.h"

namespace edict {
namespace {

// Hours 0, 1 and 3; HR 60, 80 | 100, 90 | 70, and a value of no channel.
const std::string kFirst =
    "Time,Parameter,Value\n00:00,RecordID,1\n00:00,Age,54\n00:00,Gender,0\n00:00,Height,-1\n"
    "00:00,ICUType,4\n00:00,Weight,80\n00:10,HR,60\n00:20,HR,80\n00:30,MechVent,1\n01:05,HR,100\n"
    "01:10,HR,90\n01:50,Temp,37\n03:00,HR,70\n";
const std::string kSecond =
    "Time,Parameter,Value\n00:00,RecordID,2\n00:00,Age,60\n00:00,Gender,1\n00:00,Height,170\n"
    "00:00,ICUType,2\n00:00,Weight,70\n02:00,HR,110\n02:01,Temp,36\n";

Dataset read(const FieldRules& rules) {
  DownloadFolder download;
  download.write(Files{{"set-a/1.txt", kFirst},
                       {"set-a/2.txt", kSecond},
                       {"Outcomes-a.txt", "RecordID,In-hospital_death\n1,0\n2,1\n"}});
  ImportReport report;
  return field_physionet(download.path(), rules, report);
}

// A feature's z-scores, as the values before that have mean and deviation of these.
std::vector<double> scores(const Dataset& data, const std::string& name) {
  std::vector<double> found;
  for (std::size_t o = 0; o < data.observations(); ++o)
    if (data.features[static_cast<std::size_t>(data.feature[o])] == name)
      found.push_back(data.value[o]);
  return found;
}

std::vector<double> z_scores(std::vector<double> values) {
  double mean = 0, square = 0;
  const auto n = static_cast<double>(values.size());
  for (const double v : values) mean += v / n;
  for (const double v : values) square += (v - mean) * (v - mean) / n;
  for (double& v : values) v = (v - mean) / std::sqrt(square);
  return values;
}

void expect_near(const std::vector<double>& found, const std::vector<double>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-12) << i;
}

TEST(FieldPhysionet, AveragesHoursAndScoresThemOverAllStays) {
  const Dataset data = read({});
  EXPECT_EQ(data.features.size(), 36u);
  EXPECT_EQ(data.ids, (std::vector<std::string>{"1", "2"}));
  EXPECT_EQ(data.times, (std::vector<double>{0, 1, 3, 2}));
  expect_near(scores(data, "HR"), z_scores({70, 95, 70, 110}));
  expect_near(scores(data, "Temp"), {1, -1});
}

TEST(FieldPhysionet, HasTheQuirksOfThePublicReaderWhereTheyAreAskedFor) {
  FieldRules rules;
  rules.quirks = true;
  const Dataset data = read(rules);
  // The row that opens hour 1 is lost, hour 3 and the second stay's only hour are never written.
  EXPECT_EQ(data.times, (std::vector<double>{0, 1}));
  expect_near(scores(data, "HR"), z_scores({70, 90}));
}

TEST(FieldPhysionet, TakesDescriptorsAsChannelsWhereTheRulesDo) {
  FieldRules rules;
  rules.bin_minutes = 1;
  rules.descriptors = true;
  const Dataset data = read(rules);
  EXPECT_EQ(data.features.size(), 41u);
  EXPECT_NEAR(data.times[1], 10 / 60.0, 1e-12);
  expect_near(scores(data, "Age"), {-1, 1});
  EXPECT_EQ(scores(data, "Height").size(), 1u) << "-1 is missing";
  EXPECT_EQ(scores(data, "MechVent").size(), 1u);
}

TEST(FieldPhysionet, LeavesOutWhatIsTooFar) {
  FieldRules rules;
  rules.farthest = 1.2;
  // 110 is 1.39 deviations above 86.25.
  EXPECT_EQ(scores(read(rules), "HR").size(), 3u);
}

TEST(FieldPhysionet, PointsAtTheLineThatIsWrong) {
  DownloadFolder download;
  download.write(Files{{"set-a/1.txt", "Time,Parameter,Value\n00:00,RecordID,1\n1:x,HR,60\n"},
                       {"Outcomes-a.txt", "RecordID,In-hospital_death\n1,0\n"}});
  ImportReport report;
  try {
    field_physionet(download.path(), {}, report);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(":3: column 'Time'"), std::string::npos)
        << error.what();
  }
}

TEST(FirstEventsAfter, KeepsWhatIsGivenAndTheNextThatExist) {
  const Dataset data = first_events_after(read({}), 0.5, 1);
  EXPECT_EQ(data.times, (std::vector<double>{0, 1, 2}));
  EXPECT_EQ(data.ids.size(), 2u);
}

}  // namespace
}  // namespace edict

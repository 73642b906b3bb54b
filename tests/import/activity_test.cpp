#include <gtest/gtest.h>

#include "data/read/csv/csv.h"
#include "import/pack.h"
#include "protocol/split.h"

namespace edict {
namespace {

const std::vector<std::string> kTags{"010-000-024-033", "010-000-030-096", "020-000-033-111",
                                     "020-000-032-221"};
constexpr std::int64_t kStart = 633790226051280329;

std::string row(const std::string& recording, std::size_t tag, std::int64_t ticks,
                const std::string& place, const std::string& activity) {
  return recording + "," + kTags[tag] + "," + std::to_string(kStart + ticks) +
         ",27.05.2009 14:03:25:128," + place + "," + activity + "\n";
}

// `count` rows half a second apart, the tags in turn, x counting up.
std::string recording(const std::string& name, int count, const std::string& activity) {
  std::string text;
  for (int i = 0; i < count; ++i)
    text += row(name, static_cast<std::size_t>(i % 4), 5000000LL * i, std::to_string(i) + ",0.5,-1",
                activity);
  return text;
}

Dataset import_text(const std::string& text, ImportReport& report, std::size_t window = 4) {
  DownloadFolder download;
  download.write("ConfLongDemo_JSI.txt", text);
  return import_activity(download.path(), report, window);
}

TEST(Activity, WindowsDoNotOverlapAndStartAtZero) {
  ImportReport report;
  const Dataset data = import_text(recording("A01", 10, "walking"), report);
  ASSERT_EQ(data.size(), 2u);  // 10 rows are two windows of 4 and 2 left over
  EXPECT_EQ(data.features.size(), 12u);
  EXPECT_EQ(data.features[0], "ankle_left_x");
  EXPECT_EQ(data.features[11], "belt_z");
  EXPECT_EQ(data.ids, (std::vector<std::string>{"A01-0000", "A01-0001"}));
  EXPECT_EQ(data.times, (std::vector<double>{0, 0.5, 1, 1.5, 0, 0.5, 1, 1.5}));  // seconds
  EXPECT_EQ(value_of(data, 5, "ankle_right_x"), 5.0);
  EXPECT_EQ(value_of(data, 6, "chest_y"), 0.5);
  EXPECT_EQ(value_of(data, 7, "belt_z"), -1.0);
  for (std::size_t e = 0; e < data.events(); ++e) EXPECT_EQ(data.observed(e).size(), 3u);
  expect_contains(text_of(report), "dropped: 2 rows at the ends of recordings");
}

TEST(Activity, ElevenActivitiesAreSevenClasses) {
  const std::vector<std::pair<std::string, std::string>> merged{
      {"walking", "walking"},
      {"falling", "falling"},
      {"lying", "lying"},
      {"lying down", "lying"},
      {"sitting", "sitting"},
      {"sitting down", "sitting"},
      {"standing up from lying", "standing up"},
      {"standing up from sitting", "standing up"},
      {"standing up from sitting on the ground", "standing up"},
      {"on all fours", "on all fours"},
      {"sitting on the ground", "sitting on the ground"}};
  for (const auto& [activity, expected] : merged) {
    ImportReport report;
    const Dataset data = import_text(recording("A01", 4, activity), report);
    EXPECT_EQ(data.classes.size(), 7u);
    EXPECT_EQ(data.classes[static_cast<std::size_t>(data.labels[0])], expected);
  }
}

TEST(Activity, TheMajorityLabelsAWindowAndTheFirstWinsATie) {
  ImportReport report;
  const auto label = [&](const std::vector<std::string>& activities) {
    std::string text;
    for (std::size_t i = 0; i < 4; ++i)
      text += row("A01", i, 1000 * static_cast<std::int64_t>(i), "1,1,1", activities[i]);
    const Dataset data = import_text(text, report);
    return data.classes[static_cast<std::size_t>(data.labels[0])];
  };
  EXPECT_EQ(label({"walking", "falling", "falling", "falling"}), "falling");
  EXPECT_EQ(label({"walking", "falling", "walking", "falling"}), "walking");
  EXPECT_EQ(label({"lying", "walking", "walking", "lying down"}), "lying");  // after merging
}

TEST(Activity, TheGroupIsTheRecordingAndKeepsWholeRecordingsTogether) {
  std::string text;
  for (int r = 1; r <= 9; ++r) text += recording("A0" + std::to_string(r), 40, "walking");
  ImportReport report;
  const Dataset data = import_text(text, report);
  EXPECT_EQ(data.groups.size(), 9u);
  EXPECT_EQ(data.groups[static_cast<std::size_t>(data.group_of[0])], "A01");
  const Split parts = split(data, 0, 0.7, 0.1, SplitBy::group);
  std::vector<int> side(9, -1);
  const auto check = [&](const std::vector<std::size_t>& indices, int which) {
    EXPECT_FALSE(indices.empty());
    for (std::size_t i : indices) {
      int& seen = side[static_cast<std::size_t>(data.group_of[i])];
      EXPECT_TRUE(seen == -1 || seen == which);
      seen = which;
    }
  };
  check(parts.train, 0);
  check(parts.validation, 1);
  check(parts.test, 2);
}

TEST(Activity, RowsAreSortedAndTagsSeenOneAtATime) {
  const std::string a = row("A01", 0, 0, "1,1,1", "walking");
  const std::string b = row("A01", 1, 10000000, "2,2,2", "walking");
  const std::string same_time = row("A01", 2, 10000000, "3,3,3", "walking");
  const std::string d = row("A01", 3, 20000000, "4,4,4", "walking");
  ImportReport report;
  const Dataset data = import_text(d + same_time + b + a + b, report);
  ASSERT_EQ(data.size(), 1u);
  EXPECT_EQ(data.times, (std::vector<double>{0.0, 1.0, 1.0000001, 2.0}));
  EXPECT_EQ(value_of(data, 2, "chest_x"), 3.0);
  expect_contains(text_of(report), "shifted: 1 rows");
  expect_contains(text_of(report), "dropped: 1 rows that repeat tag and time");
}

TEST(Activity, WindowsLineEndsAndAnArchiveChangeNothing) {
  const std::string text = recording("A01", 8, "lying");
  std::string windows;
  for (char c : text) windows += c == '\n' ? std::string("\r\n") : std::string(1, c);
  ImportReport report;
  const Dataset data = import_text(text, report);
  expect_same(data, import_text(windows, report));
  DownloadFolder download;
  download.pack("localization.zip", {{"ConfLongDemo_JSI.txt", text}});
  expect_same(data, import_activity(download.path(), report, 4));
  expect_same(data, import_activity(download.path() / "localization.zip", report, 4));
}

TEST(Activity, AbsurdPlacesAreDroppedAndCounted) {
  ImportReport report;
  const Dataset data =
      import_text(row("A01", 0, 1, "nan,1,1", "lying") + row("A01", 0, 2, "1,1e30,1", "lying") +
                      recording("A01", 4, "lying"),
                  report);
  EXPECT_EQ(data.size(), 1u);
  expect_contains(text_of(report), "dropped: 2 rows with a place");
}

TEST(Activity, AMissingFileIsNamedWithItsSource) {
  DownloadFolder download;
  ImportReport report;
  const auto message = error_of([&] { import_activity(download.path(), report); });
  expect_contains(message, "no ConfLongDemo_JSI.txt");
  expect_contains(message, "https://archive.ics.uci.edu/dataset/196/");
  expect_contains(message, "CC BY 4.0");
  expect_contains(message, "21 MB");
}

TEST(Activity, WrongTextIsRefusedWithFileAndLine) {
  ImportReport report;
  const auto message = [&](const std::string& text) {
    return error_of([&] { import_text(recording("A01", 4, "lying") + text, report); });
  };
  expect_contains(message("A01,010-000-024-033,6337902\n"), "ConfLongDemo_JSI.txt:5: has not 8");
  expect_contains(message("A01,9,1,d,1,1,1,lying\n"), "column 'tag': '9'");
  expect_contains(message("A01," + kTags[0] + ",1.5,d,1,1,1,lying\n"), "column 'ticks': '1.5'");
  expect_contains(message(row("A01", 0, 9, "1,left,1", "lying")), "column 'y': 'left'");
  expect_contains(message(row("A01", 0, 9, "1,1,1", "lyi")), "column 'activity': 'lyi'");
  expect_contains(error_of([&] { import_text("", report); }), "no recording has 4 rows");
  expect_contains(error_of([&] { import_text(recording("A01", 3, "lying"), report); }),
                  "no recording has 4 rows");
  expect_contains(error_of([&] { import_text(recording("A01", 3, "lying"), report, 0); }),
                  "at least 1");
}

TEST(Activity, TheCsvReadsBackWithGroups) {
  ImportReport report;
  std::string text;
  int number = 1;
  for (const char* activity : {"falling", "lying", "on all fours", "sitting",
                               "sitting on the ground", "standing up from lying", "walking"})
    text += recording("B0" + std::to_string(number++), 8, activity);
  const Dataset data = import_text(text, report);
  const TemporaryFolder out;
  write_csv(data, out / "a.csv");
  const Dataset back = read_csv(out / "a.csv");
  expect_same(data, back);
  EXPECT_EQ(data.groups, back.groups);
  EXPECT_EQ(data.group_of, back.group_of);
  EXPECT_EQ(data.classes, back.classes);
}

}  // namespace
}  // namespace edict

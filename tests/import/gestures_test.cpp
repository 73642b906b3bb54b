#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "import/pack.h"
#include "research/import/ucr_file.h"

namespace edict {
namespace {

constexpr int kLength = 20;  // of a made-up gesture; 60 values

// Value of an axis (0, 1, 2) of gesture i at time index t: tells where it came from.
double made_up(int axis, int i, int t) { return axis + 10 * i + t / 100.0; }

enum class Spelling { tsv, txt, ts };

std::string gesture_text(int axis, const std::vector<int>& labels, Spelling spelling,
                         const std::string& line_end = "\n") {
  std::ostringstream out;
  out.precision(12);
  if (spelling == Spelling::ts)
    out << "# a comment" << line_end << "@problemName UWave" << line_end << "@classLabel true 1 2"
        << line_end << "@data" << line_end;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (spelling == Spelling::txt) out << "  " << labels[i] << ".0000000e+00";
    if (spelling == Spelling::tsv) out << labels[i];
    for (int t = 0; t < kLength; ++t) {
      if (spelling == Spelling::tsv) out << '\t';
      if (spelling == Spelling::txt) out << "   ";
      if (spelling == Spelling::ts && t > 0) out << ',';
      out << made_up(axis, static_cast<int>(i), t);
    }
    if (spelling == Spelling::ts) out << ':' << labels[i];
    out << line_end;
  }
  return out.str();
}

Files part(const std::string& name, const std::vector<int>& labels,
           Spelling spelling = Spelling::tsv, const std::string& line_end = "\n") {
  const std::string ending = spelling == Spelling::tsv  ? ".tsv"
                             : spelling == Spelling::ts ? ".ts"
                                                        : ".txt";
  Files files;
  for (int axis = 0; axis < 3; ++axis)
    files.emplace_back("UWaveGestureLibrary" + std::string(1, "XYZ"[axis]) + "_" + name + ending,
                       gesture_text(axis, labels, spelling, line_end));
  return files;
}

Dataset import_files(const Files& files, std::uint64_t seed = 0, double keep = 0.1) {
  DownloadFolder download;
  download.write(files);
  ImportReport report;
  return import_gestures(download.path(), report, seed, keep);
}

TEST(Gestures, KeepsATenthOfEachGestureWhereItWas) {
  const Dataset data = import_files(part("TRAIN", {2, 1, 2}));
  EXPECT_EQ(data.features, (std::vector<std::string>{"x", "y", "z"}));
  EXPECT_EQ(data.classes, (std::vector<std::string>{"1", "2"}));
  EXPECT_EQ(data.labels, (std::vector<std::int32_t>{1, 0, 1}));
  EXPECT_EQ(data.observations(), 3u * 6u);
  for (int i = 0; i < 3; ++i) {
    const auto series = static_cast<std::size_t>(i);
    std::size_t kept = 0;
    for (auto e = data.first_event[series]; e < data.first_event[series + 1]; ++e) {
      const int t = static_cast<int>(std::lround(data.times[e] * 100.0));  // 100 Hz
      EXPECT_DOUBLE_EQ(data.times[e], t / 100.0);
      for (const Observation& seen : data.observed(e))
        EXPECT_NEAR(seen.value, made_up(seen.feature, i, t), 1e-9);
      kept += data.observed(e).size();
    }
    EXPECT_EQ(kept, 6u);
  }
}

TEST(Gestures, TheSameSeedKeepsTheSameValuesAndAnotherOthers) {
  const Files files = part("TRAIN", {1, 2, 3, 4});
  expect_same(import_files(files, 5), import_files(files, 5));
  EXPECT_NE(import_files(files, 5).times, import_files(files, 6).times);
}

// Each of 60 cells is kept with probability 0.1; over 2000 gestures a cell's count has mean 200
// and standard deviation 13.4, so 5 deviations are 67.
TEST(Gestures, EveryValueIsEquallyLikelyToStay) {
  const Dataset data = import_files(part("TRAIN", std::vector<int>(2000, 1)));
  std::vector<int> counts(3 * kLength, 0);
  for (std::size_t e = 0; e < data.events(); ++e)
    for (const Observation& seen : data.observed(e))
      ++counts[static_cast<std::size_t>(3 * std::lround(data.times[e] * 100.0) + seen.feature)];
  for (const int count : counts) EXPECT_NEAR(count, 200, 67);
}

TEST(Gestures, ThreeSpellingsAndWindowsLineEndsAreTheSame) {
  const Dataset data = import_files(part("TRAIN", {1, 2}));
  expect_same(data, import_files(part("TRAIN", {1, 2}, Spelling::txt)));
  expect_same(data, import_files(part("TRAIN", {1, 2}, Spelling::ts)));
  expect_same(data, import_files(part("TRAIN", {1, 2}, Spelling::ts, "\r\n")));
  expect_same(data, import_files(part("TRAIN", {1, 2}, Spelling::tsv, "\r\n")));
}

TEST(Gestures, TrainAndTestAreMerged) {
  Files files = part("TRAIN", {1, 2});
  for (const auto& file : part("TEST", {3})) files.push_back(file);
  const Dataset data = import_files(files, 0, 1.0);
  EXPECT_EQ(data.ids, (std::vector<std::string>{"train0001", "train0002", "test0001"}));
  EXPECT_EQ(data.classes, (std::vector<std::string>{"1", "2", "3"}));
  EXPECT_EQ(data.observations(), 3u * 60u);
}

TEST(Gestures, ArchivesNeedNotBeUnpacked) {
  DownloadFolder download;
  for (const auto& file : part("TRAIN", {1, 2}))
    download.pack(file.first.substr(0, 20) + ".zip", {{"in/" + file.first, file.second}});
  ImportReport report;
  expect_same(import_files(part("TRAIN", {1, 2})), import_gestures(download.path(), report));
  expect_contains(text_of(report), "TEST files, so 3,582 of the 4,478 gestures are not there");
}

TEST(Gestures, MissingAndInfiniteValuesAreLeftOut) {
  Files files = part("TRAIN", {1});
  files[0].second = "1\tNaN\tinf\t3\n";
  files[1].second = "1\t4\t5\t6\n";
  files[2].second = "1\t7\t8\t9\n";
  const Dataset data = import_files(files, 0, 1.0);
  EXPECT_EQ(data.observations(), 7u);
}

TEST(Gestures, MissingFilesAreNamedWithTheirSource) {
  const std::string nothing = error_of([] { import_files({}); });
  expect_contains(nothing, "UWaveGestureLibrary{X,Y,Z}");
  expect_contains(nothing, "timeseriesclassification.com");
  expect_contains(nothing, "Liu et al. 2009");
  Files files = part("TRAIN", {1});
  files.pop_back();
  expect_contains(error_of([&] { import_files(files); }), "no UWaveGestureLibraryZ_TRAIN");
}

TEST(Gestures, FilesThatDoNotBelongTogetherAreRefused) {
  Files files = part("TRAIN", {1, 2});
  files[1].second = gesture_text(1, {1, 3}, Spelling::tsv);
  expect_contains(error_of([&] { import_files(files); }),
                  "gesture 2 is of class 3, but of class 2");
  files[1].second = gesture_text(1, {1}, Spelling::tsv);
  expect_contains(error_of([&] { import_files(files); }), "has 1 series of 20 values");
}

TEST(Gestures, WrongTextIsRefusedWithFileAndLine) {
  const auto message = [](const std::string& text) {
    return error_of([&] { read_ucr_file({"X_TRAIN.tsv", text}); });
  };
  expect_contains(message("1\t2\t3\n1\t2\n"), "X_TRAIN.tsv:2: has 1 values and the first series 2");
  expect_contains(message("1\t2\tthree\n"), "X_TRAIN.tsv:1: 'three' is not a number");
  expect_contains(message("one\t2\t3\n"), "the label 'one' is not a whole number");
  expect_contains(message("1.5\t2\t3\n"), "the label '1.5' is not a whole number");
  expect_contains(message("1\n"), "a label and no values");
  expect_contains(message(""), "holds no series");
  expect_contains(message("@data\n1,2,3\n"), "X_TRAIN.tsv:2: is neither");
  expect_contains(message("@problemName x\n1,2:1\n"), "before '@data'");
  expect_contains(message("@data\n1,2:3,4:1\n"), "is neither");
}

TEST(Gestures, AnImpossibleShareIsRefused) {
  for (const double share : {0.0, -0.1, 1.1, std::nan("")})
    expect_contains(error_of([&] { import_files(part("TRAIN", {1}), 0, share); }), "above 0");
}

}  // namespace
}  // namespace edict

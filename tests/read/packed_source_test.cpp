// Tables of any size by way of temporary files: what comes out is what reading them at once gives.
#include "data/read/packed_source.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "base/generator.h"
#include "data/fingerprint.h"
#include "data/packed_file.h"
#include "data/read/csv/csv.h"
#include "data/read/source.h"
#include "data/subset.h"
#include "temporary_folder.h"

namespace edict {
namespace {

constexpr std::size_t kLittle = 4096;  // of memory: a few dozen rows at a time

Dataset by_id(const Dataset& data) {
  std::vector<std::size_t> order(data.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return data.ids[a] < data.ids[b]; });
  return subset(data, order);
}

std::string csv(const Dataset& data) {
  const TemporaryFolder folder;
  write_csv(data, folder / "x.csv");
  return folder.read("x.csv");
}

class PackTable : public testing::Test {
 protected:
  // Packs the text with little memory and with plenty, and holds both against reading it at once.
  void check(const std::string& text, const ReadOptions& options = {}) {
    folder_.write("t.csv", text);
    const Dataset read = by_id(read_csv(folder_ / "t.csv", options));
    for (const std::size_t memory : {kLittle, std::size_t{1} << 28}) {
      const PackedCounts counts =
          pack_table((folder_ / "t.csv").string(), options, folder_ / "t.edict", memory);
      EXPECT_EQ(counts.series, read.size());
      EXPECT_EQ(counts.observations, read.observations());
      const Dataset packed = open_data((folder_ / "t.edict").string());
      EXPECT_EQ(fingerprint(packed), fingerprint(read)) << memory;
      EXPECT_EQ(csv(packed), csv(read)) << memory;
      EXPECT_EQ(packed.reading.categories, read.reading.categories);
      EXPECT_EQ(packed.reading.features, read.reading.features);
    }
    // No temporary file is left.
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_.path()), {}), 2);
  }
  std::string refusal(const std::string& text, std::size_t memory) {
    ReadOptions options;
    options.duplicates = "error";
    folder_.write("t.csv", text);
    try {
      pack_table((folder_ / "t.csv").string(), options, folder_ / "t.edict", memory);
    } catch (const Error& error) {
      EXPECT_FALSE(folder_.exists("t.edict"));
      return error.message(command_line_option);
    }
    return {};
  }

  TemporaryFolder folder_;
};

// Rows of 60 series in any order, some events in two rows, with labels, groups and covariates.
std::string mixed_rows(bool dates) {
  Generator rng(3, "packed");
  std::vector<std::string> rows;
  for (int series = 0; series < 60; ++series)
    for (int event = 0; event < 12; ++event) {
      const std::string id = "p" + std::to_string(series * 37 % 60);
      const std::string time =
          dates ? "2024-03-" + std::to_string(10 + event) + " 08:00" : std::to_string(event) + ".5";
      const std::string rest = ",g" + std::to_string(series * 37 % 60 % 4) + ",c" +
                               std::to_string(series * 37 % 60 % 2) + "," +
                               std::to_string(20 + series * 37 % 60) + ",";
      rows.push_back(id + "," + time + rest + std::to_string(rng.uniform()) + ",");
      rows.push_back(id + "," + time + rest + "," + (rng.uniform() < 0.5 ? "red" : "blue"));
    }
  rng.shuffle(std::span(rows));
  std::string text = "id,time,group,label,static:age,x,colour\n";
  for (const std::string& row : rows) text += row + "\n";
  return text + "empty,,g1,c1,5,,\n";
}

TEST_F(PackTable, GivesWhatReadingAtOnceGives) { check(mixed_rows(false)); }

TEST_F(PackTable, DatesAreCountedInTheUnitOfAllSeries) { check(mixed_rows(true)); }

TEST_F(PackTable, LongForm) {
  std::string text = "id,time,feature,value\n";
  Generator rng(5, "packed");
  for (int k = 0; k < 900; ++k)
    text += "s" + std::to_string(k * 7 % 45) + "," + std::to_string(k / 45) + "," +
            (k % 2 ? "pulse" : "lactate") + "," + std::to_string(rng.uniform()) + "\n";
  check(text);
}

TEST_F(PackTable, OtherSeparatorsDuplicatesAndZones) {
  std::string text = "patient;zeit;puls\n";
  for (int k = 0; k < 400; ++k)
    text += std::to_string(k % 21) + ";2024-03-01T" + (k % 3 ? "08" : "09") + ":" +
            std::to_string(10 + k % 40) + (k % 2 ? "+01:00" : "+02:00") + ";" +
            std::to_string(k % 5) + ",5\n";
  ReadOptions options;
  options.duplicates = "mean";
  check(text, options);
}

TEST_F(PackTable, WhatIsWrongIsToldWithItsLines) {
  std::string text = "id,time,x\n";
  for (int k = 0; k < 500; ++k)
    text += "s" + std::to_string(k % 50) + "," + std::to_string(k / 50) + "," +
            (k == 333 ? std::string("1e999") : std::to_string(k)) + "\n";
  text += "s7,3,99\n";  // line 502; line 159 has 157 there
  const std::string little = refusal(text, kLittle), plenty = refusal(text, std::size_t{1} << 28);
  EXPECT_EQ(little, plenty);
  EXPECT_NE(little.find("t.csv:335"), std::string::npos) << little;
  std::string only_twice = text;
  only_twice.replace(only_twice.find("1e999"), 5, "333");
  const std::string twice = refusal(only_twice, kLittle);
  EXPECT_EQ(twice, refusal(only_twice, std::size_t{1} << 28));
  EXPECT_NE(twice.find("t.csv:502"), std::string::npos) << twice;
  EXPECT_NE(twice.find("in line 159"), std::string::npos) << twice;
}

TEST_F(PackTable, ColumnsAreChosenWhenItIsPacked) {
  folder_.write("t.csv", "id,time,x,label\na,1,2,u\nb,1,3,v\n");
  pack_table((folder_ / "t.csv").string(), {}, folder_ / "t.edict", kLittle);
  ReadOptions options;
  options.features = {"x"};
  EXPECT_THROW(open_data((folder_ / "t.edict").string(), options), Error);
  options = {};
  options.label = "none";
  EXPECT_FALSE(open_data((folder_ / "t.edict").string(), options).labelled());
}

TEST_F(PackTable, TimesAreCountedAsAModelCountsThem) {
  const std::string text =
      "id,time,x\na,2024-03-01 08:00,1\na,2024-03-01 20:00,2\nb,2024-03-05 08:00,1\n";
  folder_.write("t.csv", text);
  pack_table((folder_ / "t.csv").string(), {}, folder_ / "t.edict", kLittle);
  ReadOptions days;
  days.time_unit = "d";
  days.origin = "2024-03-01";
  const Dataset trained = read_csv(folder_ / "t.csv", days);
  ReadOptions like;
  like.like = KnownReading{trained.reading, trained.time_axis.rules()};
  const Dataset packed = open_data((folder_ / "t.edict").string(), like);
  EXPECT_EQ(fingerprint(packed), fingerprint(read_csv(folder_ / "t.csv", like)));
  EXPECT_EQ(packed.times[1], 20.0 / 24);
}

}  // namespace
}  // namespace edict

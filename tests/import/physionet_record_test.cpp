// One record against a second, slower way to the same numbers.
#include "research/import/physionet_record.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <sstream>

#include "base/generator.h"
#include "import/pack.h"

namespace edict {
namespace {

struct RandomRow {
  int minute;
  std::string name;
  double value;  // eighths, so that sums are exact in any order
};

std::string text_of(const std::vector<RandomRow>& rows) {
  std::ostringstream out;
  out << "Time,Parameter,Value\n";
  for (const RandomRow& row : rows) {
    out << fmt::format("{:02}:{:02},{},{}\n", row.minute / 60, row.minute % 60, row.name,
                       row.value);
  }
  return out.str();
}

// Values of 30 to 37 are plausible for each of these; 0 and 4000 for none, -1 is missing.
const std::vector<std::string> kNames{"HR", "Temp", "MAP", "SysABP", "NIMAP", "Weight", "BUN"};

std::vector<RandomRow> random_rows(Generator& rng, std::size_t count) {
  std::vector<RandomRow> rows;
  for (std::size_t i = 0; i < count; ++i) {
    double value = 30.0 + static_cast<double>(rng.below(56)) / 8.0;
    if (rng.below(10) == 0) value = rng.below(2) == 0 ? 0.0 : 4000.0;
    if (rng.below(20) == 0) value = -1.0;
    // From minute 1: a Weight at 00:00 would be a descriptor.
    rows.push_back({1 + static_cast<int>(rng.below(120)), kNames[rng.below(kNames.size())], value});
    if (rng.below(8) == 0) rows.push_back(rows.back());
  }
  return rows;
}

TEST(PhysionetRecord, AgreesWithADirectComputation) {
  std::size_t compared = 0;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Generator rng(seed);
    const auto rows = random_rows(rng, 200);
    PhysionetCounts counts;
    const PhysionetStay stay = read_physionet_record({"7.txt", text_of(rows)}, counts);

    std::map<std::tuple<int, std::string, double>, int> distinct;
    std::size_t missing = 0, implausible = 0, repeated = 0;
    for (const RandomRow& row : rows) {
      if (row.value == -1.0) {
        ++missing;
      } else if (row.value < 30.0 || row.value > 37.0) {
        ++implausible;
      } else {
        repeated += distinct[{row.minute, row.name, row.value}]++ > 0;
      }
    }
    std::map<std::pair<int, int>, std::vector<double>> bins;
    for (const auto& [key, times] : distinct) {
      int feature = 0;
      for (const auto& parameter : physionet_parameters()) {
        if (parameter.range.name == std::get<1>(key)) break;
        feature += parameter.kept;
      }
      bins[{std::get<0>(key) / 10, feature}].push_back(std::get<2>(key));
    }
    ASSERT_EQ(stay.values.size(), bins.size());
    auto value = stay.values.begin();
    for (const auto& [key, values] : bins) {
      double sum = 0.0;
      for (const double one : values) sum += one;
      EXPECT_EQ(value->bin, key.first);
      EXPECT_EQ(value->feature, key.second);
      EXPECT_EQ(value->value, sum / static_cast<double>(values.size()));
      ++value;
      ++compared;
    }
    std::size_t removed = 0;
    for (const auto& parameter : counts.parameters) removed += parameter.implausible;
    EXPECT_EQ(removed, implausible);
    EXPECT_EQ(counts.missing, missing);
    EXPECT_EQ(counts.repeated, repeated);
    EXPECT_EQ(counts.values, rows.size());
  }
  EXPECT_GT(compared, 1000u);
}

TEST(PhysionetRecord, CountsOfPartsAddUp) {
  PhysionetCounts one, two, both;
  const std::string a = "Time,Parameter,Value\n00:00,Age,300\n01:00,HR,0\n01:00,HR,60\n02:00,X,1\n";
  const std::string b =
      "Time,Parameter,Value\n00:00,Age,-1\n01:00,HR,-1\n01:00,pH,740\n49:00,HR,60\n";
  read_physionet_record({"1.txt", a}, one);
  read_physionet_record({"2.txt", b}, two);
  read_physionet_record({"1.txt", a}, both);
  read_physionet_record({"2.txt", b}, both);
  one += two;
  EXPECT_EQ(one.values, both.values);
  EXPECT_EQ(one.missing, 1u);
  EXPECT_EQ(one.late, 1u);
  EXPECT_EQ(one.unknown, both.unknown);
  EXPECT_EQ(one.descriptors.at("Age").read, 2u);
  EXPECT_EQ(one.descriptors.at("Age").implausible, 1u);
  const auto ph = static_cast<std::size_t>(physionet_parameter("pH"));
  EXPECT_EQ(one.parameters[ph].repaired, 1u);
  EXPECT_EQ(both.parameters[ph].repaired, 1u);
}

TEST(PhysionetRecord, TheIcuTypeIsOneOfFour) {
  for (int type = 1; type <= 4; ++type) {
    PhysionetCounts counts;
    const auto stay = read_physionet_record(
        {"1.txt", "Time,Parameter,Value\n00:00,ICUType," + std::to_string(type) + "\n"}, counts);
    for (int other = 1; other <= 4; ++other)
      EXPECT_EQ(stay.statics[static_cast<std::size_t>(2 + other)], other == type ? 1.0 : 0.0);
  }
  PhysionetCounts counts;
  const auto unknown =
      read_physionet_record({"1.txt", "Time,Parameter,Value\n00:00,ICUType,5\n"}, counts);
  EXPECT_TRUE(std::isnan(unknown.statics[3]));
}

TEST(PhysionetParameters, EveryNameIsFoundAndOthersAreNot) {
  for (std::size_t i = 0; i < physionet_parameters().size(); ++i)
    EXPECT_EQ(physionet_parameter(physionet_parameters()[i].range.name), static_cast<int>(i));
  for (const char* name : {"", "hr", "HRX", "Age", "zzz"}) EXPECT_EQ(physionet_parameter(name), -1);
  for (const char* name : {"Age", "Gender", "Height", "ICUType", "Weight"})
    EXPECT_NE(physionet_descriptor(name), nullptr);
  EXPECT_EQ(physionet_descriptor("HR"), nullptr);
}

TEST(PhysionetParameters, LimitsThemselvesArePlausibleAndNoNumberIsNot) {
  for (const auto& parameter : physionet_parameters()) {
    const PlausibleRange& range = parameter.range;
    EXPECT_LT(range.low, range.high);
    EXPECT_TRUE(range.holds(range.low));
    EXPECT_TRUE(range.holds(range.high));
    EXPECT_FALSE(range.holds(std::nextafter(range.low, -1e9)));
    EXPECT_FALSE(range.holds(std::nextafter(range.high, 1e9)));
    EXPECT_FALSE(range.holds(std::nan("")));
  }
}

TEST(PhysionetParameters, OnlyTheTwoSlipsAreOnes) {
  ASSERT_NE(physionet_slip("pH", 733), nullptr);
  EXPECT_DOUBLE_EQ(physionet_slip("pH", 733)->repaired(733), 7.33);
  EXPECT_EQ(physionet_slip("pH", 7.33), nullptr);
  EXPECT_EQ(physionet_slip("pH", 95), nullptr);
  ASSERT_NE(physionet_slip("Height", 419.1), nullptr);
  EXPECT_NEAR(physionet_slip("Height", 419.1)->repaired(419.1), 165.0, 1e-9);
  EXPECT_EQ(physionet_slip("Height", 170), nullptr);
  EXPECT_EQ(physionet_slip("HR", 700), nullptr);
}

}  // namespace
}  // namespace edict

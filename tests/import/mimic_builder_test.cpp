// Rows to Dataset against a second, slower way to the same numbers.
#include "research/import/mimic/mimic_builder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "base/generator.h"
#include "import/pack.h"

namespace edict {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

const MimicPatients kNobody;

struct HourRow {
  std::int64_t stay;
  double hour;
  std::vector<double> values;
};

// Of variables without a plausible range; the last ones are rare.
std::vector<HourRow> random_rows(std::uint64_t seed, const std::vector<double>& presence) {
  Generator rng(seed);
  std::vector<HourRow> rows;
  for (std::int64_t stay = 1; stay <= 30; ++stay) {
    const auto hours = 1 + rng.below(12);
    for (std::uint64_t hour = 0; hour < hours; ++hour) {
      HourRow row{stay * 11, static_cast<double>(hour), {}};
      for (const double share : presence)
        row.values.push_back(rng.uniform() < share ? rng.normal() : kNaN);
      if (stay % 7 == 0) row.values.assign(presence.size(), kNaN);  // nothing was measured
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

TEST(MimicBuilder, AgreesWithADirectComputation) {
  const std::vector<std::string> names{"d", "b", "a", "c", "e"};
  const std::vector<double> presence{0.5, 0.02, 0.1, 0.9, 0.03};
  for (const MimicWindow window : {MimicWindow{}, MimicWindow{5.0, 3.0}}) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const auto rows = random_rows(seed, presence);
      MimicBuilder builder(names, kNobody, window, "x");
      for (const HourRow& row : rows) builder.add_row(row.stay, row.hour, row.values);
      ImportReport report;
      const Dataset data = builder.finish(report);

      std::map<std::int64_t, double> last;
      for (const HourRow& row : rows) last[row.stay] = row.hour;
      std::vector<HourRow> kept;
      for (const HourRow& row : rows)
        if (last[row.stay] + 1 >= window.shortest_stay && row.hour < window.hours)
          kept.push_back(row);
      std::map<std::string, std::size_t> columns;  // sorted by name
      for (std::size_t c = 0; c < names.size(); ++c) {
        std::size_t seen = 0;
        for (const HourRow& row : kept) seen += !std::isnan(row.values[c]);
        if (static_cast<double>(kept.size() - seen) <= 0.95 * static_cast<double>(kept.size()))
          columns[names[c]] = c;
      }
      Dataset expected;
      for (const auto& [name, c] : columns) expected.features.push_back(name);
      for (const HourRow& row : kept) {
        bool begun = false;
        std::int32_t feature = 0;
        for (const auto& [name, c] : columns) {
          if (!std::isnan(row.values[c])) {
            const std::string id = std::to_string(row.stay);
            if (expected.ids.empty() || expected.ids.back() != id) expected.add_series(id);
            if (!begun) expected.add_event(row.hour);
            begun = true;
            expected.add_observation(feature, row.values[c]);
          }
          ++feature;
        }
      }
      expect_same(data, expected);
    }
  }
}

TEST(MimicBuilder, ValuesWithoutARangeMustBeFinite) {
  MimicBuilder builder({"anything"}, kNobody, {}, "x");
  const std::vector<double> infinite{std::numeric_limits<double>::infinity()}, huge{1e300};
  builder.add_row(1, 0, infinite);
  builder.add_row(1, 1, huge);
  ImportReport report;
  const Dataset data = builder.finish(report);
  ASSERT_EQ(data.observations(), 1u);
  EXPECT_EQ(data.value[0], 1e300);
  expect_contains(text_of(report), "removed: anything: 1 of 2 values that are infinite");
}

TEST(MimicBuilder, NegativeHoursAndFractionsAreTimesLikeOthers) {
  MimicBuilder builder({"v"}, kNobody, {}, "x");
  const std::vector<double> one{1.0};
  builder.add_row(1, -2, one);
  builder.add_row(1, 0.5, one);
  ImportReport report;
  EXPECT_EQ(builder.finish(report).times, (std::vector<double>{-2, 0.5}));
}

TEST(MimicBuilder, HoursThatAreNoNumbersAreRefused) {
  MimicBuilder builder({"v"}, kNobody, {}, "some.csv");
  const std::vector<double> one{1.0};
  expect_contains(error_of([&] { builder.add_row(1, kNaN, one); }), "some.csv: hours_in of stay 1");
}

TEST(MimicBuilder, MaskedAgesBecomeNinety) {
  EXPECT_EQ(unmasked_age(300.0), 90.0);
  EXPECT_EQ(unmasked_age(310.3), 90.0);
  EXPECT_EQ(unmasked_age(89.0), 89.0);
  EXPECT_TRUE(std::isnan(unmasked_age(kNaN)));
}

}  // namespace
}  // namespace edict

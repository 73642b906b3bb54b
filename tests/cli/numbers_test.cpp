// Numbers that come back as they went in, so that what edict writes joins with the data.
#include <fmt/core.h>

#include <map>
#include <set>
#include <vector>

#include "cli/csv_rows.h"
#include "cli/tool.h"

namespace edict {
namespace {

class NumbersTest : public ToolTest {
 protected:
  // Times and values that do not survive a division and a multiplication.
  void SetUp() override {
    std::string csv = "id,time,x,y\n";
    for (int i = 0; i < 40; ++i)
      for (int e = 0; e < 8; ++e) {
        const std::string time = fmt::format("{}.{:02}", 1 + e, (13 * i + 7 * e) % 100);
        const std::string x =
            fmt::format("{}", 100.1 + ((i * 7 + e * 3) % 50) + (e == 3 ? 900 : 0));
        const std::string y = fmt::format("{}", 0.3 * ((i + e) % 7) + (e == 4 ? 77 : 0));
        csv += fmt::format("s{},{},{},{}\n", i, time, x, y);
        for (const auto& [feature, value] : {std::pair("x", x), std::pair("y", y)})
          known_.insert({fmt::format("s{},{:g},{}", i, std::stod(time), feature), value});
      }
    write("d.csv", csv);
    ASSERT_EQ(edict("train d.csv --out m --set data.time_unit=0.7" + kTiny).code, 0);
  }

  std::vector<std::string> times_at(const std::string& grid) {
    const Outcome outcome = edict("predict m d.csv --at=" + grid + " --out p.csv");
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    std::vector<std::string> times;
    for (const auto& row : rows_of(read("p.csv")))
      if (row[0] == "s0" && row[2] == "x") times.push_back(row[1]);
    return times;
  }

  std::map<std::string, std::string> known_;  // id,time,feature → value, as text
};

TEST_F(NumbersTest, ClipsJoinWithTheData) {
  ASSERT_EQ(edict("predict m d.csv --at 0:0.5:9 --out p.csv --guard edgr --clips c.csv").code, 0);
  auto rows = rows_of(read("c.csv"));
  ASSERT_GT(rows.size(), 20u);
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const auto& row = rows[i];
    const auto found = known_.find(row[0] + "," + row[1] + "," + row[2]);
    ASSERT_NE(found, known_.end()) << row[0] << " has no " << row[2] << " at " << row[1];
    EXPECT_EQ(row[3], found->second);
    EXPECT_NE(row[4], row[3]);
  }
}

TEST_F(NumbersTest, GridsAreWhatOneWouldWrite) {
  using Times = std::vector<std::string>;
  EXPECT_EQ(times_at("0:0.1:1"),
            (Times{"0", "0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7", "0.8", "0.9", "1"}));
  EXPECT_EQ(times_at("1:0.7:3.1"), (Times{"1", "1.7", "2.4", "3.1"}));
  EXPECT_EQ(times_at("1.05:1e-1:1.349"), (Times{"1.05", "1.15", "1.25"}));
  EXPECT_EQ(times_at("2:1:2"), (Times{"2"}));
  EXPECT_EQ(times_at("3,0.1,1.7"), (Times{"0.1", "1.7", "3"}));
  // More digits than can be reckoned with exactly: still the right number of times.
  EXPECT_EQ(times_at("0:0.3333333333333333333:1").size(), 4u);
  EXPECT_EQ(times_at("0:0.01:9").size(), 901u);
}

// What is asked for before the clock starts has no answer.
TEST_F(NumbersTest, ATimeBeforeTheClockIsRefused) {
  ASSERT_EQ(edict("train d.csv --out zero --set data.start=zero" + kTiny).code, 0);
  const Outcome outcome = edict("predict zero d.csv --at=-5 --out p.csv");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.err.find("before the model's clock starts at 0"), std::string::npos)
      << outcome.err;
}

}  // namespace
}  // namespace edict

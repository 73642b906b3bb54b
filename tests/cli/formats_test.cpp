// Files that an earlier version wrote (tests/cli/formats, made by its script) are read and answer
// as they did: the promise of docs/reference/stability.md for models, packed data and the columns of tables.
#include <cmath>
#include <cstring>

#include "base/files/read_file.h"
#include "cli/csv_rows.h"
#include "cli/tool.h"

namespace edict {
namespace {

// The same columns and rows; numbers to five digits, because processors round differently.
void expect_same_table(const std::string& expected, const std::string& told) {
  const Rows before = rows_of(expected), now = rows_of(told);
  ASSERT_EQ(before.size(), now.size());
  ASSERT_GT(before.size(), 1u);
  EXPECT_EQ(before.front(), now.front());
  for (std::size_t row = 1; row < before.size(); ++row) {
    ASSERT_EQ(before[row].size(), now[row].size());
    for (std::size_t k = 0; k < before[row].size(); ++k) {
      char *end = nullptr, *other = nullptr;
      const double was = std::strtod(before[row][k].c_str(), &end);
      const double is = std::strtod(now[row][k].c_str(), &other);
      if (end == before[row][k].c_str() + before[row][k].size() && *other == '\0') {
        EXPECT_NEAR(was, is, 1e-5 * std::max(1.0, std::abs(was)))
            << "row " << row << ", column " << before.front()[k];
      } else {
        EXPECT_EQ(before[row][k], now[row][k]) << "row " << row;
      }
    }
  }
}

class Formats : public ::testing::TestWithParam<std::string> {
 protected:
  void expect_answers(const std::string& model, const std::string& data, const std::string& asked,
                      const std::string& file) {
    const std::string folder = std::string(EDICT_TEST_DIR) + "/formats/" + GetParam() + "/";
    auto told =
        tool_.edict("predict " + folder + model + " " + folder + data + " " + asked + " --out -");
    ASSERT_EQ(told.code, 0) << told.err;
    if (asked == "--classes --ahead 0") {  // a column more
      for (const char* more : {",ahead,", ",0,"})
        for (std::size_t at = 0; (at = told.out.find(more, at)) != std::string::npos;)
          told.out.replace(at, std::strlen(more), ",");
    }
    expect_same_table(read_file(folder + file), told.out);
  }

  Tool tool_;
};

TEST_P(Formats, AModelAndPackedDataAnswerAsTheyDid) {
  expect_answers("single.model", "packed.edict", "--at 1,4.5,9", "single.csv");
}

TEST_P(Formats, PackedDataAreTheTableTheyWereMadeOf) {
  expect_answers("single.model", "table.csv", "--at 1,4.5,9", "single.csv");
}

TEST_P(Formats, AnEnsembleWithEverythingAnswersAsItDid) {
  expect_answers("ensemble.model", "packed.edict", "--ahead 0,2", "ensemble.csv");
  // Version 1 read classes at the last observation where nothing was said.
  expect_answers("ensemble.model", "packed.edict", "--classes --ahead 0", "classes.csv");
}

INSTANTIATE_TEST_SUITE_P(Released, Formats, ::testing::Values("1"));

}  // namespace
}  // namespace edict

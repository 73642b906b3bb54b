// `impute` gives back the caller's table: rows, order, columns and cells as they were, empty cells
// of the model's features filled.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/json/json.h"
#include "cli/csv_rows.h"
#include "cli/tool.h"

namespace edict {
namespace {

double wave(int series, int event, int feature) {
  return 80 + 10 * std::sin(0.7 * series + 0.5 * event + feature);
}

std::string decimal(double value, char point) {
  std::string text = fmt::format("{:.1f}", value);
  std::replace(text.begin(), text.end(), '.', point);
  return text;
}

class ImputeTest : public ToolTest {
 protected:
  // A hospital's export: semicolons, decimal comma, German dates, two patients taking turns, ids
  // with zeros in front, rows and cells without a value, a column of categories, one of words for
  // yes and no, and columns that are no features of the model.
  static std::string ward() {
    std::string text = "notiz;fallnummer;zeit;puls;temp;rhythmus;wach;station\n";
    for (int pair = 0; pair < 12; ++pair)
      for (int event = 0; event < 8; ++event)
        for (const int series : {2 * pair, 2 * pair + 1}) {
          const bool empty = event == 3;
          text += fmt::format(
              "{};{:05};{:02}.03.2024 {:02}:{:02};{};{};{};{};{}\n",
              event == 5 ? "\"ruhig; \"\"gut\"\"\"" : "", series, 1 + pair, 8 + event, 5 * event,
              empty || event == 6 ? (series % 2 ? "NA" : "") : decimal(wave(series, event, 0), ','),
              empty || event % 2 ? "" : decimal(wave(series, event, 1) / 2, ','),
              empty || event == 4    ? ""
              : (series + event) % 3 ? "sinus"
                                     : "AF",
              empty || event == 2 ? ""
              : event % 2         ? "ja"
                                  : "nein",
              pair % 2 ? "0A" : "007");
        }
    return text;
  }
  std::string done(const std::string& arguments) const {
    const Outcome outcome = edict(arguments);
    EXPECT_EQ(outcome.code, 0) << arguments << "\n" << outcome.err;
    return outcome.out;
  }
  void train_ward(const std::string& options = "") const {
    write("ward.csv", ward());
    done("train ward.csv --features puls,temp,rhythmus,wach --out m " + options + kFew);
  }
  static std::vector<std::vector<std::string>> cells(const std::string& csv) {
    std::vector<std::vector<std::string>> rows;
    for (auto row : rows_of(csv)) {
      std::string line;
      for (std::size_t c = 0; c < row.size(); ++c) line += (c > 0 ? "," : "") + row[c];
      std::vector<std::string> own{""};
      bool quoted = false;
      for (const char c : line) {
        quoted ^= c == '"';
        if (c == ';' && !quoted)
          own.emplace_back();
        else
          own.back() += c;
      }
      rows.push_back(std::move(own));
    }
    return rows;
  }
};

TEST_F(ImputeTest, GivesTheTableBackWithItsEmptyCellsFilled) {
  train_ward();
  const std::string told = done("impute m ward.csv --out full.csv");
  const auto before = cells(ward()), after = cells(read("full.csv"));
  ASSERT_EQ(after.size(), before.size());
  EXPECT_EQ(after[0], before[0]);
  std::size_t filled = 0;
  for (std::size_t row = 1; row < before.size(); ++row) {
    ASSERT_EQ(after[row].size(), before[row].size()) << row;
    for (std::size_t c = 0; c < before[row].size(); ++c) {
      const std::string &was = before[row][c], &is = after[row][c];
      const bool hole = c >= 3 && c <= 6 && (was.empty() || was == "NA");
      if (!hole) {
        EXPECT_EQ(is, was) << row << " " << c;
        continue;
      }
      ++filled;
      if (c == 5) {
        EXPECT_TRUE(is == "sinus" || is == "AF") << is;
      } else if (c == 6) {
        EXPECT_TRUE(is == "ja" || is == "nein") << is;
      } else {
        EXPECT_NE(is.find(','), std::string::npos) << is << ": the table has decimal commas";
        EXPECT_EQ(is.find('.'), std::string::npos) << is;
      }
    }
  }
  EXPECT_EQ(told, fmt::format("full.csv: 192 rows of 24 series, {} cells filled\n", filled));
  // What is filled is read again without a word, and has no holes.
  EXPECT_EQ(done("impute m full.csv --out again.csv"),
            "again.csv: 192 rows of 24 series, 0 cells filled\n");
  EXPECT_EQ(read("again.csv"), read("full.csv"));
}

TEST_F(ImputeTest, FillsOnlyTheNamedColumns) {
  train_ward();
  done("impute m ward.csv --features puls,rhythmus --deviations --out some.csv");
  const auto before = cells(ward()), after = cells(read("some.csv"));
  ASSERT_EQ(after.size(), before.size());
  EXPECT_EQ(after[0].back(), "puls_sd");
  for (std::size_t row = 1; row < before.size(); ++row) {
    ASSERT_EQ(after[row].size(), before[row].size() + 1);
    EXPECT_EQ(after[row][4], before[row][4]) << "temp";
    EXPECT_EQ(after[row][6], before[row][6]) << "wach";
    EXPECT_FALSE(after[row][3].empty() || after[row][5].empty());
    EXPECT_EQ(after[row].back().empty(), after[row][3] == before[row][3]);
  }
  const Outcome wrong = edict("impute m ward.csv --features pulse --out no.csv");
  EXPECT_EQ(wrong.code, 2);
  EXPECT_EQ(wrong.err, "edict: --features: no feature 'pulse'; did you mean 'puls'?\n");
  EXPECT_FALSE(exists("no.csv"));
}

TEST_F(ImputeTest, RowsBeforeTheFirstValueAreFilledAndRowsWithoutATimeAreNot) {
  train_ward();
  write("late.csv",
        "fallnummer;zeit;puls;temp\r\n"
        "9;01.03.2024 07:00;;\r\n"
        "9;;;\r\n"
        "9;01.03.2024 08:00;80;37,5\r\n"
        "10;01.03.2024 08:00;;\r\n");
  const Outcome outcome = edict("impute m late.csv --out full.csv");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto after = cells(read("full.csv"));
  ASSERT_EQ(after.size(), 5u);
  EXPECT_FALSE(after[1][2].empty() || after[1][3].empty());
  EXPECT_EQ(after[2][2] + after[2][3], "");
  EXPECT_EQ(after[3], (std::vector<std::string>{"9", "01.03.2024 08:00", "80", "37,5"}));
  EXPECT_EQ(after[4][2], after[1][2]) << "nothing is known of either";
  EXPECT_NE(outcome.err.find("note: 1 row without a time was left as it was"), std::string::npos)
      << outcome.err;
}

TEST_F(ImputeTest, LongFormIsFilledWhereAValueIsMissing) {
  std::string text = "patient,charttime,variable,value\n";
  for (int series = 0; series < 24; ++series)
    for (int event = 0; event < 8; ++event)
      for (const char* feature : {"hr", "temp"})
        text += fmt::format("p{},{},{},{}\n", series, event, feature,
                            feature[0] == 'h' && event == 3
                                ? ""
                                : decimal(wave(series, event, feature[0] == 'h'), '.'));
  write("long.csv", text);
  done("train long.csv --out m" + kFew);
  done("impute m long.csv --deviations --out full.csv");
  const Rows before = rows_of(text), after = rows_of(read("full.csv"));
  ASSERT_EQ(after.size(), before.size());
  EXPECT_EQ(after[0].back(), "value_sd");
  for (std::size_t row = 1; row < before.size(); ++row) {
    EXPECT_EQ(std::vector(after[row].begin(), after[row].begin() + 3),
              std::vector(before[row].begin(), before[row].begin() + 3));
    EXPECT_FALSE(after[row][3].empty());
    if (!before[row][3].empty()) {
      EXPECT_EQ(after[row][3], before[row][3]);
    }
    EXPECT_EQ(after[row][4].empty(), !before[row][3].empty());
  }
  // A row for each moment, on request.
  done("impute m long.csv --at events --out wide.csv");
  EXPECT_EQ(rows_of(read("wide.csv"))[0],
            (std::vector<std::string>{"patient", "charttime", "hr", "temp"}));
  EXPECT_EQ(rows_of(read("wide.csv")).size(), 1u + 24 * 8);
}

// Numbers and words that stand for "missing" are filled like empty cells: those that --missing
// names, those that stand out, and those that the model knows.
TEST_F(ImputeTest, FillsCellsThatHoldACodeForMissing) {
  const auto table = [](const char* puls, const char* temp, const char* mode) {
    std::string text = "id;time;puls;temp;mode\n";
    for (int series = 0; series < 24; ++series)
      for (int event = 0; event < 8; ++event)
        text += fmt::format("{};{};{};{};{}\n", series, event,
                            event == 3 ? puls : decimal(wave(series, event, 0), ','),
                            event == 5 ? temp : decimal(wave(series, event, 1), ','),
                            event == 6             ? mode
                            : (series + event) % 3 ? "a"
                                                   : "b");
    return text;
  };
  write("coded.csv", table("-999", "17,0", "off"));
  write("empty.csv", table("", "", ""));
  done("train coded.csv --missing 'temp=17' --missing off --missing -999 --out m" + kFew);
  // The model knows what stands for missing; a table without codes is filled alike.
  done("impute m coded.csv --out full.csv");
  done("impute m empty.csv --out also.csv");
  EXPECT_EQ(read("full.csv"), read("also.csv"));
  for (const auto& row : cells(read("full.csv"))) {
    EXPECT_NE(row[2], "-999");
    EXPECT_NE(row[3], "17,0");
    EXPECT_NE(row[4], "off");
  }
  // One row alone, its column in another case.
  write("one.csv", "id;time;PULS;temp;mode\n1;0;-999;80,5;a\n");
  done("impute m one.csv --out one-full.csv");
  EXPECT_EQ(read("one-full.csv").find("-999"), std::string::npos) << read("one-full.csv");
  // What stands out in the table itself.
  done("train empty.csv --force --out m" + kFew);
  done("impute m coded.csv --missing 'temp=17' --missing off --out full.csv");
  EXPECT_EQ(read("full.csv"), read("also.csv"));
  done("impute m coded.csv --missing 'TEMP=17' --missing off --features temp --out some.csv");
  EXPECT_NE(read("some.csv").find(";-999;"), std::string::npos) << "only temp is filled";
  EXPECT_EQ(read("some.csv").find("17,0"), std::string::npos);
}

TEST_F(ImputeTest, CodesForMissingAreFilledInLongFormAndInJson) {
  std::string text = "id,time,feature,value\n";
  for (int series = 0; series < 24; ++series)
    for (int event = 0; event < 8; ++event)
      text += fmt::format("{},{},hr,{}\n", series, event,
                          event == 3 ? "-999" : decimal(wave(series, event, 0), '.'));
  write("long.csv", text);
  done("train long.csv --out m" + kFew);
  done("impute m long.csv --out full.csv");
  EXPECT_EQ(read("full.csv").find("-999"), std::string::npos) << read("full.csv");
  done("impute m long.csv --json full.json");
  EXPECT_EQ(read("full.json").find("-999"), std::string::npos);
}

TEST_F(ImputeTest, SharesAndPipesGiveTheSameTable) {
  train_ward();
  done("impute m ward.csv --out whole.csv");
  for (const char* const k : {"1", "2", "3"})
    done(fmt::format("impute m ward.csv --shard {}/3 --out {}.csv", k, k));
  done("join 3.csv 1.csv 2.csv --out joined.csv");
  EXPECT_EQ(read("joined.csv"), read("whole.csv"));
  // Files are also read from what can be read only once.
  EXPECT_EQ(edict("impute m /dev/stdin --out piped.csv <ward.csv").code, 0);
  EXPECT_EQ(read("piped.csv"), read("whole.csv"));
}

TEST_F(ImputeTest, JsonHasTheColumnsOfTheTable) {
  train_ward();
  done("impute m ward.csv --json full.json");
  const auto json = nlohmann::json::parse(read("full.json"));
  ASSERT_EQ(json.size(), 192u);
  EXPECT_EQ(json[0].at("fallnummer"), "00000");
  EXPECT_EQ(json[0].at("zeit"), "01.03.2024 08:00");
  EXPECT_EQ(json[0].at("puls"), 80.0);
  EXPECT_EQ(json[0].at("station"), "007");
  EXPECT_TRUE(json[0].at("notiz").is_null());
  EXPECT_TRUE(json[6].at("puls").is_number());
  EXPECT_TRUE(json[6].at("rhythmus").is_string());
  EXPECT_EQ(json[10].at("notiz"), "ruhig; \"gut\"");
}

}  // namespace
}  // namespace edict

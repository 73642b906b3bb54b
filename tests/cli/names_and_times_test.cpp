// What a person types: times in the form in which edict writes them, names in another case, numbers
// in per cent, options that there are not.
#include <fmt/core.h>

#include <cmath>

#include "cli/csv_rows.h"
#include "cli/tool.h"

namespace edict {
namespace {

class NamesAndTimes : public ToolTest {
 protected:
  // 24 stays of a day each, an event every half hour from 2024-03-01 on, in seconds or parts of
  // them.
  std::string stays(long unit) const {
    std::string text = "stay_id,charttime,HR,SpO2\n";
    for (int s = 0; s < 24; ++s)
      for (int e = 0; e < 30; ++e)
        text += fmt::format("{},{},{:.1f},{:.1f}\n", 100 + s,
                            unit * (1709280000 + 86400L * s + 1800L * e),
                            80 + 10 * std::sin(0.3 * e + s), 96 + std::cos(0.2 * e + s));
    return text;
  }
  std::string done(const std::string& arguments) const {
    const Outcome outcome = edict(arguments);
    EXPECT_EQ(outcome.code, 0) << arguments << "\n" << outcome.err;
    return outcome.err;
  }
  void expect_refused(const std::string& arguments, const std::string& message) const {
    const Outcome outcome = edict(arguments);
    EXPECT_EQ(outcome.code, 2) << arguments;
    EXPECT_EQ(outcome.err, "edict: " + message + "\n");
  }
};

TEST_F(NamesAndTimes, UnixTimeGoesInAsItComesOut) {
  for (const long unit : {1L, 1000L, 1000000L, 1000000000L}) {
    write("d.csv", stays(unit));
    done("train d.csv --force --out m" + kFew);
    done("predict m d.csv --ahead 0.5,1.25 --out ahead.csv");
    const Rows ahead = rows_of(read("ahead.csv"));
    const std::string first = ahead[1][1], second = ahead[3][1];
    EXPECT_EQ(first, fmt::format("{}", unit * (1709280000 + 29 * 1800 + 1800)));
    const std::string note = done("predict m d.csv --at " + first + "," + second + " --out at.csv");
    const Rows at = rows_of(read("at.csv"));
    // Nothing was observed between the end of the stay and either time: the same answers.
    for (const std::size_t row : {1, 2, 3, 4}) {
      EXPECT_EQ(at[row][1], ahead[row][1]) << unit;
      EXPECT_EQ(at[row][3], ahead[row][4]) << unit;
    }
    // Stays that begin later have no such time.
    EXPECT_EQ(at.size(), 1 + 2 * 2u) << read("at.csv");
    EXPECT_NE(note.find("note: 23 of 24 series begin after the times of --at and have no row\n"),
              std::string::npos)
        << note;
    const long day = unit * 1709280000, hour = unit * 3600;
    done(fmt::format("predict m d.csv --at {}:{}:{} --out grid.csv", day, hour, day + 3 * hour));
    EXPECT_EQ(rows_of(read("grid.csv"))[1][1], fmt::format("{}", day));
    EXPECT_EQ(rows_of(read("grid.csv"))[3][1], fmt::format("{}", day + hour));
    // Small numbers are still hours of each stay.
    done("predict m d.csv --at 0.5 --out hours.csv");
    EXPECT_EQ(rows_of(read("hours.csv"))[3][1], fmt::format("{}", day + 24 * hour + hour / 2));
    done(fmt::format("impute m d.csv --at {} --out imputed.csv", day + hour));
    EXPECT_EQ(rows_of(read("imputed.csv"))[1][1], fmt::format("{}", day + hour));
    // What impute writes is read as the table was.
    done("impute m d.csv --out full.csv");
    EXPECT_EQ(read("full.csv"), read("d.csv"));
  }
}

TEST_F(NamesAndTimes, DatesGoInAsTheyComeOut) {
  std::string text = "id,when,x\n";
  for (int s = 0; s < 24; ++s)
    for (int e = 0; e < 8; ++e)
      text += fmt::format("{},{:02}.03.2024 {:02}:30,{:.1f}\n", s, 1 + s, 8 + e, std::sin(e + s));
  write("d.csv", text);
  done("train d.csv --out m" + kFew);
  done("impute m d.csv --at '01.03.2024 09:45' --out at.csv");
  EXPECT_EQ(rows_of(read("at.csv"))[1][1], "01.03.2024 09:45");
  EXPECT_EQ(rows_of(read("at.csv"))[0], (std::vector<std::string>{"id", "when", "x"}));
}

// 03/04/2024 is the day that it is in the table.
TEST_F(NamesAndTimes, DayAndMonthAreReadAsInTheTable) {
  const auto table = [](const char* format) {
    std::string text = "id,when,x\n";
    for (int s = 0; s < 24; ++s)
      for (int e = 0; e < 8; ++e)
        text += fmt::format("{},{},{:.1f}\n", s,
                            fmt::format(fmt::runtime(format), 1 + e + s % 8, 3), std::sin(e + s));
    return text;
  };
  const std::string at = "impute m d.csv --at 03/04/2024 --out at.csv";
  for (const auto& [format, code, day] :
       {std::tuple("{0:02}/{1:02}/2024", 0, "03/04/2024"),  // 3 April
        std::tuple("{1:02}/{0:02}/2024", 0, "03/04/2024"),  // 4 March
        std::tuple("{0:02}.{1:02}.2024", 0, "03.04.2024"), std::tuple("2024-{1:02}-{0:02}", 2, ""),
        std::tuple("2024{1:02}{0:02}", 2, "")}) {
    write("d.csv", table(format));
    done("train d.csv --force --out m" + kFew);
    const Outcome outcome = edict(at);
    EXPECT_EQ(outcome.code, code) << format << outcome.err;
    if (code == 0) {
      EXPECT_EQ(rows_of(read("at.csv"))[1][1], day);
    } else {
      EXPECT_NE(outcome.err.find("--at 03/04/2024: may have the day first or the month; write the "
                                 "year first, as 2024-03-01"),
                std::string::npos)
          << outcome.err;
    }
    const Outcome year_first = edict("predict m d.csv --at 2024-04-03 --out p.csv");
    EXPECT_EQ(year_first.code, 0) << year_first.err;
  }
  // Dates that are digits alone go in as they come out.
  done("predict m d.csv --at 20240316 --out p.csv");
  EXPECT_EQ(rows_of(read("p.csv"))[1][1], "20240316");
  write("d.csv", table("2024-{1:02}-{0:02}"));
  expect_refused("predict m d.csv --at 20240316 --out q.csv",
                 "--at: '20240316' is not a date as those of the data are; write all as 2024-03-01 "
                 "12:30");
}

TEST_F(NamesAndTimes, NamesAreFoundInAnotherCase) {
  write("d.csv", stays(1));
  done("train d.csv --out m" + kFew);
  const std::string note = done("predict m d.csv --ahead 1 --above hr=100 --out p.csv");
  EXPECT_NE(note.find("note: --above: 'hr' is taken as feature 'HR'\n"), std::string::npos) << note;
  EXPECT_EQ(rows_of(read("p.csv"))[0].back(), "P(HR>100)");
  done("predict m d.csv --ahead 1 --features spo2,HR --out p.csv");
  EXPECT_EQ(rows_of(read("p.csv"))[1][3], "SpO2");
  done("impute m d.csv --features spo2 --out p.csv");
  done("explore m d.csv --show hr --out p.html");
  // Columns of a table too.
  done("predict m d.csv --ahead 1 --out p.csv");
  std::string lower = read("d.csv");
  lower.replace(lower.find("HR,SpO2"), 7, "hr,spo2");
  write("lower.csv", lower);
  const std::string taken = done("predict m lower.csv --ahead 1 --out q.csv");
  EXPECT_NE(taken.find("'hr' as 'HR', 'spo2' as 'SpO2'"), std::string::npos) << taken;
  EXPECT_EQ(read("q.csv"), read("p.csv"));
  write("hole.csv", "stay_id,charttime,hr,spo2\n1,1709280000,80,\n");
  done("impute m hole.csv --out q.csv");
  EXPECT_TRUE(read("q.csv").starts_with("stay_id,charttime,hr,spo2\n1,1709280000,80,9"))
      << read("q.csv");
  expect_refused("predict m d.csv --ahead 1 --below hrr=3 --out no",
                 "--below: no feature 'hrr'; did you mean 'HR'?");
  expect_refused("explore m d.csv --series 1022 --out no",
                 "--series: no series '1022'; did you mean '102'?");
}

TEST_F(NamesAndTimes, PerCentsAndUnknownOptionsHaveASuggestion) {
  write("d.csv", stays(1));
  expect_refused("predict m d.csv --at 1 --level 95 --out no",
                 "--level: 95 is not between 0 and 1; did you mean 0.95?");
  expect_refused("explore m d.csv --level 99.9 --out no",
                 "--level: 99.9 is not between 0 and 1; did you mean 0.999?");
  expect_refused("predict m d.csv --at 1 --level 1 --out no",
                 "--level: 1 is not between 0.001 and 0.999999; try --help");
  expect_refused("predict m d.csv --at events --top 0 --out no",
                 "--top: '0' is not a number above 0; try --help");
  expect_refused("predict m d.csv --ahed 1 --out no",
                 "predict: no option '--ahed'; did you mean '--ahead'?");
  expect_refused("predict m d.csv more --at 1 --out no",
                 "predict: unexpected argument 'more'; leave it out, or try --help");
  expect_refused("predict m --at 1", "predict: DATA is missing; try --help");
  expect_refused("explore m d.csv", "explore: --out is missing; try --help");
  expect_refused("predict m d.csv --at", "--at needs a value; try --help");
  expect_refused("predict m d.csv --guard edg --at 1",
                 "--guard: 'edg' is not one of none, edgr, pop-mean; try --help");
  expect_refused("settings train.epoch",
                 "settings: unknown key 'train.epoch'; did you mean 'train.epochs'?");
  done("train d.csv --out m" + kFew);
  expect_refused("predict m d.csv --at 1 --quantiles 5,50 --out no",
                 "--quantiles: 5 is not between 0 and 1; did you mean 0.05?");
}

TEST_F(NamesAndTimes, OneIsSingular) {
  write("one.csv", "id,time,x\na,0,1\n");
  const Outcome info = edict("info one.csv");
  EXPECT_NE(info.out.find("1 series, 1 event (1.0 per series), 1 observation\n"), std::string::npos)
      << info.out;
  write("d.csv", stays(1));
  done("train d.csv --out m" + kFew);
  EXPECT_EQ(edict("predict m d.csv --ahead 1 --out p.csv").out,
            "p.csv: 48 rows, 24 series at 1 time after their last observation, 90 % interval\n");
  const Outcome top = edict("predict m d.csv --at events --top 1 --out -");
  EXPECT_NE(top.err.find("standard output: the 1 least expected of 1440 observations\n"),
            std::string::npos)
      << top.err;
}

}  // namespace
}  // namespace edict

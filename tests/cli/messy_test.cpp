// From an export to a picture in two commands, whatever the export looks like.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "cli/tool.h"
#include "messy_files.h"

namespace edict {
namespace {

class MessyTest : public ToolTest {
 protected:
  void put(const MessyFile& file) const { write(file.name, file.bytes); }

  // Trains with the options that the file needs, then draws without any.
  void expect_picture(const MessyFile& file) {
    put(file);
    const Outcome trained = edict("train " + file.name + " --out m " + file.options + kFew);
    ASSERT_EQ(trained.code, 0) << trained.err;
    const Outcome drawn = edict("explore m " + file.name + " --out p.html");
    ASSERT_EQ(drawn.code, 0) << drawn.err;
    EXPECT_EQ(drawn.err.find("note"), std::string::npos) << drawn.err;
    EXPECT_NE(read("p.html").find("<svg"), std::string::npos);
    EXPECT_EQ(read("p.html").find("nan"), std::string::npos);
  }
  std::string second_line(const std::string& name) const {
    const std::string text = read(name);
    const std::size_t from = text.find('\n') + 1;
    return text.substr(from, text.find('\n', from) - from);
  }
};

TEST_F(MessyTest, DatesWithZonesAndOnePatientWithoutAnId) {
  expect_picture(messy::zones());
  // Another patient is predicted with the same model, and times come out as they went in.
  put(messy::one_patient());
  const Outcome one = edict("predict m one.csv --id none --at 0,2.5 --out p.csv");
  ASSERT_EQ(one.code, 0) << one.err;
  EXPECT_TRUE(second_line("p.csv").starts_with("1,2024-04-10T08:00+01:00,heart_rate,"))
      << second_line("p.csv");
  EXPECT_NE(read("p.csv").find("\n1,2024-04-10T10:30+01:00,temp,"), std::string::npos);
  EXPECT_EQ(edict("explore m one.csv --id none --out one.html").code, 0);
  // Numbers where dates were are another kind of data.
  write("numbers.csv", "id,time,heart_rate\na,0,1\na,1,2\n");
  const Outcome numbers = edict("predict m numbers.csv --at 0 --out q.csv");
  EXPECT_EQ(numbers.code, 2);
  EXPECT_EQ(std::count(numbers.err.begin(), numbers.err.end(), '\n'), 1) << numbers.err;
  EXPECT_NE(numbers.err.find("the model was trained on dates"), std::string::npos) << numbers.err;
}

// One patient's own table: pieces of it are trained on, others judge, and answers are about the
// whole.
TEST_F(MessyTest, OnePatientAlone) {
  std::string csv = "charttime,heart_rate\n";
  for (int e = 0; e < 200; ++e)
    csv += fmt::format("2024-03-{:02} {:02}:{:02},{:.2f}\n", 1 + e / 24, e % 24, 7 * e % 60,
                       80 + 10 * std::sin(0.4 * e));
  write("alone.csv", csv);
  const Outcome trained = edict("train alone.csv --id none --out m" + kFew);
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_NE(
      trained.err.find("1 series is too few to split by series; cut into 20 pieces of 10 events"),
      std::string::npos)
      << trained.err;
  ASSERT_EQ(edict("explore m alone.csv --out p.html").code, 0);
  EXPECT_NE(read("p.html").find("<svg"), std::string::npos);
  // Test pieces, not the whole series as if it were new.
  const Outcome judged = edict("evaluate m alone.csv");
  ASSERT_EQ(judged.code, 0) << judged.err;
  EXPECT_EQ((judged.out + judged.err).find("none of them used"), std::string::npos) << judged.out;
  const Outcome ahead = edict("predict m alone.csv --ahead 2 --out p.csv");
  ASSERT_EQ(ahead.code, 0) << ahead.err;
  EXPECT_TRUE(second_line("p.csv").starts_with("1,2024-03-09 09:13,2,heart_rate,"))
      << second_line("p.csv");
}

// A date asks for one moment on every series' own clock.
TEST_F(MessyTest, AnswersAtADate) {
  put(messy::semicolons());
  ASSERT_EQ(edict("train export.csv --out m" + kFew).code, 0);
  const Outcome asked = edict("predict m export.csv --at '01.03.2024 12:00' --out p.csv");
  ASSERT_EQ(asked.code, 0) << asked.err;
  EXPECT_TRUE(second_line("p.csv").starts_with("1000,01.03.2024 12:00,puls,"))
      << second_line("p.csv");
  // The first series begins at 08:30, so it is the same as three and a half hours.
  ASSERT_EQ(edict("predict m export.csv --at 3.5 --out q.csv").code, 0);
  EXPECT_EQ(second_line("p.csv"), second_line("q.csv"));
  const Outcome wrong = edict("predict m export.csv --at 31.02.2024 --out r.csv");
  EXPECT_EQ(wrong.code, 2);
  EXPECT_EQ(std::count(wrong.err.begin(), wrong.err.end(), '\n'), 1) << wrong.err;
  EXPECT_FALSE(exists("r.csv"));
}

// Hours from each series' first event, and the same visits in Unix time, lead to the same model.
TEST_F(MessyTest, UnixTimeAndHoursLeadToTheSameModel) {
  std::string hours = "id,time,x\n", unix = hours;
  for (int s = 0; s < 24; ++s)
    for (int e = 0; e < 8; ++e) {
      const double time = 0.25 * (s % 3) + 2.5 * e, x = std::sin(0.3 * time + s);
      hours += fmt::format("p{},{},{:.4f}\n", s, time, x);
      unix += fmt::format("p{},{:.0f},{:.4f}\n", s, 1709280000 + 86400.0 * s + 3600 * time, x);
    }
  write("hours.csv", hours);
  write("unix.csv", unix);
  ASSERT_EQ(edict("train hours.csv --origin first --out h" + kFew).code, 0);
  ASSERT_EQ(edict("train unix.csv --out u" + kFew).code, 0);
  EXPECT_EQ(read("h.metrics.csv"), read("u.metrics.csv"));
}

TEST_F(MessyTest, SemicolonsAndDecimalCommas) {
  expect_picture(messy::semicolons());
  ASSERT_EQ(edict("predict m export.csv --at 0,1.5 --out p.csv").code, 0);
  EXPECT_TRUE(second_line("p.csv").starts_with("1000,01.03.2024 08:30,puls,"))
      << second_line("p.csv");
}

TEST_F(MessyTest, Latin1WithTabs) { expect_picture(messy::latin1()); }
TEST_F(MessyTest, Categories) { expect_picture(messy::categories()); }
TEST_F(MessyTest, UnixTime) { expect_picture(messy::unix_time()); }
TEST_F(MessyTest, VisitsOnDays) {
  put(messy::days());
  ASSERT_EQ(edict("train days.csv --out m --set data.time_unit=20" + kFew).code, 0);
  const Outcome drawn = edict("explore m days.csv --out p.html");
  EXPECT_EQ(drawn.code, 0) << drawn.err;
  EXPECT_NE(drawn.err.find("ignored, as the model does not know them: 'comment'"),
            std::string::npos)
      << drawn.err;
}

TEST_F(MessyTest, Duplicates) {
  put(messy::duplicates());
  const Outcome refused = edict("train duplicates.csv --duplicates error --out m" + kFew);
  EXPECT_EQ(refused.code, 2);
  EXPECT_FALSE(exists("m"));
  EXPECT_EQ(std::count(refused.err.begin(), refused.err.end(), '\n'), 22) << refused.err;
  const Outcome trained = edict("train duplicates.csv --out m" + kFew);
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_NE(trained.err.find("24 observations were given twice"), std::string::npos);
  EXPECT_EQ(edict("explore m duplicates.csv --out p.html").code, 0);
}

// Hours in training, minutes now: converted, answered in hours and written as the file counts.
TEST_F(MessyTest, AnotherUnitOfTimeIsConverted) {
  std::string hours = "pid,hours,x\n", minutes = "pid,minutes,x\n", other = "pid,weeks,x\n";
  for (int s = 0; s < 24; ++s)
    for (int e = 0; e < 8; ++e) {
      const double x = std::sin(0.3 * e + s);
      hours += fmt::format("p{},{},{:.4f}\n", s, 0.5 * e, x);
      minutes += fmt::format("p{},{},{:.4f}\n", s, 30 * e, x);
    }
  write("hours.csv", hours);
  write("minutes.csv", minutes);
  ASSERT_EQ(edict("train hours.csv --out m" + kFew).code, 0);
  ASSERT_EQ(edict("predict m hours.csv --at 1.5 --out h.csv").code, 0);
  const Outcome converted = edict("predict m minutes.csv --at 1.5 --out m.csv");
  ASSERT_EQ(converted.code, 0) << converted.err;
  EXPECT_NE(converted.err.find("'minutes' is in minutes and the model counts in hours"),
            std::string::npos)
      << converted.err;
  EXPECT_NE(converted.err.find("times to predict at are in hours"), std::string::npos)
      << converted.err;
  EXPECT_TRUE(second_line("h.csv").starts_with("p0,1.5,x,")) << second_line("h.csv");
  EXPECT_EQ(second_line("m.csv"), "p0,90" + second_line("h.csv").substr(6));
  // What a file calls a unit that the model's does not name is refused, unless it is said.
  write("plain.csv", "id,time,x\n" + hours.substr(hours.find('\n') + 1));
  ASSERT_EQ(edict("train plain.csv --out n" + kFew).code, 0);
  const Outcome refused = edict("predict n minutes.csv --at 1 --out q.csv");
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.err.find("--time minutes if both count alike"), std::string::npos)
      << refused.err;
}

// What stood for a missing value in training does so again.
TEST_F(MessyTest, CodesForMissingAreRemembered) {
  std::string csv = "id,time,x\n";
  for (int s = 0; s < 24; ++s)
    for (int e = 0; e < 8; ++e)
      csv += fmt::format("p{},{},{}\n", s, e, e == 3 ? "-999" : fmt::format("{:.3f}", 5.0 + e));
  write("data.csv", csv);
  const Outcome trained = edict("train data.csv --out m" + kFew);
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_NE(trained.err.find("-999 counts as missing: 'x' (24 cells)"), std::string::npos)
      << trained.err;
  write("new.csv", "id,time,x\na,0,5\na,1,-999\na,2,7\n");
  write("gap.csv", "id,time,x\na,0,5\na,1,\na,2,7\n");
  ASSERT_EQ(edict("predict m new.csv --at 3 --out a.csv").code, 0);
  ASSERT_EQ(edict("predict m gap.csv --at 3 --out b.csv").code, 0);
  EXPECT_EQ(read("a.csv"), read("b.csv"));
  const Outcome kept = edict("info data.csv --missing none");
  EXPECT_EQ(kept.err.find("-999"), std::string::npos) << kept.err;
  const Outcome said = edict("info data.csv --missing x=9");
  EXPECT_NE(said.err.find("9 counts as missing: 'x' (24 cells)"), std::string::npos) << said.err;
}

TEST_F(MessyTest, TwoHundredFeatures) {
  put(messy::many_features());
  ASSERT_EQ(edict("train wide.csv --out m" + kFew).code, 0);
  EXPECT_EQ(edict("predict m wide.csv --at 1 --out p.csv").code, 0);
}

TEST_F(MessyTest, ConstantColumnsAndALabelOfAnotherName) {
  put(messy::constants());
  const MessyFile file = messy::constants();
  const Outcome trained = edict("train constants.csv --out m " + file.options + kFew);
  ASSERT_EQ(trained.code, 0) << trained.err;
  // The label is known by then.
  const Outcome classified = edict("classify m constants.csv --out c");
  EXPECT_EQ(classified.code, 0) << classified.err;
  EXPECT_EQ(edict("stress c constants.csv --levels 0").code, 0);
}

TEST_F(MessyTest, InfoTellsWhatWasRecognised) {
  put(messy::semicolons());
  const Outcome info = edict("info export.csv --static geschlecht");
  EXPECT_EQ(info.code, 0) << info.err;
  EXPECT_NE(info.err.find("separated by ';', decimal comma, id is 'patient', time is 'zeit'"),
            std::string::npos)
      << info.err;
  EXPECT_NE(info.out.find("from 01.03.2024 08:30 to 24.03.2024 19:00"), std::string::npos)
      << info.out;
  EXPECT_NE(info.out.find("geschlecht=w"), std::string::npos);
}

// docs/how-to/tables.md: its commands are run as they stand, on the file that it shows the beginning of.
TEST_F(MessyTest, TheCommandsOfItsPageWork) {
  const std::string page = content(EDICT_SOURCE_DIR "/docs/how-to/tables.md");
  const MessyFile file = messy::semicolons();
  put(file);
  const std::string shown = "```csv\n" + file.bytes.substr(0, 120);
  EXPECT_NE(page.find(shown.substr(0, shown.rfind('\n'))), std::string::npos);
  int count = 0;
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("$ edict ")) continue;
    const Outcome outcome = edict(line.substr(8));
    EXPECT_EQ(outcome.code, 0) << line << "\n" << outcome.err;
    ++count;
  }
  EXPECT_EQ(count, 4);
}

}  // namespace
}  // namespace edict

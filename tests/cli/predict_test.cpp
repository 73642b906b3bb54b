// What `predict` and `impute` write, and what they refuse.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>
#include <vector>

#include "base/json/json.h"
#include "cli/tool.h"

namespace edict {
namespace {

using Row = std::map<std::string, std::string>;

// By column name; no cell of these files is quoted.
std::vector<Row> table(const std::string& csv) {
  std::vector<std::string> names;
  std::vector<Row> rows;
  std::istringstream lines(csv);
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string> cells;
    std::size_t from = 0;
    for (std::size_t to; (to = line.find(',', from)) != std::string::npos; from = to + 1)
      cells.push_back(line.substr(from, to - from));
    cells.push_back(line.substr(from));
    if (names.empty()) {
      names = cells;
      continue;
    }
    EXPECT_EQ(cells.size(), names.size()) << line;
    Row& row = rows.emplace_back();
    for (std::size_t i = 0; i < names.size(); ++i) row[names[i]] = cells[i];
  }
  return rows;
}

// One model for all of them.
class Answers : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    tool = new Tool;
    ASSERT_EQ(tool->edict("generate synthetic --out d.csv --series 60").code, 0);
    ASSERT_EQ(tool->edict("train d.csv --out m --set data.t_cut=9.4" + kTiny).code, 0);
    ASSERT_EQ(tool->edict("classify m d.csv --out clf --set classify.epochs=3").code, 0);
    for (const Row& row : table(tool->read("d.csv")))
      last[row.at("id")] = std::max(last[row.at("id")], std::stod(row.at("time")));
  }
  static void TearDownTestSuite() { delete tool; }

  static std::string done(const std::string& call) {
    const Tool::Outcome outcome = tool->edict(call);
    EXPECT_EQ(outcome.code, 0) << call << outcome.err;
    return outcome.out;
  }
  static std::vector<Row> rows(const std::string& call) {
    done(call + " --out rows.csv");
    return table(tool->read("rows.csv"));
  }
  static double number(const Row& row, const char* column) { return std::stod(row.at(column)); }

  static Tool* tool;
  static std::map<std::string, double> last;  // time of a series
};
Tool* Answers::tool = nullptr;
std::map<std::string, double> Answers::last;

// mean + scale · t(dof): everything else follows from these three.
TEST_F(Answers, FurtherAheadThanWasEvaluatedIsSaid) {
  const auto said = [](const std::string& ahead) {
    return done("predict m d.csv --ahead " + ahead + " --out ahead.csv")
               .find("were evaluated up to") != std::string::npos;
  };
  EXPECT_FALSE(said("0.1,1"));
  EXPECT_TRUE(said("1,1000"));
}

TEST_F(Answers, ColumnsAgreeWithEachOther) {
  const auto found = rows(
      "predict m d.csv --at 3,8 --level 0.8 --quantiles 0.9,0.1 --above x1=0.2 --below x1=0.2");
  ASSERT_EQ(found.size(), 60u * 2 * 3);
  for (const Row& row : found) {
    const double sd = number(row, "predictive_sd"), dof = number(row, "dof");
    // Nine digits of each.
    EXPECT_NEAR(sd, std::hypot(number(row, "aleatoric_sd"), number(row, "epistemic_sd")), 1e-7);
    EXPECT_NEAR(sd / (number(row, "scale") * std::sqrt(dof / (dof - 2))), 1, 1e-5)
        << "single precision";
    EXPECT_EQ(row.at("lower"), row.at("q0.1")) << "the ends of the 80 % interval";
    EXPECT_EQ(row.at("upper"), row.at("q0.9"));
    EXPECT_LT(number(row, "lower"), number(row, "mean"));
    if (row.at("feature") == "x1")
      EXPECT_NEAR(number(row, "P(x1>0.2)") + number(row, "P(x1<0.2)"), 1, 1e-8);
    else
      EXPECT_EQ(row.at("P(x1>0.2)"), "");
  }
}

TEST_F(Answers, AheadCountsFromEachSeriesOwnEnd) {
  const auto found = rows("predict m d.csv --ahead 0,1.5 --features x2");
  ASSERT_EQ(found.size(), 60u * 2);
  for (const Row& row : found) {
    EXPECT_EQ(row.at("feature"), "x2");
    EXPECT_NEAR(number(row, "time"), last[row.at("id")] + number(row, "ahead"), 1e-9);
  }
}

TEST_F(Answers, EventsAreTheDataBesideWhatWasExpected) {
  const auto found = rows("predict m d.csv --at events");
  std::map<std::string, std::string> data;
  for (const Row& row : table(tool->read("d.csv")))
    for (const char* x : {"x1", "x2", "x3"})
      if (!row.at(x).empty()) data[row.at("id") + "," + row.at("time") + "," + x] = row.at(x);
  ASSERT_EQ(found.size(), data.size());
  for (const Row& row : found) {
    EXPECT_EQ(row.at("observed"),
              data.at(row.at("id") + "," + row.at("time") + "," + row.at("feature")));
    const double off = number(row, "observed") - number(row, "mean");
    EXPECT_NEAR(number(row, "z"), off / number(row, "predictive_sd"),
                1e-6 * (1 + std::abs(number(row, "z"))));
    const double pit = number(row, "pit");
    EXPECT_NEAR(number(row, "tail_probability"), 2 * std::min(pit, 1 - pit), 1e-7);
  }
}

TEST_F(Answers, AnAdaptiveLevelFollowsEachSeries) {
  const auto found = rows("predict m d.csv --at events --level 0.8 --adapt 0.1");
  std::map<std::string, double> level;  // of a series' feature
  bool moved = false;
  for (const Row& row : found) {
    double& own = level.try_emplace(row.at("id") + row.at("feature"), 0.8).first->second;
    EXPECT_NEAR(number(row, "level"), std::clamp(own, 0.0, 1.0), 1e-8);
    moved |= std::abs(own - 0.8) > 0.01;
    const double observed = number(row, "observed");
    const bool held = observed >= number(row, "lower") && observed <= number(row, "upper");
    own += 0.1 * (0.8 - (held ? 1 : 0));
  }
  EXPECT_TRUE(moved);
  // Where it has not moved yet, the rows are those without it.
  EXPECT_EQ(found[0].at("lower"), rows("predict m d.csv --at events --level 0.8")[0].at("lower"));
}

TEST_F(Answers, TopAreTheLeastExpectedInOrder) {
  auto all = rows("predict m d.csv --at events");
  std::vector<double> tails;
  for (const Row& row : all) tails.push_back(number(row, "tail_probability"));
  std::sort(tails.begin(), tails.end());
  const auto top = rows("predict m d.csv --at events --top 7");
  ASSERT_EQ(top.size(), 7u);
  for (std::size_t k = 0; k < 7; ++k) EXPECT_EQ(number(top[k], "tail_probability"), tails[k]);
}

TEST_F(Answers, ThreadsAndFormatsTellTheSame) {
  for (const char* when :
       {"--at 0:0.5:12", "--ahead 0:1:5", "--at events", "--at events --top 9"}) {
    const std::string call = std::string("predict m d.csv ") + when;
    done(call + " --threads 1 --out one.csv");
    done(call + " --threads 4 --out four.csv");
    EXPECT_EQ(tool->read("one.csv"), tool->read("four.csv")) << when;
    done(call + " --out rows.json");
    done(call + " --json other.json");
    done(call + " --format json --out same");
    EXPECT_EQ(tool->read("rows.json"), tool->read("other.json"));
    EXPECT_EQ(tool->read("rows.json"), tool->read("same"));
    const auto json = nlohmann::json::parse(tool->read("rows.json"));
    const auto csv = table(tool->read("one.csv"));
    ASSERT_EQ(json.size(), csv.size());
    for (std::size_t i = 0; i < csv.size(); i += 97) {
      EXPECT_EQ(json[i]["id"], csv[i].at("id"));
      EXPECT_EQ(json[i]["mean"].get<double>(), number(csv[i], "mean"));
    }
  }
  done("impute m d.csv --threads 1 --out one.csv");
  done("impute m d.csv --threads 4 --out four.csv");
  EXPECT_EQ(tool->read("one.csv"), tool->read("four.csv"));
}

// Classes are read where the classifier was trained and is judged, unless times are given.
TEST_F(Answers, ClassesAreReadWhereTheyAreJudged) {
  const auto found = rows("predict clf d.csv --classes");
  const auto horizon = rows("predict clf d.csv --classes --at horizon");
  ASSERT_EQ(found.size(), 60u * 2);
  ASSERT_EQ(horizon.size(), found.size());
  for (std::size_t i = 0; i < found.size(); i += 2) {
    EXPECT_GE(number(found[i], "time"), last[found[i].at("id")] - 1e-9);
    EXPECT_NEAR(number(found[i], "probability") + number(found[i + 1], "probability"), 1, 1e-6);
    EXPECT_EQ(found[i].at("probability"), horizon[i].at("probability"));
  }
  EXPECT_EQ(horizon[0].count("time"), 0u);
  EXPECT_EQ(rows("predict clf d.csv --classes --ahead 0,1").size(), 60u * 4);
}

TEST_F(Answers, ImputedTablesHaveNoHolesAndKeepWhatWasThere) {
  const auto before = table(tool->read("d.csv"));
  const auto after = rows("impute m d.csv --deviations");
  ASSERT_EQ(after.size(), before.size());
  for (std::size_t i = 0; i < after.size(); ++i)
    for (const auto& [name, cell] : before[i]) {
      const std::string& filled = after[i].at(name);
      const bool feature = name[0] == 'x';
      if (!cell.empty())
        EXPECT_EQ(filled, cell) << name;
      else
        EXPECT_FALSE(filled.empty()) << name;
      if (feature) {
        EXPECT_EQ(after[i].at(name + "_sd").empty(), !cell.empty());
      }
    }
  // What was filled is data again.
  done("impute m d.csv --out full.csv");
  EXPECT_NE(done("info full.csv").find("0.0%"), std::string::npos);
  EXPECT_EQ(rows("impute m d.csv --at 0:2:10").size(), 60u * 6);
}

TEST_F(Answers, ImputeKeepsColumnsThatTheModelDoesNotKnow) {
  tool->write("extra.csv",
              "id,time,note,x2,label\nn,1,5,,0\nn,2,7.25,,0\nn,3,,0.5,0\nquiet,,,,1\n");
  const auto found = rows("impute m extra.csv");
  ASSERT_EQ(found.size(), 4u);
  EXPECT_EQ(found[0].at("note"), "5");
  EXPECT_EQ(found[1].at("note"), "7.25");
  EXPECT_EQ(found[2].at("note"), "") << "nobody knows what to expect of it";
  EXPECT_FALSE(found[0].at("x2").empty());
  EXPECT_EQ(found[2].at("x2"), "0.5");
  EXPECT_EQ(found[3].at("id"), "quiet");
  EXPECT_EQ(found[3].at("time"), "");
  EXPECT_EQ(found[3].at("label"), "1");
  EXPECT_EQ(found[0].count("x1"), 0u) << "the table has its own columns";
}

// All in one test, which trains once.
TEST_F(Answers, BadCallsAreOneLineExitCodeTwoAndWriteNothing) {
  const struct {
    const char *call, *says;
  } refused[] = {
      {"predict m d.csv --out no", "--at is missing"},
      {"predict m d.csv --at 1 --ahead 1 --out no", "give one of them"},
      {"predict m d.csv --at 1", "--out is missing"},
      {"predict m d.csv --at 1 --out no --json no2", "give one of them"},
      {"predict m d.csv --ahead=-1 --out no", "before the last observation"},
      {"predict m d.csv --ahead 1:0:2 --out no", "--ahead"},
      {"predict m d.csv --at 1 --quantiles 0.1,1 --out no", "--quantiles: '1'"},
      {"predict m d.csv --at 1 --quantiles 0.1,,0.2 --out no", "--quantiles: ''"},
      {"predict m d.csv --at 1 --level 1 --out no", "--level"},
      {"predict m d.csv --at 1 --above y1=3 --out no", "did you mean 'x1'?"},
      {"predict m d.csv --at 1 --above x1 --out no", "as --above lactate=4"},
      {"predict m d.csv --at 1 --below x1=low --out no", "as --below lactate=4"},
      {"predict m d.csv --at 1 --features x9 --out no", "no feature 'x9'"},
      {"predict m d.csv --at 1 --top 3 --out no", "--at events"},
      {"predict m d.csv --at 1 --adapt 0.1 --out no", "--at events"},
      {"predict m d.csv --at events --top 3 --adapt 0.1 --out no", "without --top"},
      {"predict m d.csv --at horizon --out no", "--classes"},
      {"predict clf d.csv --classes --at events --out no", "--at events"},
      {"predict clf d.csv --classes --above x1=2 --out no", "not for classes"},
      {"predict m d.csv --classes --out no", "no classifier"},
      {"predict m d.csv --at 1 --format xml --out no", "--format"},
      {"impute m d.csv", "--out is missing"},
      {"impute m d.csv --at 3:1:1 --out no", "--at"},
      {"impute m d.csv --out d.csv", "would write over it"},
      {"evaluate m d.csv --by colour", "--by"},
      {"evaluate m d.csv --horizons 2,x", "--horizons"},
      {"evaluate m d.csv --horizons 0,1", "above 0"},
      {"evaluate m d.csv --positive 1", "no classifier"},
      {"evaluate clf d.csv --positive 7", "there is no class '7'"},
  };
  for (const auto& [call, says] : refused) {
    SCOPED_TRACE(call);
    const Tool::Outcome outcome = tool->edict(call);
    EXPECT_EQ(outcome.code, 2);
    EXPECT_NE(outcome.err.find(says), std::string::npos) << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    EXPECT_FALSE(tool->exists("no"));
  }
}

TEST_F(Answers, EvaluateTellsBaselinesFeaturesAndHorizons) {
  const std::string text = done("evaluate m d.csv --by feature,horizon --json e.json");
  for (const char* part : {"last value", "training mean", "interpolation by feature",
                           "extrapolation by horizon", "\n  x3 ", "PIT "})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  const auto json = nlohmann::json::parse(tool->read("e.json"));
  const auto& task = json.at("breakdown").at("extrapolation");
  EXPECT_EQ(task.at("features").size(), 3u);
  EXPECT_TRUE(task.at("all").at("last_value").at("nll").is_null());
  EXPECT_TRUE(json.at("classifier").is_null());
  const std::string chosen = done("evaluate m d.csv --by horizon --horizons 0.5,2");
  EXPECT_NE(chosen.find("up to 0.5"), std::string::npos) << chosen;
}

TEST_F(Answers, EvaluateJudgesClasses) {
  const std::string text = done("evaluate clf d.csv --split all --positive 0 --json c.json");
  for (const char* part : {"AUROC", "class shares alone", "confusion", "probability of '0'"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  const auto json = nlohmann::json::parse(tool->read("c.json")).at("classifier");
  ASSERT_EQ(json.at("judged").size(), 1u);
  EXPECT_EQ(json.at("judged")[0].at("name"), "0");
  EXPECT_GT(json.at("judged")[0].at("curve").size(), 10u);
  EXPECT_EQ(json.at("result").at("series"), 60);
  done("classify m d.csv --out clf2 --set classify.epochs=1 --json k.json");
  EXPECT_EQ(nlohmann::json::parse(tool->read("k.json")).at("runs").size(), 3u);
}

// The distributions are judged all the same.
TEST_F(Answers, LabelsThatTheModelDoesNotKnowAreToldAndLeftOut) {
  tool->write("other.csv",
              "id,time,x1,x2,x3,label\nn,1,0.1,,,red\nn,2,,0.3,,red\nn,11,0.2,,,red\n");
  const std::string text = done("evaluate clf other.csv");
  EXPECT_NE(text.find("note: classes are not evaluated: series n: label 'red' is not among"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("extrapolation"), std::string::npos);
  EXPECT_EQ(tool->edict("evaluate clf other.csv --positive 1").code, 2);
}

}  // namespace
}  // namespace edict

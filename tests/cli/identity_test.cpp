// Data are known by their ids and names: where a row or a column stands changes nothing, and a
// model is judged by what it has not seen.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <vector>

#include "base/generator.h"
#include "base/json/json.h"
#include "cli/csv_rows.h"
#include "cli/tool.h"
#include "data/read/csv/csv.h"
#include "data/subset.h"
#include "model/model.h"
#include "protocol/split.h"
#include "research/import/synthetic.h"

namespace edict {
namespace {

std::string csv_of(const Rows& rows) {
  std::string text;
  for (const auto& cells : rows) text += fmt::format("{}\n", fmt::join(cells, ","));
  return text;
}

// The file in other orders, and with a hundred series that the model has never met.
void write_variants(const Tool& tool, const std::string& csv, int columns_before_features) {
  const Rows rows = rows_of(csv);
  Rows shuffled = rows;
  Generator(8).shuffle(std::span(shuffled).subspan(1));
  tool.write("shuffled.csv", csv_of(shuffled));

  Rows descending = rows;
  std::stable_sort(descending.begin() + 1, descending.end(),
                   [](const auto& a, const auto& b) { return a[0] > b[0]; });
  tool.write("descending.csv", csv_of(descending));

  Rows permuted = rows;
  for (auto& cells : permuted) std::reverse(cells.begin() + columns_before_features, cells.end());
  for (auto& cells : permuted) std::rotate(cells.begin(), cells.begin() + 1, cells.end());
  tool.write("permuted.csv", csv_of(permuted));

  Rows larger = rows;
  const Rows foreign = rows_of(csv);
  for (std::size_t r = 1, series = 0; r < foreign.size() && series <= 100; ++r) {
    series += foreign[r][0] != foreign[r - 1][0];
    if (series > 100) break;
    larger.push_back(foreign[r]);
    larger.back()[0] = "foreign-" + larger.back()[0];
    larger.back().back() = "7.5";  // whatever they hold
  }
  tool.write("larger.csv", csv_of(larger));
}

const char* const kVariants[] = {"shuffled.csv", "descending.csv", "permuted.csv", "larger.csv"};

class Identity : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    tool.emplace();
    ASSERT_EQ(tool->edict("generate synthetic --out data.csv --series 150").code, 0);
    ASSERT_EQ(tool->edict("train data.csv --out m" + kTiny).code, 0);
    write_variants(*tool, tool->read("data.csv"), 3);
  }
  static void TearDownTestSuite() { tool.reset(); }

  // Every number of an evaluation, by its path.
  static nlohmann::json evaluated(const std::string& arguments) {
    const Tool::Outcome outcome = tool->edict("evaluate m " + arguments + " --json e.json");
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    nlohmann::json json = nlohmann::json::parse(tool->read("e.json"));
    for (const char* name : {"model", "data", "split", "config", "note"}) json.erase(name);
    return json.flatten();
  }

  static inline std::optional<Tool> tool;
};

TEST_F(Identity, EvaluateGivesTheSameNumbersInAnyOrder) {
  const nlohmann::json expected = evaluated("data.csv");
  ASSERT_GT(expected.size(), 10u);
  for (const char* variant : kVariants) {
    const nlohmann::json found = evaluated(variant);
    ASSERT_EQ(found.size(), expected.size()) << variant;
    for (const auto& [path, value] : expected.items()) {
      if (!value.is_number()) continue;
      // Sums over series in another order, and columns of other neighbours: rounding.
      EXPECT_NEAR(found[path].get<double>(), value.get<double>(),
                  1e-6 * std::max(1.0, std::abs(value.get<double>())))
          << variant << path;
    }
  }
}

TEST_F(Identity, EverySplitIsWhatTheModelRecorded) {
  const Dataset data = read_csv(*tool / "data.csv");
  const Split parts = split(data, load_model(*tool / "m").config.data);
  const auto judged = [&](const std::string& arguments) {
    return tool->edict("evaluate m " + arguments).out;
  };
  const auto has = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  const std::size_t train = parts.train.size(), validation = parts.validation.size(),
                    test = parts.test.size();
  EXPECT_TRUE(judged("data.csv").starts_with(fmt::format("test split, {} series", test)));
  EXPECT_TRUE(judged("larger.csv").starts_with(fmt::format("test split, {} series", test)));
  EXPECT_TRUE(judged("data.csv --split train")
                  .starts_with(fmt::format("note: {0} of these {0} series were used in training\n"
                                           "train split, {0} series",
                                           train)));
  EXPECT_TRUE(judged("data.csv --split validation")
                  .starts_with(fmt::format("note: {0} of these {0} series were used in validation",
                                           validation)));
  EXPECT_TRUE(
      judged("larger.csv --split all")
          .starts_with(fmt::format("note: {} of these 250 series were used in training, {} in",
                                   train, validation)));
  has(judged("larger.csv --split unseen"), "unseen split, 100 series");
  const Tool::Outcome none = tool->edict("evaluate m data.csv --split unseen");
  EXPECT_EQ(none.code, 2);
  has(none.err, fmt::format("{} were trained on", train));
  has(tool->edict("info m").out, fmt::format("trained on {} series", train));
}

// External validation: of 30 new patients all are judged, not those whom a draw calls "test".
TEST_F(Identity, AFileOfNewSeriesIsJudgedWholeAndSaysSo) {
  ASSERT_EQ(tool->edict("generate synthetic --out new.csv --series 30 --seed 9").code, 0);
  std::string csv = tool->read("new.csv");
  for (std::size_t at = 0; (at = csv.find("\ns", at)) != std::string::npos; ++at) csv[at + 1] = 'n';
  tool->write("new.csv", csv);
  const Tool::Outcome outcome = tool->edict("evaluate m new.csv");
  EXPECT_TRUE(outcome.out.starts_with("30 new series, none of them used in training\n"))
      << outcome.out;
  EXPECT_NE(outcome.out.find("unseen split, 30 series"), std::string::npos) << outcome.out;
}

TEST_F(Identity, OneNewPatientIsEvaluatedAndPredicted) {
  tool->write("one.csv", "id,time,x1,x2,x3\nnew,0.5,1,,\nnew,2,,0.3,\nnew,3,1,1,1\nnew,11,0,,1\n");
  for (const char* call : {"evaluate m one.csv", "evaluate m one.csv --html one.html",
                           "predict m one.csv --at 0,5 --out one.pred"}) {
    const Tool::Outcome outcome = tool->edict(call);
    EXPECT_EQ(outcome.code, 0) << call << outcome.err;
    EXPECT_EQ(outcome.err.find("note"), std::string::npos) << outcome.err;
  }
  EXPECT_NE(tool->read("one.html").find("1 new series"), std::string::npos);
}

TEST_F(Identity, ExtraColumnsAreIgnoredAndMissingOnesNeverObserved) {
  Rows extra = rows_of(tool->read("data.csv")), missing = extra;
  for (std::size_t r = 0; r < extra.size(); ++r) {
    extra[r].insert(extra[r].begin() + 3, r == 0 ? "pulse" : "80");
    missing[r].pop_back();
  }
  tool->write("extra.csv", csv_of(extra));
  tool->write("missing.csv", csv_of(missing));
  EXPECT_EQ(evaluated("extra.csv"), evaluated("data.csv"));
  EXPECT_NE(tool->edict("evaluate m extra.csv").err.find("ignored, as the model does not know"),
            std::string::npos);
  const Tool::Outcome outcome = tool->edict("predict m missing.csv --at 4 --out p.csv");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("never observed, as the data do not have them: 'x3'"),
            std::string::npos)
      << outcome.err;
  EXPECT_NE(tool->read("p.csv").find(",x3,"), std::string::npos) << "it is still predicted";
}

TEST_F(Identity, LongFormWorksWithASubsetInAnyOrder) {
  tool->write("wide.csv", "id,time,x1,x2,x3\nn,1,,,3\nn,2,1,,\nn,4,2,,5\n");
  tool->write("long.csv", "id,time,feature,value\nn,1,x3,3\nn,4,x3,5\nn,4,x1,2\nn,2,x1,1\n");
  ASSERT_EQ(tool->edict("predict m wide.csv --at 0:1:8 --out wide.pred").code, 0);
  const Tool::Outcome outcome = tool->edict("predict m long.csv --at 0:1:8 --out long.pred");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(tool->read("long.pred"), tool->read("wide.pred"));
}

TEST_F(Identity, StandardInputIsDash) {
  const Tool::Outcome file = tool->edict("evaluate m data.csv");
  const int status = std::system(("cd '" + tool->path().string() +
                                  "' && cat data.csv | '" EDICT_TOOL "' evaluate m - > piped 2>&1")
                                     .c_str());
  EXPECT_EQ(status, 0);
  EXPECT_EQ(tool->read("piped"), file.out);
}

TEST_F(Identity, ModelsOfAnEarlierVersionAreRefusedInALine) {
  std::string old = tool->read("m");
  const std::string format = "\\\"format\\\":2";
  const std::size_t at = old.find(format);
  ASSERT_NE(at, std::string::npos);
  old[at + format.size() - 1] = '1';
  tool->write("old", old);
  const Tool::Outcome outcome = tool->edict("evaluate old data.csv");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(
      outcome.err,
      "edict: old: was written by an earlier version of edict; train it again with this one\n");
}

// A classifier may be trained on series that the model never met; they are seen from then on.
TEST_F(Identity, AClassifierRecordsItsOwnSeries) {
  ASSERT_EQ(tool->edict("generate synthetic --out more.csv --series 80 --seed 4").code, 0);
  std::string csv = tool->read("more.csv");
  for (std::size_t at = 0; (at = csv.find("\ns", at)) != std::string::npos; ++at) csv[at + 1] = 'n';
  tool->write("more.csv", csv);
  ASSERT_EQ(tool->edict("classify m more.csv --out clf --set classify.epochs=2 --fine-tune 1").code,
            0);
  const Tool::Outcome all = tool->edict("evaluate clf more.csv --split all");
  EXPECT_TRUE(all.out.starts_with("note: ")) << all.out;
  EXPECT_NE(all.out.find("series were used in training"), std::string::npos) << all.out;
  EXPECT_NE(all.out.find("fine-tuning used values after t_cut"), std::string::npos);
  EXPECT_EQ(tool->edict("evaluate clf data.csv").out.find("fine-tuning"), std::string::npos)
      << "of test series it has seen nothing";
}

// Labels by the throw of a coin, learnt by heart: the validation series are copies of training
// series, so that the epoch that remembers most is chosen. Whatever the order of the file, the test
// series are strangers: some 50 of them have an AUROC of 0.5 ± 0.08, of which three are allowed.
TEST_F(ToolTest, RandomLabelsLearntByHeartStayRandomOnTheTestSplit) {
  const Dataset drawn = generate_synthetic(250, 6);
  const Split parts = split(drawn, 0);
  std::vector<std::size_t> from(drawn.size());
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = i;
  for (std::size_t k = 0; k < parts.validation.size(); ++k)
    from[parts.validation[k]] = parts.train[k];
  Dataset data;
  data.features = drawn.features;
  data.classes = {"heads", "tails"};
  for (std::size_t i = 0; i < from.size(); ++i) {
    const std::size_t one[] = {from[i]};
    const Dataset series = subset(drawn, one);
    data.add_series(drawn.ids[i], Generator(3, "coin", from[i]).uniform() < 0.5 ? 0 : 1);
    for (std::size_t e = 0; e < series.events(); ++e) {
      data.add_event(series.times[e]);
      for (const Observation& o : series.observed(e)) data.add_observation(o.feature, o.value);
    }
  }
  write_csv(data, *this / "data.csv");
  write_variants(*this, read("data.csv"), 3);
  write("plain.toml", "");  // settings chosen for the data would not let it learn by heart
  ASSERT_EQ(edict("train data.csv --out m --model gru-d --config plain.toml"
                  " --set model.hidden=32 --set train.epochs=60"
                  " --set train.batch=16 --set train.learning_rate=0.02 --set train.seed=1")
                .code,
            0);
  const auto auroc = [&](const std::string& arguments) {
    const Outcome outcome =
        edict("stress m " + arguments + " --levels 0 --guard none --seeds 0 --json s.json");
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return nlohmann::json::parse(read("s.json"))["clean"]["auroc"].get<double>();
  };
  EXPECT_GT(auroc("data.csv --split train"), 0.9);
  const double expected = auroc("data.csv");
  EXPECT_NEAR(expected, 0.5, 0.25);
  for (const char* variant : kVariants) EXPECT_NEAR(auroc(variant), expected, 1e-6) << variant;
}

}  // namespace
}  // namespace edict

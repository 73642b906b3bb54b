// The rules of others as code: what is measured, and the page it stands on.
#include "research/benchmark.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "research/report/benchmark_page.h"
#include "temporary_folder.h"

namespace edict::study {
namespace {

BenchmarkOptions tiny(const TemporaryFolder& folder) {
  BenchmarkOptions options;
  options.out = folder.path();
  options.series = 300;  // 39 of them are judged: enough for the bounds below
  options.assignments = {"model.hidden=8", "model.head_hidden=6", "model.encoder_width=4",
                         "train.epochs=3", "train.batch=8"};
  return options;
}

double value_of(const std::vector<BenchmarkValue>& values, const std::string& metric) {
  const auto found =
      std::find_if(values.begin(), values.end(), [&](const auto& v) { return v.metric == metric; });
  EXPECT_NE(found, values.end()) << metric;
  return found == values.end() ? 0.0 : found->value;
}

TEST(Benchmark, RegretIsWhatTheModelFallsShortOfTheExactPredictor) {
  const TemporaryFolder folder;
  ThreadPool pool(1);
  const auto values = run_benchmark("ornstein-uhlenbeck", pool, tiny(folder));
  EXPECT_NEAR(value_of(values, "regret"), value_of(values, "nll") - value_of(values, "exact nll"),
              1e-9);
  // Hardly trained, it is far from exact; nothing can be ahead of it but by chance.
  EXPECT_GT(value_of(values, "regret"), 0.02);
  // The exact errors are those of a Gaussian between its measurement noise (0.05) and the
  // stationary deviation (0.36): NLL between −1.58 and 0.4.
  EXPECT_GT(value_of(values, "exact nll"), -1.6);
  EXPECT_LT(value_of(values, "exact nll"), 0.5);
  // The same command finds its model again.
  EXPECT_TRUE(folder.exists("ornstein-uhlenbeck-0.model"));
  const auto again = run_benchmark("ornstein-uhlenbeck", pool, tiny(folder));
  EXPECT_EQ(value_of(again, "nll"), value_of(values, "nll"));
}

TEST(Benchmark, SeveralSplitsGiveADeviation) {
  const TemporaryFolder folder;
  ThreadPool pool(1);
  BenchmarkOptions options = tiny(folder);
  options.assignments.push_back("train.epochs=1");
  options.seeds = {0, 1};
  for (const BenchmarkValue& value : run_benchmark("ornstein-uhlenbeck", pool, options))
    if (value.metric == "nll") {
      EXPECT_GT(value.deviation, 0.0);
    }
}

TEST(Benchmark, ASeedThatIsGivenCounts) {
  const TemporaryFolder first, second;
  ThreadPool pool(1);
  const auto nll = [&](const TemporaryFolder& folder, const std::string& seed) {
    BenchmarkOptions options = tiny(folder);
    options.assignments.insert(options.assignments.end(), {"train.epochs=1", "train.seed=" + seed});
    return value_of(run_benchmark("ornstein-uhlenbeck", pool, options), "nll");
  };
  EXPECT_NE(nll(first, "0"), nll(second, "1"));
}

TEST(Benchmark, MembersAnswerTogether) {
  const TemporaryFolder folder;
  ThreadPool pool(1);
  BenchmarkOptions options = tiny(folder);
  options.members = 2;
  const auto values = run_benchmark("ornstein-uhlenbeck", pool, options);
  EXPECT_TRUE(folder.exists("ornstein-uhlenbeck-0.model.members/2.model"));
  EXPECT_EQ(value_of(run_benchmark("ornstein-uhlenbeck", pool, options), "nll"),
            value_of(values, "nll"));
  options.members = 1;
  options.out.clear();
  EXPECT_NE(value_of(run_benchmark("ornstein-uhlenbeck", pool, options), "nll"),
            value_of(values, "nll"));
}

TEST(Benchmark, SaysWhatIsMissing) {
  ThreadPool pool(1);
  const auto refusal = [&](const std::string& task) {
    try {
      run_benchmark(task, pool, {});
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  EXPECT_EQ(refusal("forecast"),
            "forecast needs the downloads of PhysioNet 2012; give their folder with from");
  EXPECT_NE(refusal("weather").find("give one of forecast, forecast-plain"), std::string::npos);
}

TEST(PublishedField, IsThereForEveryTaskThatOthersReport) {
  const auto values = published_field();
  for (const char* task : {"forecast", "interpolation", "death"})
    EXPECT_TRUE(std::any_of(values.begin(), values.end(), [&](const auto& v) {
      return v.task == task && !v.source.empty();
    })) << task;
  EXPECT_THROW(read_benchmark_values("task,method,metric,value\nforecast,x,crps,high\n", "t.csv"),
               Error);
}

TEST(BenchmarkPage, PutsOursBesideThePublishedAndMarksTheBest) {
  std::vector<BenchmarkValue> values{{"forecast", "edict", "crps", 0.25, 0.0, ""},
                                     {"forecast", "edict", "mse", 0.29, 0.0, ""}};
  for (const BenchmarkValue& value : published_field()) values.push_back(value);
  const auto tables = report::benchmark_tables(values);
  ASSERT_EQ(tables.size(), 1u) << "tasks that were not run have no table";
  EXPECT_EQ(tables[0].rows.front().method, "edict");
  const std::string page = report::benchmark_page(tables, "about");
  EXPECT_NE(page.find("<b>0.2500</b>"), std::string::npos) << "below ProFITi's";
  EXPECT_EQ(page.find("<b>0.2900</b>"), std::string::npos) << "GraFITi's is lower";
  EXPECT_NE(page.find("<b>0.286</b>"), std::string::npos);
  values.push_back({"forecast", "edict", "ece", 0.01, 0.0, ""});
  EXPECT_EQ(report::benchmark_page(report::benchmark_tables(values), "").find("<b>0.0100</b>"),
            std::string::npos)
      << "nobody else tells it";
  const std::string text = report::benchmark_text(report::benchmark_tables(values));
  EXPECT_NE(text.find("ProFITi"), std::string::npos);
  EXPECT_NE(text.find("0.2500*"), std::string::npos) << text;
}

}  // namespace
}  // namespace edict::study

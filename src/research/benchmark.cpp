#include "research/benchmark.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "app/train/cross_validate.h"
#include "app/train/train.h"
#include "ask/distribution.h"
#include "base/error.h"
#include "base/files/atomic_file.h"
#include "base/generator.h"
#include "base/hash.h"
#include "base/json/json.h"
#include "base/threads/interrupted.h"
#include "data/subset.h"
#include "judge/calibration_metrics.h"
#include "learn/posthoc/calibrate.h"
#include "learn/posthoc/fuse.h"
#include "model/infer.h"
#include "protocol/folds.h"
#include "protocol/holdout.h"
#include "render/embedded.h"
#include "research/import/ornstein_uhlenbeck.h"
#include "research/import/physionet_field.h"

namespace edict::study {
namespace {

constexpr double kGiven = 36.0;    // hours
constexpr std::size_t kAsked = 3;  // bins after them
constexpr std::size_t kFolds = 5;
constexpr std::size_t kProcesses = 4000;
// Features with fewer values say too little of coverage: 1 % is then one deviation.
constexpr std::size_t kEnough = 1000;

using Metrics = std::map<std::string, double>;

const BenchmarkTask& task_of(const std::string& name) {
  for (const BenchmarkTask& task : benchmark_tasks())
    if (task.name == name) return task;
  std::string known;
  for (const BenchmarkTask& task : benchmark_tasks())
    known += (known.empty() ? "" : ", ") + task.name;
  throw Error(fmt::format("there is no benchmark '{}'; give one of {}", name, known));
}

Config config_of(const std::string& task, const BenchmarkOptions& options, std::int64_t seed) {
  const std::string preset = task == "forecast-plain" ? "forecast" : task;
  Config config;
  read_toml_text(std::string(embedded("presets/benchmark/" + preset + ".toml").value()),
                 "presets/benchmark/" + preset + ".toml", config);
  for (const std::string& assignment : options.assignments) assign(config, assignment);
  config.data.seed += seed;
  config.train.seed += seed;
  validate(config);
  return config;
}

Dataset data_of(const std::string& task, const BenchmarkOptions& options) {
  ImportReport report;
  if (task == "ornstein-uhlenbeck")
    return generate_ornstein_uhlenbeck(options.series > 0 ? options.series : kProcesses, 0);
  if (task == "death") return import_physionet(options.from, report);
  FieldRules rules;
  rules.quirks = task == "forecast";
  if (task == "interpolation") {
    rules.bin_minutes = 1;
    rules.descriptors = true;
    rules.farthest = std::numeric_limits<double>::infinity();
  }
  return field_physionet(options.from, rules, report);
}

// The first so many series.
Dataset shortened(Dataset data, std::size_t most) {
  if (most == 0 || data.size() <= most) return data;
  std::vector<std::size_t> first(most);
  std::iota(first.begin(), first.end(), std::size_t{0});
  return subset(data, first);
}

// Half of the events of a series, drawn by its id, are held out with all their observations.
Holdout half_of_events(const Dataset& data, std::size_t series, std::int64_t seed) {
  const std::size_t from = data.first_observation[data.first_event[series]];
  Holdout held(data.first_observation[data.first_event[series + 1]] - from, 0);
  Generator random(static_cast<std::uint64_t>(seed), "half", hash_of(data.ids[series]));
  std::vector<std::size_t> events(data.events(series));
  std::iota(events.begin(), events.end(), data.first_event[series]);
  const std::size_t asked = events.size() / 2;
  for (std::size_t k = 0; k < asked; ++k) {
    std::swap(events[k], events[k + random.below(events.size() - k)]);
    const std::size_t first = data.first_observation[events[k]] - from;
    const std::size_t last = data.first_observation[events[k] + 1] - from;
    std::fill(held.begin() + static_cast<std::ptrdiff_t>(first),
              held.begin() + static_cast<std::ptrdiff_t>(last), std::uint8_t{1});
  }
  return held;
}

// What is asked of each series of a task.
std::vector<Timeline<float>> timelines_of(const std::string& task, const Model& model,
                                          const Dataset& data,
                                          std::span<const std::size_t> series) {
  const DataSettings& settings = model.config.data;
  const bool forecast = task == "forecast" || task == "forecast-plain";
  const Dataset judged = forecast ? first_events_after(data, kGiven, kAsked) : data;
  std::vector<Timeline<float>> timelines;
  for (const std::size_t i : series)
    timelines.push_back(
        task == "interpolation"
            ? evaluation_timeline(model.protocol, judged, i, half_of_events(data, i, settings.seed))
            : evaluation_timeline(model.protocol, settings, judged, i));
  return timelines;
}

double exact_nll(const Timeline<float>& timeline) {
  ExactPredictor exact{OrnsteinUhlenbeck()};
  double sum = 0;
  for (const auto& stop : timeline.stops) {
    std::vector<double> values;
    for (std::uint32_t k = stop.first; k < stop.first + stop.count; ++k)
      values.push_back(static_cast<double>(timeline.value[k]));
    if (stop.what & Timeline<float>::kQuery)
      for (std::uint32_t k = 0; k < stop.count; ++k) {
        const auto feature = static_cast<std::size_t>(timeline.feature[stop.first + k]);
        const auto [mean, variance] = exact.expected(stop.time, feature);
        constexpr double kGaussian = std::numeric_limits<double>::infinity();
        sum -= log_density({mean, variance, 0, std::sqrt(variance), kGaussian}, values[k]);
      }
    if (stop.what & Timeline<float>::kAbsorb)
      exact.observe(stop.time, ObservationRange(timeline.feature.data() + stop.first, values.data(),
                                                stop.count));
  }
  return sum;
}

Metrics judged(const std::string& task, const Model& model, const Dataset& data,
               std::span<const std::size_t> series, ThreadPool& pool, StopFlag stop) {
  const std::vector<Timeline<float>> timelines = timelines_of(task, model, data, series);
  InferenceOptions options;
  options.marginals = InferenceOptions::Marginals::observed;
  options.stop = stop;
  // Others are asked for what comes next, or beside a predictor that knows the past alone.
  const bool both = task == "interpolation" && !model.fusion.empty();
  const std::vector<Answer> answers =
      infer_from(both ? Sides::both : Sides::past, model, timelines, pool, options);
  SeriesCalibration all;
  struct Held {
    std::size_t values = 0, held = 0;
  };
  std::vector<Held> of_feature(model.features.size());
  Held of_all;
  double exact = 0;
  for (std::size_t i = 0; i < timelines.size(); ++i) {
    each_observation(timelines[i], answers[i],
                     [&](std::size_t, std::int32_t feature, const Marginal& expected, double x) {
                       all.add(expected, x);
                       const bool held = central_level(expected, x) <= 0.9;
                       for (Held* own : {&of_all, &of_feature[static_cast<std::size_t>(feature)]}) {
                         ++own->values;
                         own->held += held;
                       }
                     });
    if (task == "ornstein-uhlenbeck") exact += exact_nll(timelines[i]);
  }
  if (all.observations == 0)
    throw Error(
        fmt::format("{}: nothing to judge in the {} series of this split", task, series.size()));
  const double values = all.observations;
  const auto coverage = [](const Held& own) {
    return static_cast<double>(own.held) / static_cast<double>(own.values);
  };
  Metrics metrics{{"values", values},
                  {"series", static_cast<double>(series.size())},
                  {"mse", all.squared_error / values},
                  {"crps", all.crps / values},
                  {"nll", all.nll / values},
                  {"ece", all.ece()},
                  {"coverage 90 %", coverage(of_all)}};
  double worst = 0;
  for (const Held& own : of_feature)
    if (own.values > kEnough) worst = std::max(worst, std::abs(coverage(own) - 0.9));
  if (worst > 0) metrics["farthest of a feature"] = worst;
  if (task == "ornstein-uhlenbeck") {
    metrics["exact nll"] = exact / values;
    metrics["regret"] = (all.nll - exact) / values;
  }
  return metrics;
}

void announce(const BenchmarkOptions& options, const std::string& stage,
              const app::TrainingRun& run) {
  if (options.on_stage) options.on_stage(stage + (run.backward ? ", from the end" : ""));
}

Metrics judged_task(const std::string& task, const Dataset& data, std::int64_t seed,
                    ThreadPool& pool, const BenchmarkOptions& options) {
  app::TrainRequest request;
  request.settings.base = config_of(task, options, seed);
  request.members = options.members;
  request.stop = options.stop;
  if (!options.out.empty()) {
    make_folder(options.out);
    request.out = options.out / fmt::format("{}-{}.model", task, seed);
    request.resume = true;
  }
  request.progress.on_epoch = options.on_epoch;
  request.progress.on_run = [&](const app::TrainingRun& run) {
    announce(
        options,
        fmt::format("{}, split {}: training {} of {}", task, seed, run.member + 1, options.members),
        run);
  };
  app::TrainPlan plan = plan_training(data, request);
  const Split parts = plan.parts;
  app::TrainedModel trained = train(std::move(plan), data, request, pool);
  if (trained.interrupted) throw Interrupted();
  Model& model = trained.model;
  if (options.on_stage) options.on_stage(fmt::format("{}, split {}: judging", task, seed));
  // By what is asked here: three bins are not the twelve hours that training is judged by.
  const Timelines validation = Timelines::of(timelines_of(task, model, data, parts.validation));
  if (model.config.train.calibrate)
    model.calibration = fit_calibration(model, validation, pool, options.stop);
  if (model.has_backward()) model.fusion = fit_fusion(model, validation, pool, options.stop);
  return judged(task, model, data, options.split == "test" ? parts.test : parts.validation, pool,
                options.stop);
}

// Which fold judges each series, so that another program can be judged by the same ones.
std::string folds_table(const Dataset& data, const DataSettings& settings) {
  const std::vector<Split> splits = cross_validation_splits(data, settings, kFolds);
  std::string text = "id,fold\n";
  for (std::size_t fold = 0; fold < splits.size(); ++fold)
    for (const std::size_t i : splits[fold].test)
      text += fmt::format("{},{}\n", data.ids[i], fold + 1);
  return text;
}

Metrics mean_of(const std::vector<Metrics>& runs, Metrics& deviation) {
  Metrics mean;
  const auto n = static_cast<double>(runs.size());
  for (const Metrics& run : runs)
    for (const auto& [name, value] : run) mean[name] += value / n;
  for (const Metrics& run : runs)
    for (const auto& [name, value] : run)
      deviation[name] += (value - mean[name]) * (value - mean[name]) / n;
  for (auto& [_, square] : deviation) square = std::sqrt(square);
  return mean;
}

}  // namespace

const std::vector<BenchmarkTask>& benchmark_tasks() {
  static const std::vector<BenchmarkTask> tasks{
      {"forecast", "PhysioNet, 36 h given, the next three hourly bins forecast", true},
      {"forecast-plain", "the same without the two quirks of the public reader", true},
      {"interpolation", "PhysioNet, half of the time points given, the others imputed", true},
      {"death", "PhysioNet, in-hospital death, five folds", true},
      {"ornstein-uhlenbeck", "two Ornstein–Uhlenbeck processes beside their exact predictor",
       false}};
  return tasks;
}

std::vector<BenchmarkValue> read_benchmark_values(const std::string& text,
                                                  const std::string& name) {
  std::vector<BenchmarkValue> values;
  for (const auto& [line, cells] : plain_rows(text)) {
    double value = 0;
    const std::string number = cells.size() > 3 ? cells[3] : "";
    const auto [stop, error] = std::from_chars(number.data(), number.data() + number.size(), value);
    if (error != std::errc() || stop != number.data() + number.size() || !std::isfinite(value))
      throw Error(
          fmt::format("{}:{}: give task,method,metric,value with a number as value", name, line));
    values.push_back({cells[0], cells[1], cells[2], value, 0.0, cells.size() > 4 ? cells[4] : ""});
  }
  return values;
}

std::vector<BenchmarkValue> published_field() {
  const std::string name = "presets/published/field.csv";
  return read_benchmark_values(std::string(embedded(name).value()), name);
}

std::vector<BenchmarkValue> run_benchmark(const std::string& task, ThreadPool& pool,
                                          const BenchmarkOptions& options) {
  if (task_of(task).needs_data && options.from.empty())
    throw Error(ErrorCode::invalid, {.problem = task + " needs the downloads of PhysioNet 2012",
                                     .remedy = "give their folder with " + option("from")});
  if (options.on_stage) options.on_stage(fmt::format("{}: reading", task));
  const Dataset data = shortened(data_of(task, options), options.series);
  std::vector<Metrics> runs;
  if (task == "death") {
    app::CrossValidateRequest folds;
    folds.config = config_of(task, options, options.seeds.front());
    folds.folds = kFolds;
    folds.members = options.members;
    folds.stop = options.stop;
    folds.progress.on_epoch = options.on_epoch;
    if (!options.out.empty()) {
      folds.out = options.out / "death";
      folds.resume = true;
      make_folder(folds.out);
      write_atomically(folds.out / "folds.csv", folds_table(data, folds.config.data));
    }
    folds.progress.on_run = [&](const app::TrainingRun& run) {
      announce(options, fmt::format("death: fold {}", run.fold + 1), run);
    };
    const app::CrossValidation result = cross_validate(data, folds, pool);
    if (result.interrupted) throw Interrupted();
    for (const app::FoldResult& fold : result.folds)
      if (fold.classification)
        runs.push_back({{"series", static_cast<double>(fold.judged)},
                        {"auroc", fold.classification->auroc.value},
                        {"auprc", fold.classification->average_precision.value},
                        {"log loss", fold.classification->log_loss}});
  } else {
    for (const std::int64_t seed : options.seeds)
      runs.push_back(judged_task(task, data, seed, pool, options));
  }
  Metrics deviation;
  std::vector<BenchmarkValue> values;
  for (const auto& [metric, mean] : mean_of(runs, deviation))
    values.push_back({task, "edict", metric, mean, deviation[metric], ""});
  return values;
}

nlohmann::json to_json(const BenchmarkValue& value) {
  return {{"task", value.task},   {"method", value.method},       {"metric", value.metric},
          {"value", value.value}, {"deviation", value.deviation}, {"source", value.source}};
}

}  // namespace edict::study

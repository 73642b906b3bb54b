// An evaluation adds series up as they come: the result is that of keeping each, and its memory is
// that of some of them.
#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <vector>

#include "allocation_count.h"
#include "data/moments.h"
#include "engine/small_model.h"
#include "judge/detailed_evaluation.h"

namespace edict {
namespace {

// Two members with correlations, so that there is everything to add up. Blocks of 128 series.
Model ensemble_with_correlations() {
  std::vector<Model> members;
  for (const std::int64_t seed : {1, 2}) {
    Config config = small_synthetic_config();
    config.model.step = 0.5;
    config.train.seed = seed;
    config.train.chunk = 1;
    members.push_back(untrained_model(small_synthetic(), config));
  }
  Model model = ensemble(std::move(members));
  model.calibration.features.resize(3);
  for (FeatureCalibration& own : model.calibration.features) own.dof = 5;
  Matrix<double> r(3, 3);
  r << 1, 0.5, 0.2, 0.5, 1, 0, 0.2, 0, 1;
  model.calibration.correlations = Correlations(r);
  return model;
}

// The mean by the order of the series, and the deviation around it.
template <class Value>
Moments kept(const std::vector<DetailedEvaluation>& alone, const Value& value) {
  return moments_of(1, [&](auto visit) {
    for (const DetailedEvaluation& own : alone)
      if (const std::optional<double> x = value(own)) visit(std::size_t{0}, *x);
  })[0];
}

using Task = std::optional<CalibrationResult> Evaluation::*;

TEST(AddingUp, IsWhatKeepingEverySeriesTells) {
  const Model model = ensemble_with_correlations();
  const Dataset& data = small_synthetic();
  ThreadPool pool(3);
  const std::vector<std::size_t> all = every_series(data);
  const DetailedEvaluation whole = evaluate_in_detail(model, data, all, pool);
  std::vector<DetailedEvaluation> alone;
  for (const std::size_t i : all)
    alone.push_back(evaluate_in_detail(model, data, {&i, 1}, pool, {}, {1}));
  for (const Task task : {&Evaluation::interpolation, &Evaluation::informed_interpolation,
                          &Evaluation::extrapolation}) {
    const CalibrationResult& result = *(whole.evaluation.*task);
    const auto check = [&](const MeanStd& found, auto metric) {
      const Moments expected = kept(alone, [&](const DetailedEvaluation& own) {
        const auto& r = own.evaluation.*task;
        return r ? std::optional<double>(metric(*r)) : std::nullopt;
      });
      EXPECT_EQ(found.mean, expected.mean);
      EXPECT_NEAR(found.std, expected.std, 1e-14 * expected.std);
      EXPECT_EQ(result.series, expected.count);
    };
    check(result.mse, [](const CalibrationResult& r) { return r.mse.mean; });
    check(result.nll, [](const CalibrationResult& r) { return r.nll.mean; });
    check(result.crps, [](const CalibrationResult& r) { return r.crps.mean; });
    for (std::size_t k = 0; k < kLevels; ++k)
      check(result.coverage[k], [&](const CalibrationResult& r) { return r.coverage[k].mean; });
    for (std::size_t k = 0; k < kWidths; ++k)
      check(result.width[k], [&](const CalibrationResult& r) { return r.width[k].mean; });
    EXPECT_EQ(result.series + result.empty_series, all.size());
  }
  const auto mean_of = [&](auto value) {
    double sum = 0, count = 0;
    for (const DetailedEvaluation& own : alone)
      if (const std::optional<double> x = value(own)) sum += *x, count += 1;
    return sum / count;
  };
  EXPECT_EQ(whole.joint->interpolation->together_nll,
            mean_of([](const DetailedEvaluation& own) -> std::optional<double> {
              if (!own.joint->interpolation) return {};
              return own.joint->interpolation->together_nll;
            }));
  EXPECT_EQ(whole.members->extrapolation->mixture_nll,
            mean_of([](const DetailedEvaluation& own) -> std::optional<double> {
              if (!own.members->extrapolation) return {};
              return own.members->extrapolation->mixture_nll;
            }));
}

TEST(AddingUp, TakesNoMoreMemoryForTenTimesTheSeries) {
  const Model model = ensemble_with_correlations();
  const Dataset& data = small_synthetic();
  ThreadPool pool(1);
  const auto peak = [&](std::size_t count) {
    std::vector<std::size_t> series;
    for (std::size_t i = 0; i < count; ++i) series.push_back(i % data.size());
    begin_peak();
    evaluate_in_detail(model, data, series, pool);
    return static_cast<double>(peak_bytes());
  };
  peak(1);  // what is computed once a program
  const double some = peak(600), many = peak(6000);
  EXPECT_GT(some, 1e5) << "timelines and answers of 128 series";
  EXPECT_LT(many, 1.02 * some);
}

}  // namespace
}  // namespace edict

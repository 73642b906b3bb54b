// What the page of `edict explore` holds, read back from its bytes and held against predict.
#include "render/explore/explore_page.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "ask/classification.h"
#include "ask/distribution.h"
#include "ask/trajectory.h"
#include "engine/small_model.h"
#include "math/student_t.h"
#include "render/small_study.h"
#include "render/unpacked_page.h"

namespace edict::report {
namespace {

// 40 series with a random classifier: the page does not ask how good a model is.
class Explored : public testing::Test {
 protected:
  Explored() : data(generate_synthetic(40, 3)) {
    const Config config = small_synthetic_config();
    model = Model::create(config, data, split(data, config.data), /*with_classifier=*/true);
  }

  ExplorePage made(const ExploreOptions& options = {}, std::size_t threads = 2) {
    ThreadPool pool(threads);
    return explore_page(model, data, every_series(data), pool, options);
  }

  // What predict says of a series at some times.
  Trajectory predicted(std::size_t series, std::vector<double> times,
                       double absorb_until = std::numeric_limits<double>::infinity(),
                       const Guard& guard = {}) {
    PredictRequest request;
    request.times = std::move(times);
    request.series = {series};
    request.guard = guard;
    request.absorb_until = absorb_until;
    ThreadPool pool(1);
    Trajectory found;
    predict(model, data, request, pool, [&](const Trajectory& t) { found = t; });
    return found;
  }

  std::vector<double> times_of(std::size_t series) const {
    return {data.times.begin() + static_cast<std::ptrdiff_t>(data.first_event[series]),
            data.times.begin() + static_cast<std::ptrdiff_t>(data.first_event[series + 1])};
  }

  Dataset data;
  Model model;
};

double deviation(const Marginal& m) { return std::sqrt(m.aleatoric + m.epistemic); }

TEST_F(Explored, ObservationsComeBackAsTheyAreInTheData) {
  const UnpackedPage page(made().html);
  ASSERT_EQ(page.index["ids"].size(), data.size());
  for (std::size_t i = 0; i < data.size(); ++i) {
    const UnpackedSeries series = page.series(i);
    EXPECT_EQ(series.times, times_of(i));
    std::size_t found = 0;
    for (const UnpackedFeature& feature : series.features)
      for (std::size_t k = 0; k < feature.value.size(); ++k, ++found) {
        bool same = false;
        for (const Observation& o : data.observed(data.first_event[i] + feature.event[k]))
          same |=
              static_cast<std::size_t>(o.feature) == feature.feature && o.value == feature.value[k];
        EXPECT_TRUE(same) << data.ids[i];
      }
    EXPECT_EQ(found, page.index["observations"][i].get<std::size_t>());
  }
}

TEST_F(Explored, ExpectationsOfObservationsAreThoseOfPredictJustBeforeThem) {
  const UnpackedPage page(made().html);
  const double cut = model.protocol.t_cut;
  for (const std::size_t i : {std::size_t{0}, std::size_t{7}, std::size_t{39}}) {
    const UnpackedSeries series = page.series(i);
    const Trajectory given = predicted(i, times_of(i)), forecast = predicted(i, times_of(i), cut);
    for (const UnpackedFeature& feature : series.features) {
      const std::size_t count = feature.value.size(), later = feature.forecast.z.size();
      for (std::size_t k = 0; k < count; ++k) {
        const Marginal& m = given.at(feature.event[k], feature.feature);
        // Half a step of what is stored.
        EXPECT_NEAR(feature.given.z[k], (feature.value[k] - m.mean) / deviation(m), 0.51 / kZSteps);
        EXPECT_NEAR(feature.given.deviation[k] / deviation(m), 1.0, 0.4 / kLogSteps);
        EXPECT_NEAR(feature.given.share[k], m.aleatoric / (m.aleatoric + m.epistemic),
                    0.51 / kShareSteps);
        EXPECT_EQ(series.times[feature.event[k]] >= cut, k + later >= count);
        if (k + later < count) continue;
        const Marginal& f = forecast.at(feature.event[k], feature.feature);
        EXPECT_NEAR(feature.forecast.z[k + later - count],
                    (feature.value[k] - f.mean) / deviation(f), 0.51 / kZSteps);
      }
    }
  }
}

// At the places that were kept only rounding is left.
// Also of values in a unit far beyond single precision.
TEST_F(Explored, BandsAreThoseOfPredict) {
  for (const double unit : {1.0, 1e90}) {
    std::ranges::fill(model.protocol.standardisation.scale, unit);
    ExploreOptions options;
    options.request.level = 0.8;
    const UnpackedPage page(made(options).html);
    std::size_t forecasts = 0;
    for (const std::size_t i : {std::size_t{1}, std::size_t{20}}) {
      const UnpackedSeries series = page.series(i);
      for (const bool later : {false, true})
        for (const UnpackedFeature& feature : series.features) {
          const UnpackedBand& band = later ? feature.forecast_band : feature.given_band;
          forecasts += later ? band.at.size() : 0;
          for (std::size_t k = 0; k < band.at.size(); ++k) {
            // Rounding moves a time by less than a millionth of the range, which may lead across an
            // event: only places away from events are compared.
            const double t = series.grid[static_cast<std::size_t>(band.at[k])];
            const auto near = [&](double event) { return std::abs(event - t) < 1e-4; };
            if (std::any_of(series.times.begin(), series.times.end(), near)) continue;
            const Trajectory at = predicted(
                i, {t}, later ? model.protocol.t_cut : std::numeric_limits<double>::infinity());
            const Marginal& m = at.at(0, feature.feature);
            const double step = (band.high - band.low) / kBandSteps;
            EXPECT_NEAR(band.mean[k], m.mean, step);
            EXPECT_NEAR(band.half[k], half_width(m, 0.8), step);
            EXPECT_NEAR(band.deviation[k], deviation(m), step + 0.003 * deviation(m));
            EXPECT_NEAR(band.share[k], m.aleatoric / (m.aleatoric + m.epistemic),
                        1.0 / kShareSteps);
          }
        }
    }
    EXPECT_GT(forecasts, 0u);
  }
}

TEST_F(Explored, ClassProbabilitiesAreThoseOfTheClassifier) {
  const UnpackedPage page(made().html);
  ThreadPool pool(1);
  const std::size_t one = 5;
  const UnpackedSeries series = page.series(one);
  ASSERT_EQ(series.given_probability.size(), 2u);
  const UnpackedBand& curve = series.given_probability[1];
  const std::vector<double> times{series.grid[static_cast<std::size_t>(curve.at.back())]};
  const auto over_time =
      class_probabilities_over_time(model, data, std::span(&one, 1), times, pool);
  EXPECT_NEAR(curve.mean.back(), over_time[0].row(0)[1], 2e-3);
  // The list tells the probability with everything observed.
  const ClassProbabilities end = class_probabilities(model, data, std::span(&one, 1), pool);
  EXPECT_NEAR(page.index["probability"][1][one].get<double>(), end.row(0)[1], 1e-4);
  // It is that of a moment, which the list names; and the chart ends there.
  const double moment = model.protocol.class_time(data, one);
  EXPECT_EQ(page.index["classTime"][one].get<double>(), moment);
  EXPECT_NEAR(times[0], moment, 1e-4 * moment);
  EXPECT_NEAR(curve.mean.back(), end.row(0)[1], 2e-3);
}

TEST_F(Explored, TheGuardsClipsAreShownRawAndUsed) {
  ExploreOptions options;
  options.request.guard = {Guard::Kind::edgr, 1.0};
  const UnpackedPage page(made(options).html);
  const Trajectory trajectory =
      predicted(2, {1.0}, std::numeric_limits<double>::infinity(), options.request.guard);
  ASSERT_GT(trajectory.clips.size(), 0u);
  std::size_t found = 0;
  const UnpackedSeries series = page.series(2);
  for (const UnpackedFeature& feature : series.features)
    for (const auto& [place, used] : feature.used) {
      const auto clip = std::find_if(
          trajectory.clips.begin(), trajectory.clips.end(), [&, at = place](const Clip& c) {
            return c.feature == feature.feature && c.time == series.times[feature.event[at]];
          });
      ASSERT_NE(clip, trajectory.clips.end());
      EXPECT_EQ(feature.value[place], clip->raw);
      EXPECT_EQ(used, clip->used);
      ++found;
    }
  EXPECT_EQ(found, trajectory.clips.size());
  EXPECT_EQ(page.meta["guard"]["kind"], "edgr");
}

// Synthetic has three features: the 100 least expected of all and the 20 of each.
TEST_F(Explored, TheTableHoldsTheLeastExpectedObservationsOfAllAndOfEachFeature) {
  const UnpackedPage page(made().html);
  std::vector<double> all;
  std::vector<std::vector<double>> of(3);
  for (std::size_t i = 0; i < data.size(); ++i) {
    const Trajectory given = predicted(i, times_of(i));
    for (std::size_t e = 0; e < data.events(i); ++e)
      for (const Observation& o : data.observed(data.first_event[i] + e)) {
        const auto j = static_cast<std::size_t>(o.feature);
        const Marginal& m = given.at(e, j);
        const double tail = 2 * student_t_cdf(-std::abs(o.value - m.mean) / m.scale, m.dof);
        all.push_back(-std::log10(tail));
        of[j].push_back(-std::log10(tail));
      }
  }
  const auto& rows = page.index["surprising"];
  std::vector<std::vector<double>> listed(3);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const double surprise = rows[r]["surprise"];
    if (r > 0) {
      EXPECT_LE(surprise, rows[r - 1]["surprise"].get<double>());
    }
    listed[rows[r]["feature"].get<std::size_t>()].push_back(surprise);
    const UnpackedSeries series = page.series(rows[r]["series"].get<std::size_t>());
    EXPECT_EQ(rows[r]["time"], series.times.at(rows[r]["event"].get<std::size_t>()));
  }
  // States are those of predict to rounding in single precision.
  std::sort(all.rbegin(), all.rend());
  ASSERT_GE(rows.size(), 100u);
  for (std::size_t r = 0; r < 100; ++r)
    EXPECT_NEAR(rows[r]["surprise"].get<double>(), all[r], 1e-3 * all[r]);
  for (std::size_t j = 0; j < 3; ++j) {
    std::sort(of[j].rbegin(), of[j].rend());
    ASSERT_GE(listed[j].size(), 20u);
    for (std::size_t r = 0; r < 20; ++r) EXPECT_NEAR(listed[j][r], of[j][r], 1e-3 * of[j][r]);
  }
}

// The slope of the distribution function is the density.
TEST_F(Explored, TheLogScoreIsMinusTheLogOfTheDensity) {
  const UnpackedPage page(made().html);
  const auto& row = page.index["surprising"][0];
  const std::size_t i = row["series"];
  const Trajectory given = predicted(i, times_of(i));
  const Marginal& m = given.at(row["event"], row["feature"]);
  const double z = (row["value"].get<double>() - m.mean) / m.scale, step = 1e-4;
  const double density =
      (student_t_cdf(z + step, m.dof) - student_t_cdf(z - step, m.dof)) / (2 * step * m.scale);
  EXPECT_NEAR(row["logScore"].get<double>(), -std::log(density), 1e-3);
}

TEST_F(Explored, DatesAreWrittenAsTheDataWriteThem) {
  data.time_axis.kind = TimeKind::date;
  data.time_axis.unit = TimeUnit::hour;
  data.time_axis.epoch = 1709294400e6;  // 2024-03-01 12:00
  data.time_axis.style.clock = true;
  const UnpackedPage page(made().html);
  EXPECT_EQ(page.meta["calendar"], 3600e6);
  const UnpackedSeries series = page.series(3);
  EXPECT_EQ(series.origin, 1709294400e6);
  ASSERT_EQ(series.written.size(), series.times.size());
  for (std::size_t e = 0; e < series.times.size(); ++e)
    EXPECT_EQ(series.written[e], written_time(data, 3, series.times[e]));
  EXPECT_EQ(page.index["surprising"][0]["written"].get<std::string>().rfind("2024-03-0", 0), 0u);
}

TEST_F(Explored, EverySeriesTellsWhetherItWasTrainedOn) {
  const UnpackedPage page(made().html);
  for (std::size_t i = 0; i < data.size(); ++i)
    EXPECT_EQ(page.index["part"][i].get<int>(), static_cast<int>(model.seen.part_of(data.ids[i])));
}

TEST_F(Explored, TheSameBytesForEveryNumberOfThreads) {
  EXPECT_EQ(made({}, 1).html, made({}, 4).html);
}

TEST_F(Explored, OnlyTheFeaturesAskedFor) {
  ExploreOptions options;
  options.request.features = {2};
  const UnpackedPage page(made(options).html);
  for (std::size_t i = 0; i < data.size(); ++i) {
    ASSERT_EQ(page.series(i).features.size(), 1u);
    EXPECT_EQ(page.series(i).features[0].feature, 2u);
  }
  for (const auto& row : page.index["surprising"]) EXPECT_EQ(row["feature"], 2);
}

// A series without events, one event, and one that was observed only after the cut.
TEST_F(Explored, OddSeriesAreShownToo) {
  Dataset odd = data;
  odd.add_series("nothing");
  odd.add_series("once");
  odd.add_event(2.0);
  odd.add_observation(1, 0.5);
  odd.add_series("late");
  odd.add_event(11.0);
  odd.add_observation(0, 0.25);
  data = odd;
  const UnpackedPage page(made().html);
  EXPECT_TRUE(page.series(40).features.empty());
  EXPECT_EQ(page.series(41).features[0].value, std::vector<double>{0.5});
  EXPECT_EQ(page.series(42).features[0].forecast.z.size(), 1u);
}

// Far from 0, and where a series has one event and no cut.
TEST_F(Explored, TimesAreDrawnFromWhereTheClockStarts) {
  constexpr double kFar = 1e6;
  for (double& time : data.times.edit()) time += kFar;
  data.add_series("once");
  data.add_event(kFar + 2);
  data.add_observation(1, 0.5);
  for (const bool own_clocks : {true, false}) {
    Config config = small_synthetic_config();
    config.data.start = own_clocks ? ClockStart::first : ClockStart::origin;
    config.data.t_cut = own_clocks ? 1e30 : kFar + 9;
    model = Model::create(config, data, split(data, config.data));
    const UnpackedPage page(made().html);
    for (std::size_t i = 0; i < data.size(); ++i) {
      EXPECT_GE(page.series(i).grid.front(), kFar - 1) << data.ids[i];
      EXPECT_LE(page.series(i).grid.back(), kFar + 60) << data.ids[i];
    }
  }
}

TEST_F(Explored, AModelWithoutADistributionShowsObservationsAndProbabilities) {
  Config config = small_synthetic_config();
  config.model.kind = "gru-d";
  model = Model::create(config, data, split(data, config.data), true);
  const UnpackedPage page(made().html);
  EXPECT_FALSE(page.meta["distribution"].get<bool>());
  const UnpackedSeries series = page.series(0);
  EXPECT_FALSE(series.features.empty());
  EXPECT_TRUE(series.features[0].given.z.empty());
  ASSERT_EQ(series.given_probability.size(), 2u);
  EXPECT_NEAR(series.given_probability[0].mean[0] + series.given_probability[1].mean[0], 1.0, 2e-3);
  // The chart ends with the probability that the list has.
  for (const std::size_t c : {0, 1})
    EXPECT_NEAR(series.given_probability[c].mean.back(),
                page.index["probability"][c][0].get<double>(), 2e-3);
}

TEST_F(Explored, NamesThatLookLikeMarkupStayText) {
  data.ids[0] = kHostile;
  data.classes[0] = kHostile;
  model.features[0] = data.features[0] = kHostile;
  model.classes[0] = kHostile;
  ExploreOptions options;
  options.data_name = kHostile;
  const std::string html = made(options).html;
  EXPECT_EQ(html.find(kHostile), std::string::npos);
  EXPECT_EQ(html.find("alert(1)</script>"), std::string::npos);
  const UnpackedPage page(html);
  EXPECT_EQ(page.index["ids"][0], kHostile);
  EXPECT_EQ(page.meta["features"][0], kHostile);
}

// ---- what fits ----

class ExploredMany : public testing::Test {
 protected:
  ExploredMany() : data(generate_synthetic(500, 3)), model(untrained_model(data)) {}

  ExplorePage made(double megabytes) {
    ThreadPool pool(2);
    ExploreOptions options;
    options.megabytes = megabytes;
    return explore_page(model, data, every_series(data), pool, options);
  }

  Dataset data;
  Model model;
};

TEST_F(ExploredMany, ThePageStaysBelowItsSize) {
  const ExplorePage everything = made(20);
  EXPECT_EQ(everything.whole, data.size());
  double last = 1e9;
  bool bands_left_out = false, series_left_out = false;
  for (const double megabytes : {0.7, 0.3, 0.2}) {
    const ExplorePage page = made(megabytes);
    EXPECT_LT(static_cast<double>(page.html.size()), 1e6 * megabytes);
    // The room is used: less than a block, or an eighth, stays free.
    EXPECT_GT(static_cast<double>(page.html.size()), 0.8 * 1e6 * megabytes);
    EXPECT_EQ(page.whole + page.observations_only + page.named_only, data.size());
    EXPECT_GT(page.whole, 0u);
    EXPECT_LT(static_cast<double>(page.whole), last);
    last = static_cast<double>(page.whole);
    bands_left_out |= page.observations_only > 0;
    series_left_out |= page.named_only > 0;

    // Whoever has less surprised less, and the page says how many they are.
    const UnpackedPage unpacked(page.html);
    double least_whole = 1e9, most_other = 0;
    for (std::size_t i = 0; i < data.size(); ++i) {
      const double surprise = unpacked.index["surprise"][i];
      if (unpacked.index["held"][i] == 2)
        least_whole = std::min(least_whole, surprise);
      else
        most_other = std::max(most_other, surprise);
    }
    EXPECT_GE(least_whole, most_other);
    EXPECT_EQ(unpacked.meta["held"]["whole"], page.whole);
    EXPECT_EQ(unpacked.meta["held"]["name"], page.named_only);
  }
  EXPECT_TRUE(bands_left_out);
  EXPECT_TRUE(series_left_out);
}

TEST_F(ExploredMany, WhereNotEvenTheListFitsThatIsSaid) {
  const std::string refusal = refusal_of([&] { made(0.05); });
  EXPECT_NE(refusal.find("the list of 500 series alone takes"), std::string::npos) << refusal;
  EXPECT_NE(refusal.find("give more with megabytes"), std::string::npos) << refusal;
}

// ---- thinning ----

TEST(Thinned, StaysWithinItsToleranceOfWhatItLeavesOut) {
  std::vector<double> grid;
  Curve<double> curve;
  for (int k = 0; k <= 400; ++k) {
    grid.push_back(0.01 * k);
    curve.at.push_back(static_cast<std::uint32_t>(k));
    curve.points.push_back(std::sin(3 * grid.back()) + (k > 200 ? 0.5 : 0.0));
  }
  const double tolerance = 0.01;
  const Curve<double> thin = thinned(grid, curve, tolerance);
  EXPECT_LT(thin.at.size(), 80u);
  EXPECT_EQ(thin.at.front(), 0u);
  EXPECT_EQ(thin.at.back(), 400u);
  for (std::size_t k = 1; k < thin.at.size(); ++k) {
    const double x0 = grid[thin.at[k - 1]], x1 = grid[thin.at[k]];
    for (std::uint32_t i = thin.at[k - 1]; i <= thin.at[k]; ++i) {
      const double line =
          thin.points[k - 1] + (grid[i] - x0) / (x1 - x0) * (thin.points[k] - thin.points[k - 1]);
      EXPECT_NEAR(line, curve.points[i], tolerance * 1.0001);
    }
  }
}

TEST(Thinned, BothSidesOfAJumpStay) {
  const std::vector<double> grid{0, 1, 1, 2};
  const Curve<double> thin = thinned(grid, Curve<double>{{0, 1, 2, 3}, {0, 0, 1, 1}}, 0.01);
  EXPECT_EQ(thin.at, (std::vector<std::uint32_t>{0, 1, 2, 3}));
}

TEST(Thinned, AStraightLineIsTwoPoints) {
  const std::vector<double> grid{0, 1, 2, 3, 5};
  const Curve<double> thin = thinned(grid, Curve<double>{{0, 1, 2, 3, 4}, {0, 2, 4, 6, 10}}, 1e-9);
  EXPECT_EQ(thin.at, (std::vector<std::uint32_t>{0, 4}));
}

}  // namespace
}  // namespace edict::report

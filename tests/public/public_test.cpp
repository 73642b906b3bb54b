// The C++ interface as a program outside sees it: this program knows include/edict and libedict
// alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "edict/edict.hpp"

namespace {

static_assert(!std::is_copy_constructible_v<edict::Dataset> &&
              std::is_nothrow_move_constructible_v<edict::Dataset>);
static_assert(!std::is_copy_constructible_v<edict::Model> &&
              std::is_nothrow_move_constructible_v<edict::Model>);
static_assert(!std::is_copy_constructible_v<edict::Stream> &&
              std::is_move_constructible_v<edict::Stream>);
static_assert(std::is_nothrow_copy_constructible_v<edict::Error>);

constexpr std::size_t kSeries = 40, kEvents = 12;
const std::vector<std::string> kIds = [] {
  std::vector<std::string> ids;
  for (std::size_t i = 0; i < kSeries; ++i) ids.push_back("tank" + std::to_string(10 + i));
  return ids;
}();
const std::vector<std::string> kFeatures = {"level", "flow"};
const edict::TrainOptions kTiny = {
    .settings = {"train.epochs=2", "train.batch=16", "model.hidden=8", "model.step=0.5"},
    .toml = "",
    .threads = 1};

// Two waves, the second seen at every third event; every other series belongs to class "odd".
edict::Dataset tanks() {
  edict::DatasetBuilder builder(kIds, kFeatures);
  std::vector<std::int64_t> series;
  std::vector<double> times, values;
  for (std::size_t i = 0; i < kSeries; ++i)
    for (std::size_t e = 0; e < kEvents; ++e) {
      series.push_back(static_cast<std::int64_t>(i));
      times.push_back(0.5 * static_cast<double>(e) + 0.01 * static_cast<double>(i));
      values.push_back(std::sin(times.back()) + (i % 2 == 0 ? 0 : 1));
      values.push_back(e % 3 == 0 ? std::cos(times.back()) : NAN);
    }
  builder.add_events(series, times, values);
  std::vector<std::int32_t> labels;
  for (std::size_t i = 0; i < kSeries; ++i) labels.push_back(static_cast<std::int32_t>(i % 2));
  builder.set_labels(std::vector<std::string>{"even", "odd"}, labels);
  return builder.build();
}

class Public : public testing::Test {
 protected:
  const edict::Dataset data = tanks();
  const edict::Model model = edict::Model::train(data, kTiny);
};

TEST_F(Public, FoldsAreJudgedAndACopyIsCalibrated) {
  edict::TrainOptions options = kTiny;
  options.settings.push_back("data.split=stratified");
  EXPECT_NE(edict::Model::cross_validate(data, 2, options).find("\"metrics\""), std::string::npos);
  EXPECT_NE(model.calibrate(data).to_bytes(), model.to_bytes());
  EXPECT_THROW(model.calibrate(data, "all"), edict::Error);
}

TEST_F(Public, ADatasetHasWhatItWasMadeOf) {
  const edict_dataset_size sizes = data.sizes();
  EXPECT_EQ(sizes.series, 40);
  EXPECT_EQ(sizes.events, 480);
  EXPECT_EQ(sizes.observations, 480 + 160);
  EXPECT_EQ(data.ids(), kIds);
  EXPECT_EQ(data.features(), kFeatures);
  EXPECT_EQ(data.classes(), (std::vector<std::string>{"even", "odd"}));
  const edict::Dataset::Arrays arrays = data.arrays();
  EXPECT_EQ(arrays.first_event[1], 12);
  EXPECT_DOUBLE_EQ(arrays.times[13], 0.51);
  EXPECT_DOUBLE_EQ(arrays.values[0], std::sin(0.0));
  EXPECT_EQ(arrays.labels[1], 1);

  edict::DatasetBuilder one_by_one(kIds, kFeatures);
  for (std::size_t i = 0; i < kSeries; ++i)
    one_by_one.add_event(static_cast<std::int64_t>(i), 0, std::vector<double>{1.5, NAN});
  EXPECT_EQ(one_by_one.build().sizes().observations, 40);

  const std::vector<std::int64_t> first_two = {0, 1};
  const edict::Dataset part = data.subset(first_two, 3.0);
  EXPECT_EQ(part.ids(), (std::vector<std::string>{"tank10", "tank11"}));
  EXPECT_EQ(part.sizes().events, 12);
  EXPECT_NE(part.fingerprint(), data.fingerprint());
}

TEST_F(Public, ObservationsAndDatesMakeADatasetToo) {
  const std::vector<std::string> texts = {"2024-03-01 12:00", "2024-03-01 13:30+01:00", "soon"};
  const edict::ReadDates read = edict::read_dates(texts);
  EXPECT_EQ(read.microseconds[1] - read.microseconds[0], 0.5 * 3600e6);
  EXPECT_EQ(read.zone[0], EDICT_NO_ZONE);
  EXPECT_EQ(read.zone[1], 60);
  EXPECT_TRUE(std::isnan(read.microseconds[2]));

  edict::DatasetBuilder builder(std::vector<std::string>{"a", "b"}, kFeatures);
  builder.add_observations(std::vector<std::int64_t>{0, 0, 1}, std::vector<double>{0, 1.5, 2},
                           std::vector<std::int32_t>{0, 1, 0}, std::vector<double>{4, 5, 6});
  builder.set_dates("h", std::vector<double>{read.microseconds[0]});
  const edict::Dataset dated = builder.build();
  EXPECT_EQ(dated.arrays().features, (std::vector<std::int32_t>{0, 1, 0}));
  const edict::Dataset::Dates dates = dated.dates();
  EXPECT_NE(dates.json.find("\"date\""), std::string::npos) << dates.json;
  EXPECT_EQ(dates.origin[1], read.microseconds[0]);
  const edict::Dataset other =
      dated.relabelled(std::vector<std::string>{"ill", "well"}, std::vector<std::int32_t>{1, -1});
  EXPECT_EQ(other.classes(), (std::vector<std::string>{"ill", "well"}));
  EXPECT_EQ(other.arrays().labels, (std::vector<std::int32_t>{1, -1}));
  EXPECT_THROW(builder.set_dates("h", std::vector<double>{1, 2}), std::invalid_argument);
}

TEST_F(Public, AForecastIsThatOfTheCInterface) {
  const std::vector<double> horizons = {0.5, 2};
  const edict::Forecast forecast = model.predict_ahead(data, horizons, {.threads = 2});
  EXPECT_EQ(forecast.ids, kIds);
  EXPECT_EQ(forecast.features, kFeatures);
  ASSERT_EQ(forecast.all.size(), kSeries * 2 * 2);
  std::vector<double> mean(forecast.all.size()), epistemic(mean.size());
  ASSERT_EQ(edict_model_predict(model.handle(), data.handle(), 2, horizons.data(),
                                EDICT_TIMES_AHEAD, INFINITY, nullptr, 1, nullptr, mean.data(),
                                nullptr, epistemic.data(), nullptr, nullptr, nullptr),
            EDICT_OK);
  EXPECT_EQ(forecast.all.mean, mean);
  EXPECT_EQ(forecast.all.epistemic, epistemic);

  const edict::Distribution flow = forecast.at(3, 1, "flow");
  EXPECT_EQ(flow.mean, mean[(3 * 2 + 1) * 2 + 1]);
  const auto [lower, upper] = flow.interval(0.9);
  EXPECT_LT(lower, flow.mean);
  EXPECT_NEAR(flow.probability_below(upper), 0.95, 1e-9);
  EXPECT_NEAR(flow.probability_above(lower), 0.95, 1e-9);
  EXPECT_NEAR(lower + upper, 2 * flow.mean, 1e-9);
  EXPECT_NEAR(std::pow(flow.aleatoric_deviation(), 2) + std::pow(flow.epistemic_deviation(), 2),
              std::pow(flow.deviation(), 2), 1e-12);
  EXPECT_EQ(forecast.all.quantile(0.95)[(3 * 2 + 1) * 2 + 1], upper);
  EXPECT_EQ(forecast.all.probability_below(0.2)[0], forecast.all[0].probability_below(0.2));
  EXPECT_THROW(forecast.at(0, 2, 0), std::invalid_argument);
  EXPECT_THROW(forecast.at(0, 0, "pressure"), std::invalid_argument);
}

TEST_F(Public, TimesAreCommonOrASeriesOwn) {
  const std::vector<double> times = {1, 7};
  std::vector<double> own;
  for (std::size_t i = 0; i < kSeries; ++i) own.insert(own.end(), times.begin(), times.end());
  const auto all = model.predict(data, times);
  EXPECT_EQ(model.predict_own(data, own, 2).all.mean, all.all.mean);
  EXPECT_THROW(model.predict_own(data, times, 2), std::invalid_argument);
  // What comes later changes no forecast.
  EXPECT_EQ(model.predict(data, std::vector<double>{1}).at(5, 0, 0).mean, all.at(5, 0, 0).mean);
  EXPECT_NE(model.predict(data, times, {}, 2.0).at(5, 1, 0).mean, all.at(5, 1, 0).mean);
  const auto guarded = model.predict(data, times, {.guard = edict::Guard::edgr(0.01)});
  EXPECT_GT(guarded.clipped, 0);
  EXPECT_EQ(all.clipped, 0);
}

TEST_F(Public, ModelsAreSavedAndLoaded) {
  const auto path = std::filesystem::temp_directory_path() /
                    ("edict_public_test_" + std::to_string(data.fingerprint()) + ".model");
  model.save(path.string());
  const auto loaded = edict::Model::load(path.string());
  std::filesystem::remove(path);
  EXPECT_EQ(loaded.sizes().fingerprint, model.sizes().fingerprint);
  EXPECT_EQ(edict::Model::from_bytes(model.to_bytes()).sizes().fingerprint,
            model.sizes().fingerprint);
  EXPECT_EQ(loaded.features(), kFeatures);
  EXPECT_EQ(loaded.statics(), std::vector<std::string>{});
  EXPECT_EQ(loaded.match(data), "[]");
  EXPECT_NE(loaded.info().find("\"epochs\":2"), std::string::npos) << loaded.info();
  const auto parts = loaded.parts(data);
  EXPECT_GT(std::count(parts.begin(), parts.end(), EDICT_TRAIN), 20);
}

TEST_F(Public, ImputationKeepsWhatWasObserved) {
  const edict::Imputation filled = model.impute(data);
  ASSERT_EQ(filled.values.size(), 480u * 2);
  EXPECT_EQ(filled.value(0, 1), std::cos(0.0));
  EXPECT_EQ(filled.deviation(0, 1), 0);
  EXPECT_TRUE(std::isfinite(filled.value(1, 1)));
  EXPECT_GT(filled.deviation(1, 1), 0);
  EXPECT_EQ(model.impute(data, std::vector<double>{1, 2}).values.size(), kSeries * 2 * 2);
}

TEST_F(Public, ClassesAreLearnedAndNamed) {
  EXPECT_EQ(model.classes(), std::vector<std::string>{});
  const auto classifier =
      model.train_classifier(data, {.settings = {"classify.fine_tune=1"}, .threads = 1});
  EXPECT_EQ(classifier.classes(), (std::vector<std::string>{"even", "odd"}));
  const edict::ClassProbabilities found = classifier.classify(data);
  for (std::size_t i = 0; i < kSeries; ++i) {
    EXPECT_NEAR(found.at(i, 0) + found.at(i, 1), 1, 1e-6);
    EXPECT_EQ(found.best(i), found.at(i, 1) > found.at(i, 0) ? 1u : 0u);
  }
  EXPECT_EQ(classifier.classify(data, std::vector<double>{1, 2, 3}).values.size(), kSeries * 3 * 2);
}

TEST_F(Public, EvaluationSurpriseAndStatesCoverTheData) {
  const std::string scores = model.evaluate(data, "all");
  EXPECT_NE(scores.find("crps"), std::string::npos) << scores;
  const edict::Surprise surprise = model.surprise(data);
  ASSERT_EQ(surprise.z.size(), 640u);
  EXPECT_GT(surprise.tail[7], 0);
  EXPECT_LE(surprise.tail[7], 1);
  EXPECT_EQ(model.encode(data).size(), kSeries * 8);
}

TEST_F(Public, AStreamGivesTheForecastOfItsSeries) {
  const double later = 7;
  const edict::Dataset::Arrays arrays = data.arrays();
  edict::Stream by_rows(model), by_values(model);
  for (std::size_t e = 0; e < kEvents; ++e) {
    std::vector<double> row(2, NAN);
    std::vector<edict::Observation> seen;
    for (auto k = static_cast<std::size_t>(arrays.first_observation[e]);
         k < static_cast<std::size_t>(arrays.first_observation[e + 1]); ++k) {
      row[static_cast<std::size_t>(arrays.features[k])] = arrays.values[k];
      seen.push_back({arrays.features[k], arrays.values[k]});
    }
    by_rows.observe(arrays.times[e], row);
    by_values.observe(arrays.times[e], seen);
  }
  const double expected = model.predict(data, std::vector<double>{later}).at(0, 0, 0).mean;
  EXPECT_EQ(by_rows.predict(later)[0].mean, expected);
  EXPECT_EQ(by_values.predict(later)[0].mean, expected);
  EXPECT_EQ(by_rows.time(), 5.5);

  edict::Stream later_program(model);
  later_program.restore(by_rows.save());
  edict::Stream moved = std::move(later_program);
  EXPECT_EQ(moved.predict(later)[0].mean, expected);

  edict::Streams many(model, 2);
  many.add(1);
  EXPECT_EQ(many.size(), 3u);
  const std::vector<std::int64_t> of = {2};
  many.restore(2, moved.save());
  EXPECT_EQ(many.predict(of, std::vector<double>{later})[0].mean, expected);
  EXPECT_THROW(many.observe(of, std::vector<double>{8}, std::vector<double>{1}),
               std::invalid_argument);
}

TEST(PublicErrors, HaveACodeAKindAndParts) {
  try {
    edict::Model::load("nowhere.model");
    FAIL() << "a model that is not there was loaded";
  } catch (const edict::Error& e) {
    EXPECT_EQ(e.code(), EDICT_INPUT);
    EXPECT_NE(std::string(e.what()).find("nowhere.model"), std::string::npos) << e.what();
    EXPECT_FALSE(e.problem().empty());
  }
  try {
    edict::Model::train(tanks(), {.settings = {"train.epoch=2"}});
    FAIL() << "a setting that does not exist was taken";
  } catch (const edict::Error& e) {
    EXPECT_EQ(e.code(), EDICT_INPUT);
    EXPECT_NE(std::string(e.what()).find("train.epochs"), std::string::npos) << e.what();
  }
  const auto table = std::filesystem::temp_directory_path() /
                     ("edict_public_test_" + std::to_string(tanks().fingerprint()) + ".csv");
  std::ofstream(table) << "id,time,x\na,1,2\nb,1,2,3,4\n";
  try {
    edict::Dataset::read(table.string());
    ADD_FAILURE() << "a damaged table was read";
  } catch (const edict::Error& e) {
    EXPECT_EQ(e.kind(), EDICT_ERROR_MALFORMED) << e.what();
    EXPECT_NE(e.subject().find("edict_public_test_"), std::string::npos) << e.what();
    EXPECT_EQ(e.what(), e.subject() + ": " + (e.place().empty() ? "" : e.place() + ": ") +
                            e.problem() + (e.remedy().empty() ? "" : "; " + e.remedy()));
  }
  std::filesystem::remove(table);
  edict_error rest{};
  EXPECT_EQ(edict_model_load(nullptr, nullptr), EDICT_INPUT);
  edict_last_error_parts(&rest, sizeof rest);
  EXPECT_EQ(rest.kind, EDICT_ERROR_INVALID);
  EXPECT_STREQ(rest.problem, edict_last_error());
  EXPECT_STREQ(rest.remedy, "");
}

TEST(PublicErrors, NamesOfOptionsThatDoNotExistGetASuggestion) {
  edict::ReadOptions options;
  options.ignored = {"a \"quoted\" column\n"};
  EXPECT_EQ(options.json(), R"({"ignored":["a \"quoted\" column\u000a"]})");
  options.decimal = "comma";
  EXPECT_THROW(edict::Dataset::read("nowhere.csv", options), edict::Error);
}

TEST(PublicErrors, TrainingThatIsStoppedBeforeItsFirstEpochThrows) {
  edict::Control control;
  control.stop();
  edict::TrainOptions options = kTiny;
  options.control = &control;
  try {
    edict::Model::train(tanks(), options);
    FAIL() << "it was not stopped";
  } catch (const edict::Error& e) {
    EXPECT_EQ(e.code(), EDICT_INTERRUPTED);
    EXPECT_EQ(e.kind(), EDICT_ERROR_NONE);
  }
  EXPECT_EQ(control.progress().epochs_done, 0);
}

}  // namespace

// The C interface from the outside: the shared library, its symbols, and that nothing but codes
// crosses its border.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <fstream>
#include <limits>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "ask/trajectory.h"
#include "base/json/json.h"
#include "data/read/csv/csv.h"
#include "edict/edict.h"
#include "learn/fit_settings.h"
#include "learn/trainer.h"
#include "research/import/synthetic.h"
#include "temporary_folder.h"

namespace edict {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
const char* const kSettings[] = {"train.epochs=2", "train.batch=16", "model.hidden=8",
                                 "model.step=0.5"};

std::string text_of(edict_bytes* bytes) {
  std::string text(static_cast<const char*>(edict_bytes_data(bytes)), edict_bytes_size(bytes));
  edict_bytes_free(bytes);
  return text;
}

// A training by these settings, and beside them what a test is about.
edict_training training_of(std::span<const char* const> settings, const char* toml = nullptr,
                           const edict_model* from = nullptr, double budget = 0) {
  edict_training training{};
  training.toml = toml;
  training.assignments = static_cast<std::int64_t>(settings.size());
  training.assignment = settings.data();
  training.from = from;
  training.budget = budget;
  training.threads = 1;
  return training;
}

int train(const edict_dataset* dataset, const edict_training& training, edict_model** model,
          edict_control* control = nullptr) {
  return edict_train(dataset, &training, sizeof training, control, model);
}

// Forty series in a file, and the small model that the C interface trains on them.
class Capi : public testing::Test {
 protected:
  void SetUp() override {
    data_ = generate_synthetic(40, 3);
    write_csv(data_, folder_ / "data.csv");
    ASSERT_EQ(edict_dataset_read((folder_ / "data.csv").c_str(), nullptr, nullptr, &dataset_),
              EDICT_OK)
        << edict_last_error();
    ASSERT_EQ(train(dataset_, training_of(kSettings, ""), &model_), EDICT_OK) << edict_last_error();
  }
  void TearDown() override {
    edict_model_free(model_);
    edict_dataset_free(dataset_);
  }

  // The same through the library itself.
  Model trained() const {
    Config config;
    for (const char* one : kSettings) assign(config, one);
    const Split parts = split(data_, config.data);
    Model model = Model::create(config, data_, parts);
    ThreadPool pool(2);
    train(model, data_, parts, pool, {});
    return model;
  }

  TemporaryFolder folder_;
  Dataset data_;
  edict_dataset* dataset_ = nullptr;
  edict_model* model_ = nullptr;
};

TEST(CapiLibrary, ShowsNothingButItsOwnFunctions) {
  std::FILE* pipe = popen(EDICT_NM " -D --defined-only " EDICT_CAPI_LIBRARY, "r");
  ASSERT_TRUE(pipe);
  std::array<char, 4096> line;
  int functions = 0;
  while (std::fgets(line.data(), line.size(), pipe)) {
    std::string name(line.data());
    name = name.substr(name.rfind(' ') + 1);
    EXPECT_TRUE(name.starts_with("edict_")) << name;
    ++functions;
  }
  EXPECT_EQ(pclose(pipe), 0);
  EXPECT_GT(functions, 40);
}

TEST(CapiLibrary, DeclaresEverySettingWithItsDefault) {
  edict_bytes* bytes = nullptr;
  ASSERT_EQ(edict_settings(&bytes), EDICT_OK);
  const auto list = nlohmann::json::parse(text_of(bytes));
  Config config;
  ASSERT_EQ(list.size(), keys(config).size());
  bool found = false;
  for (const auto& entry : list)
    if (entry.at("key") == "train.epochs") {
      found = true;
      EXPECT_EQ(entry.at("type"), "whole number");
      EXPECT_EQ(entry.at("default"), 100);
      EXPECT_EQ(entry.at("low"), 1);
    }
  EXPECT_TRUE(found);
}

TEST_F(Capi, TrainsTheModelThatTheLibraryTrains) {
  const Model expected = trained();
  edict_model_size sizes;
  ASSERT_EQ(edict_model_sizes(model_, &sizes, sizeof sizes), EDICT_OK);
  EXPECT_EQ(sizes.fingerprint, fingerprint(expected));
  EXPECT_EQ(sizes.features, 3);
  EXPECT_EQ(sizes.hidden, 8);
}

TEST_F(Capi, PredictsWhatTheLibraryPredicts) {
  const Model model = trained();
  const std::vector<double> times = {0.5, 4, 12};
  std::vector<double> mean(40 * 3 * 3), dof(mean.size()), own_mean(mean.size()), own_times;
  ASSERT_EQ(edict_model_predict(model_, dataset_, 3, times.data(), 0, kInf, nullptr, 2, nullptr,
                                mean.data(), nullptr, nullptr, nullptr, dof.data(), nullptr),
            EDICT_OK)
      << edict_last_error();
  for (int i = 0; i < 40; ++i) own_times.insert(own_times.end(), times.begin(), times.end());
  ASSERT_EQ(edict_model_predict(model_, dataset_, 3, own_times.data(), 1, kInf, nullptr, 1, nullptr,
                                own_mean.data(), nullptr, nullptr, nullptr, nullptr, nullptr),
            EDICT_OK);
  EXPECT_EQ(mean, own_mean);
  ThreadPool pool(1);
  PredictRequest request;
  request.times = times;
  predict(model, data_, request, pool, [&](const Trajectory& trajectory) {
    for (std::size_t k = 0; k < 9; ++k) {
      EXPECT_EQ(mean[trajectory.series * 9 + k], trajectory.marginals[k].mean);
      EXPECT_EQ(dof[trajectory.series * 9 + k], trajectory.marginals[k].dof);
    }
  });
}

TEST_F(Capi, EvaluatesWhatTheCommandLineDoes) {
  const auto evaluated = [&](const edict_model* model, int sides) {
    edict_bytes* bytes = nullptr;
    EXPECT_EQ(edict_model_evaluate(model, dataset_, "all", sides, nullptr, 1, nullptr, &bytes),
              EDICT_OK)
        << edict_last_error();
    return nlohmann::json::parse(text_of(bytes));
  };
  const auto plain = evaluated(model_, EDICT_SIDES_KNOWN);
  EXPECT_EQ(plain.at("series"), 40);
  EXPECT_EQ(plain.at("split"), "all");
  EXPECT_EQ(plain.at("breakdown").at("extrapolation").at("features").size(), 3u);
  EXPECT_TRUE(plain.at("classifier").is_null());
  edict_model* classifier = nullptr;
  ASSERT_EQ(edict_classify(model_, dataset_, 0, nullptr, 0, nullptr, 1, nullptr, &classifier),
            EDICT_OK)
      << edict_last_error();
  const auto classes = evaluated(classifier, EDICT_SIDES_PAST);
  EXPECT_EQ(classes.at("classifier").at("result").at("series"), 40);
  EXPECT_EQ(classes.at("notes").size(), 0u);
  edict_model_free(classifier);
  edict_bytes* bytes = nullptr;
  EXPECT_EQ(
      edict_model_evaluate(model_, dataset_, "all", EDICT_SIDES_BOTH, nullptr, 1, nullptr, &bytes),
      EDICT_INPUT);
  edict_error error{};
  edict_last_error_parts(&error, sizeof error);
  EXPECT_EQ(error.kind, EDICT_ERROR_UNSUPPORTED);
}

TEST_F(Capi, ChoosesTheSettingsThatFitTheDataAndSaysWhy) {
  edict_bytes* bytes = nullptr;
  const char* const given[] = {"model.hidden=8"};
  ASSERT_EQ(edict_fit_settings(dataset_, 1, given, &bytes), EDICT_OK) << edict_last_error();
  const auto chosen = nlohmann::json::parse(text_of(bytes));
  Config expected = fit_settings(data_, std::vector<std::string>{"model.hidden=8"}).config;
  Config of_file;
  read_toml_text(chosen.at("toml").get<std::string>(), "chosen", of_file);
  EXPECT_EQ(to_toml(of_file), to_toml(expected));
  EXPECT_FALSE(chosen.at("choices").empty());
}

TEST_F(Capi, EveryObservationIsHeldAgainstWhatWasExpected) {
  const std::size_t n = data_.observations();
  std::vector<double> mean(n), scale(n), z(n), before(40 * 3);
  ASSERT_EQ(edict_model_surprise(model_, dataset_, kInf, nullptr, 2, nullptr, mean.data(), nullptr,
                                 nullptr, scale.data(), nullptr, z.data(), nullptr, nullptr),
            EDICT_OK)
      << edict_last_error();
  // What predict says of the same moment, given what came before it.
  const std::size_t event = data_.first_event[7] + 3;
  ASSERT_EQ(
      edict_model_predict(model_, dataset_, 1, &data_.times[event], 0, kInf, nullptr, 1, nullptr,
                          before.data(), nullptr, nullptr, nullptr, nullptr, nullptr),
      EDICT_OK);
  for (std::size_t k = data_.first_observation[event]; k < data_.first_observation[event + 1]; ++k)
    EXPECT_EQ(mean[k], before[7 * 3 + static_cast<std::size_t>(data_.feature[k])]);
  for (std::size_t k = 0; k < n; ++k)
    EXPECT_EQ(std::signbit(z[k]), std::signbit(data_.value[k] - mean[k]));
}

TEST_F(Capi, AModelComesBackFromItsBytesAndItsFile) {
  edict_bytes* bytes = nullptr;
  ASSERT_EQ(edict_model_to_bytes(model_, &bytes), EDICT_OK);
  const std::string content = text_of(bytes);
  ASSERT_EQ(edict_model_save(model_, (folder_ / "m").c_str()), EDICT_OK);
  EXPECT_EQ(content, folder_.read("m"));
  edict_model* copy = nullptr;
  ASSERT_EQ(edict_model_from_bytes(content.data(), content.size(), &copy), EDICT_OK);
  edict_model_size sizes, of_copy;
  edict_model_sizes(model_, &sizes, sizeof sizes);
  edict_model_sizes(copy, &of_copy, sizeof of_copy);
  EXPECT_EQ(sizes.fingerprint, of_copy.fingerprint);
  edict_model_free(copy);
  ASSERT_EQ(edict_model_from_bytes(content.data(), content.size() / 2, &copy), EDICT_INPUT);
  EXPECT_NE(std::string(edict_last_error()).find("model in memory: not a usable model file"),
            std::string::npos);
}

TEST_F(Capi, StreamsGiveTheBitsOfPredictAndComeBackFromBytes) {
  edict_streams* streams = nullptr;
  ASSERT_EQ(edict_streams_new(model_, 2, nullptr, nullptr, nullptr, &streams), EDICT_OK);
  for (std::size_t i = 0; i < 2; ++i)
    for (std::size_t e = data_.first_event[i]; e < data_.first_event[i + 1]; ++e) {
      const auto stream = static_cast<std::int64_t>(i);
      std::vector<std::int32_t> features;
      std::vector<double> values;
      for (const Observation& o : data_.observed(e)) {
        features.push_back(o.feature);
        values.push_back(o.value);
      }
      const std::int64_t first[] = {0, static_cast<std::int64_t>(values.size())};
      ASSERT_EQ(edict_streams_observe(streams, 1, &stream, &data_.times[e], first, features.data(),
                                      values.data()),
                EDICT_OK)
          << edict_last_error();
    }
  const double when = 20;
  std::vector<double> mean(40 * 3), scale(40 * 3), streamed(6), restored(3);
  ASSERT_EQ(edict_model_predict(model_, dataset_, 1, &when, 0, kInf, nullptr, 1, nullptr,
                                mean.data(), nullptr, nullptr, scale.data(), nullptr, nullptr),
            EDICT_OK);
  const std::int64_t both[] = {0, 1};
  const double at[] = {when, when};
  ASSERT_EQ(edict_streams_predict(streams, 2, both, at, streamed.data(), nullptr, nullptr, nullptr,
                                  nullptr),
            EDICT_OK);
  for (std::size_t k = 0; k < 6; ++k) EXPECT_EQ(streamed[k], mean[k]);

  edict_bytes* state = nullptr;
  ASSERT_EQ(edict_streams_save(streams, 1, &state), EDICT_OK);
  const std::string bytes = text_of(state);
  ASSERT_EQ(edict_streams_restore(streams, 0, bytes.data(), bytes.size()), EDICT_OK);
  ASSERT_EQ(edict_streams_predict(streams, 1, both, &when, restored.data(), nullptr, nullptr,
                                  nullptr, nullptr),
            EDICT_OK);
  for (std::size_t k = 0; k < 3; ++k) EXPECT_EQ(restored[k], mean[3 + k]);
  // Backwards in time: refused, and everything as before.
  const double before = 0;
  const std::int64_t none[] = {0, 0};
  EXPECT_EQ(edict_streams_observe(streams, 1, both, &before, none, nullptr, nullptr), EDICT_INPUT);
  EXPECT_EQ(edict_streams_count(streams), 2);
  edict_streams_free(streams);
}

TEST_F(Capi, StreamsWithoutAStartBeginWhereTheClockOfTheModelDoes) {
  Dataset moved = data_;
  for (std::size_t e = 0; e < moved.events(); ++e) moved.times[e] += 1000;
  write_csv(moved, folder_ / "moved.csv");
  for (const char* start : {"data.start=origin", "data.start=first"}) {
    edict_dataset* dataset = nullptr;
    edict_model* model = nullptr;
    edict_streams* streams = nullptr;
    ASSERT_EQ(edict_dataset_read((folder_ / "moved.csv").c_str(), nullptr, nullptr, &dataset),
              EDICT_OK);
    const char* const settings[] = {kSettings[0], kSettings[1], kSettings[2], kSettings[3], start};
    ASSERT_EQ(train(dataset, training_of(settings, ""), &model), EDICT_OK) << edict_last_error();
    ASSERT_EQ(edict_streams_new(model, 1, nullptr, nullptr, nullptr, &streams), EDICT_OK);
    std::vector<double> row(3);
    const std::int64_t stream = 0;
    for (std::size_t e = 0; e < moved.first_event[1]; ++e) {
      std::fill(row.begin(), row.end(), std::numeric_limits<double>::quiet_NaN());
      for (const Observation& o : moved.observed(e))
        row[static_cast<std::size_t>(o.feature)] = o.value;
      ASSERT_EQ(edict_streams_observe_rows(streams, 1, &stream, &moved.times[e], row.data()),
                EDICT_OK)
          << edict_last_error();
    }
    const double when = 1020;
    std::vector<double> mean(40 * 3), streamed(3);
    ASSERT_EQ(edict_model_predict(model, dataset, 1, &when, 0, kInf, nullptr, 1, nullptr,
                                  mean.data(), nullptr, nullptr, nullptr, nullptr, nullptr),
              EDICT_OK);
    ASSERT_EQ(edict_streams_predict(streams, 1, &stream, &when, streamed.data(), nullptr, nullptr,
                                    nullptr, nullptr),
              EDICT_OK);
    for (std::size_t j = 0; j < 3; ++j) EXPECT_EQ(streamed[j], mean[j]) << start;
    edict_streams_free(streams);
    edict_model_free(model);
    edict_dataset_free(dataset);
  }
}

TEST_F(Capi, StoppedTrainingLeavesTheLastWholeEpoch) {
  edict_control* control = nullptr;
  ASSERT_EQ(edict_control_new(&control), EDICT_OK);
  const char* const many[] = {"train.epochs=1000000", "model.hidden=8", "model.step=0.5"};
  edict_model* model = nullptr;
  std::thread stopper([&] {
    edict_progress progress;
    do {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      edict_control_read(control, &progress, sizeof progress);
    } while (progress.epochs_done < 2);
    edict_control_stop(control);
  });
  EXPECT_EQ(train(dataset_, training_of(many, ""), &model, control), EDICT_INTERRUPTED);
  stopper.join();
  edict_progress progress;
  edict_control_read(control, &progress, sizeof progress);
  EXPECT_EQ(progress.epochs, 1000000);
  EXPECT_GE(progress.best_epoch, 1);
  ASSERT_NE(model, nullptr);
  edict_bytes* info = nullptr;
  ASSERT_EQ(edict_model_info(model, &info), EDICT_OK);
  EXPECT_GE(nlohmann::json::parse(text_of(info)).at("epochs").size(), 2u);
  edict_model_free(model);
  edict_control_free(control);
}

TEST_F(Capi, TrainingGoesOnFromAModelAndWithinATime) {
  const char* const more[] = {"train.epochs=1", "train.learning_rate=1e-3"};
  edict_model* warm = nullptr;
  ASSERT_EQ(train(dataset_, training_of(more, nullptr, model_), &warm), EDICT_OK)
      << edict_last_error();
  edict_bytes* info = nullptr;
  ASSERT_EQ(edict_model_info(warm, &info), EDICT_OK);
  const auto told = nlohmann::json::parse(text_of(info));
  EXPECT_EQ(told.at("config").at("model").at("hidden"), 8);
  EXPECT_TRUE(told.at("notes").is_array());
  EXPECT_EQ(told.at("epochs").at(0).at("epoch"), 0);  // what it started from may be the best
  edict_model_free(warm);

  edict_model* model = nullptr;
  const char* const wider[] = {"model.hidden=9"};
  EXPECT_EQ(train(dataset_, training_of(wider, nullptr, model_), &model), EDICT_INPUT);
  EXPECT_EQ(train(dataset_, training_of({}, "", model_), &model), EDICT_INPUT);
  // No machine trains an epoch in a nanosecond, and every one does in ten minutes.
  EXPECT_EQ(train(dataset_, training_of(kSettings, "", nullptr, 1e-9), &model), EDICT_INPUT);
  EXPECT_NE(std::string(edict_last_error()).find("give more time"), std::string::npos);
  ASSERT_EQ(train(dataset_, training_of(kSettings, "", nullptr, 600), &model), EDICT_OK);
  edict_bytes *timed = nullptr, *plain = nullptr;
  ASSERT_EQ(edict_model_to_bytes(model, &timed), EDICT_OK);
  ASSERT_EQ(edict_model_to_bytes(model_, &plain), EDICT_OK);
  EXPECT_TRUE(text_of(timed) == text_of(plain));
  edict_model_free(model);
}

TEST_F(Capi, ACrossValidationJudgesEverySeriesOfItsFolds) {
  const edict_training training = training_of(kSettings, "");
  edict_bytes* out = nullptr;
  ASSERT_EQ(edict_cross_validate(dataset_, &training, sizeof training, 2, nullptr, &out), EDICT_OK)
      << edict_last_error();
  const auto result = nlohmann::json::parse(text_of(out));
  ASSERT_EQ(result.at("folds").size(), 2u);
  EXPECT_TRUE(result.at("metrics").contains("interpolation nll"));
  EXPECT_EQ(edict_cross_validate(dataset_, &training, sizeof training, 1, nullptr, &out),
            EDICT_INPUT);
  const edict_training warm = training_of({}, nullptr, model_);
  EXPECT_EQ(edict_cross_validate(dataset_, &warm, sizeof warm, 2, nullptr, &out), EDICT_INPUT);
}

TEST_F(Capi, ACalibratedCopySaysWhatItChanged) {
  const Dataset more = generate_synthetic(300, 9);
  write_csv(more, folder_ / "more.csv");
  edict_dataset* unseen = nullptr;
  ASSERT_EQ(edict_dataset_read((folder_ / "more.csv").c_str(), nullptr, nullptr, &unseen),
            EDICT_OK);
  edict_model* calibrated = nullptr;
  edict_bytes* report = nullptr;
  ASSERT_EQ(edict_calibrate(model_, unseen, "unseen", 1, &report, &calibrated), EDICT_OK)
      << edict_last_error();
  const auto scores = nlohmann::json::parse(text_of(report));
  const auto nll = [&](const char* when) {
    return scores.at(when).at("interpolation").at("nll").at("mean").get<double>();
  };
  EXPECT_LT(nll("after"), nll("before"));
  EXPECT_GT(scores.at("fitted").get<int>(), 20);
  edict_model_free(calibrated);
  calibrated = nullptr;
  EXPECT_EQ(edict_calibrate(model_, unseen, "all", 1, nullptr, &calibrated), EDICT_INPUT);
  EXPECT_EQ(std::string(edict_last_error()), "split=all: give validation or unseen");
  EXPECT_EQ(calibrated, nullptr);
  edict_dataset_free(unseen);
}

TEST_F(Capi, AFileIsReadAsTheTrainingDataWere) {
  const auto write = [&](const char* name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).string();
  };
  const auto read = [](const std::string& file, const char* options, const edict_model* like) {
    edict_dataset* data = nullptr;
    EXPECT_EQ(edict_dataset_read(file.c_str(), options, like, &data), EDICT_OK)
        << edict_last_error();
    return data;
  };
  const auto features = [](const edict_dataset* of) {
    edict_bytes* names = nullptr;
    EXPECT_EQ(edict_dataset_names(of, EDICT_NAMES_FEATURES, &names), EDICT_OK);
    return text_of(names);
  };
  std::string csv = "who,day,x,mode\n";
  for (int i = 0; i < 30; ++i)
    for (int e = 0; e < 4; ++e)
      csv += "p" + std::to_string(i) + ",2024-03-0" + std::to_string(1 + e) + "," +
             std::to_string((i + e) % 5) + "," + (e % 2 ? "on" : "off") + "\n";
  const std::string file = write("train.csv", csv);
  edict_dataset* data = read(file, R"({"id": "who", "time": "day"})", nullptr);
  edict_model* model = nullptr;
  ASSERT_EQ(train(data, training_of(kSettings, ""), &model), EDICT_OK) << edict_last_error();
  // Of these alone nobody could know that "off" is a category.
  const std::string later = write("new.csv", "who,day,x,mode\nq,2024-05-01,1,on\n");
  edict_dataset* alone = read(later, R"({"id": "who", "time": "day"})", nullptr);
  edict_dataset* like = read(later, nullptr, model);
  EXPECT_EQ(features(like), features(data));
  EXPECT_NE(features(alone), features(data));
  // What is said holds before the model's way.
  edict_dataset* less = read(later, R"({"features": ["x"]})", model);
  EXPECT_EQ(features(less), std::string("x\0", 2));
  for (edict_dataset* one : {data, alone, like, less}) edict_dataset_free(one);
  edict_model_free(model);

  edict_dataset* none = nullptr;
  const auto refused = [&](const char* options) {
    EXPECT_EQ(edict_dataset_read(file.c_str(), options, nullptr, &none), EDICT_INPUT);
    return std::string(edict_last_error());
  };
  EXPECT_EQ(refused(R"({"times": "day"})"), "options: unknown 'times'; did you mean 'time'?");
  EXPECT_EQ(refused(R"({"duplicates": "all"})"), "duplicates=all: give mean, first, last or error");
  EXPECT_NE(refused(R"({"id": 3})").find("options: "), std::string::npos);
  EXPECT_NE(refused("no JSON").find("JSON"), std::string::npos) << edict_last_error();
}

TEST_F(Capi, ABuilderRemembersItsTable) {
  const char* const ids[] = {"a"};
  const char* const names[] = {"x"};
  edict_builder* builder = nullptr;
  ASSERT_EQ(edict_builder_new(1, ids, 1, names, &builder), EDICT_OK) << edict_last_error();
  EXPECT_EQ(edict_builder_reading(builder, "{\"id\": 3}"), EDICT_INPUT);
  EXPECT_EQ(edict_builder_reading(builder, "no JSON"), EDICT_INPUT);
  EXPECT_EQ(edict_builder_reading(builder, "{\"time\": \"day\"}"), EDICT_OK);
  const int64_t series[] = {0};
  const double times[] = {0}, values[] = {1};
  const double* const columns[] = {values};
  ASSERT_EQ(edict_builder_rows(builder, 1, series, times, columns, nullptr), EDICT_OK);
  edict_dataset* data = nullptr;
  ASSERT_EQ(edict_builder_dataset(builder, EDICT_DUPLICATES_REFUSE, &data), EDICT_OK);
  edict_bytes* reading = nullptr;
  ASSERT_EQ(edict_dataset_reading(data, &reading), EDICT_OK);
  EXPECT_NE(text_of(reading).find("\"time\":\"day\""), std::string::npos);
  edict_dataset_free(data);
  edict_builder_free(builder);
}

// A program may be older than the library, but not later.
TEST_F(Capi, AShorterTrainingHasZerosForWhatItLacks) {
  edict_training training = training_of(kSettings, "");
  training.members = -1;  // beyond what the shorter one has
  edict_model* model = nullptr;
  ASSERT_EQ(edict_train(dataset_, &training, offsetof(edict_training, members), nullptr, &model),
            EDICT_OK)
      << edict_last_error();
  edict_bytes *shorter = nullptr, *whole = nullptr;
  ASSERT_EQ(edict_model_to_bytes(model, &shorter), EDICT_OK);
  ASSERT_EQ(edict_model_to_bytes(model_, &whole), EDICT_OK);
  EXPECT_TRUE(text_of(shorter) == text_of(whole));
  edict_model_free(model);
  model = nullptr;
  EXPECT_EQ(edict_train(dataset_, &training, sizeof training + 8, nullptr, &model), EDICT_INPUT);
  EXPECT_NE(std::string(edict_last_error()).find("later edict.h"), std::string::npos);
  EXPECT_EQ(model, nullptr);
}

TEST_F(Capi, WhatIsWrongIsACodeAndALine) {
  edict_model* model = nullptr;
  const char* const mistyped[] = {"train.epochz=3"};
  EXPECT_EQ(train(dataset_, training_of(mistyped), &model), EDICT_INPUT);
  EXPECT_EQ(std::string(edict_last_error()),
            "unknown key 'train.epochz'; did you mean 'train.epochs'?");
  EXPECT_EQ(model, nullptr);
  EXPECT_EQ(edict_model_load("/nowhere/at/all", &model), EDICT_INPUT);
  EXPECT_EQ(edict_model_load(nullptr, &model), EDICT_INPUT);
  EXPECT_EQ(std::string(edict_last_error()), "path is NULL");
  EXPECT_EQ(train(nullptr, training_of({}), &model), EDICT_INPUT);
  const double backwards[] = {2, 1};
  std::vector<double> mean(40 * 2 * 3);
  EXPECT_EQ(edict_model_predict(model_, dataset_, 2, backwards, 0, kInf, nullptr, 1, nullptr,
                                mean.data(), nullptr, nullptr, nullptr, nullptr, nullptr),
            EDICT_INPUT);
  const edict_guard unknown = {7, 0, 1.96};
  EXPECT_EQ(
      edict_model_encode(model_, dataset_, &unknown, 1, nullptr, std::vector<float>(40 * 8).data()),
      EDICT_INPUT);
  // Another thread's error is its own.
  std::thread([] { EXPECT_EQ(std::string(edict_last_error()), ""); }).join();
}

TEST_F(Capi, ADatasetGoesOutAsArraysAndComesBackTheSame) {
  edict_dataset_size sizes;
  ASSERT_EQ(edict_dataset_sizes(dataset_, &sizes, sizeof sizes), EDICT_OK);
  ASSERT_EQ(sizes.series, 40);
  std::vector<std::int64_t> first_event(41), first_observation(data_.events() + 1), series;
  std::vector<double> times(data_.events()), values(data_.observations()), row_times;
  std::vector<std::int32_t> features(data_.observations()), labels(40);
  ASSERT_EQ(
      edict_dataset_arrays(dataset_, first_event.data(), times.data(), first_observation.data(),
                           features.data(), values.data(), labels.data(), nullptr, nullptr),
      EDICT_OK);
  for (std::int64_t i = 0; i < 40; ++i)
    for (std::int64_t e = first_event[i]; e < first_event[i + 1]; ++e)
      for (std::int64_t k = first_observation[e]; k < first_observation[e + 1]; ++k) {
        series.push_back(i);
        row_times.push_back(times[e]);
      }
  std::vector<const char*> ids;
  for (const auto& id : data_.ids) ids.push_back(id.c_str());
  const char* const names[] = {"x1", "x2", "x3"};
  const char* const classes[] = {"0", "1"};
  edict_builder* builder = nullptr;
  edict_dataset* built = nullptr;
  ASSERT_EQ(edict_builder_new(40, ids.data(), 3, names, &builder), EDICT_OK);
  ASSERT_EQ(edict_builder_labels(builder, 2, classes, labels.data()), EDICT_OK);
  ASSERT_EQ(edict_builder_observations(builder, sizes.observations, series.data(), row_times.data(),
                                       features.data(), values.data()),
            EDICT_OK);
  ASSERT_EQ(edict_builder_dataset(builder, EDICT_DUPLICATES_REFUSE, &built), EDICT_OK);
  EXPECT_EQ(edict_builder_dataset(builder, EDICT_DUPLICATES_REFUSE, &built), EDICT_INPUT);
  edict_builder_free(builder);
  std::uint64_t before = 0, after = 1;
  edict_dataset_fingerprint(dataset_, &before);
  edict_dataset_fingerprint(built, &after);
  EXPECT_EQ(before, after);

  const std::int64_t two[] = {5, 1}, repeated[] = {5, 5};
  edict_dataset* part = nullptr;
  ASSERT_EQ(edict_dataset_subset(built, 2, two, kInf, &part), EDICT_OK);
  edict_bytes* bytes = nullptr;
  ASSERT_EQ(edict_dataset_names(part, EDICT_NAMES_SERIES, &bytes), EDICT_OK);
  EXPECT_EQ(text_of(bytes), std::string("s00005\0s00001\0", 14));
  edict_dataset_free(part);
  ASSERT_EQ(edict_dataset_subset(built, 2, repeated, kInf, &part), EDICT_OK);
  ASSERT_EQ(edict_dataset_names(part, EDICT_NAMES_SERIES, &bytes), EDICT_OK);
  EXPECT_EQ(text_of(bytes), std::string("s00005\0s00005 (copy 2)\0", 23));
  edict_dataset_free(part);
  edict_dataset_free(built);
}

TEST(CapiDates, AreReadAsThoseOfAFile) {
  const char* texts[] = {"1970-01-02", "01.03.2024 12:30", "1970-01-01T01:00+01:00", "soon", ""};
  double microseconds[5];
  std::int32_t zone[5];
  ASSERT_EQ(edict_read_dates(5, texts, microseconds, zone), EDICT_OK);
  EXPECT_EQ(microseconds[0], 86400e6);
  EXPECT_EQ(microseconds[1], 1709296200e6);
  EXPECT_EQ(microseconds[2], 0);
  EXPECT_TRUE(std::isnan(microseconds[3]) && std::isnan(microseconds[4]));
  EXPECT_EQ(zone[0], EDICT_NO_ZONE);
  EXPECT_EQ(zone[2], 60);
  // One decides between day and month for all; where none does, they are no dates.
  const char* days[] = {"04/03/2024", "13/03/2024", "03/14/2024"};
  ASSERT_EQ(edict_read_dates(3, days, microseconds, zone), EDICT_OK);
  EXPECT_EQ(microseconds[1] - microseconds[0], 9 * 86400e6);
  EXPECT_TRUE(std::isnan(microseconds[2]));
  ASSERT_EQ(edict_read_dates(1, days, microseconds, zone), EDICT_OK);
  EXPECT_TRUE(std::isnan(microseconds[0]));
  EXPECT_EQ(edict_read_dates(1, nullptr, microseconds, zone), EDICT_INPUT);
}

}  // namespace
}  // namespace edict

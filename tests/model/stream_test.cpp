// The streaming class against the batched engine, and its promise not to allocate.
#include "edict/model/stream.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "allocation_count.h"
#include "edict/core/error.h"
#include "edict/model/ask_all.h"

namespace edict {
namespace {

Dataset small_dataset() {
  Dataset data;
  data.features = {"a", "b", "c"};
  data.statics = {"age"};
  Generator rng(5);
  for (int i = 0; i < 12; ++i) {
    const double age = 40 + i;
    data.add_series("s" + std::to_string(i), Dataset::kNone, Dataset::kNone, std::span(&age, 1));
    double t = 0.3;
    for (int e = 0; e < 6; ++e) {
      data.add_event(t += rng.uniform(0.01, 0.9));
      for (int j = 0; j < 3; ++j)
        if (j == e % 3 || rng.uniform() < 0.5) data.add_observation(j, 5 + 2 * rng.normal());
    }
  }
  return data;
}

// By event, as a stream takes them.
std::vector<std::vector<Observation>> observations_of(const Dataset& data) {
  std::vector<std::vector<Observation>> events;
  for (std::size_t e = 0; e < data.events(); ++e)
    events.emplace_back(data.observed(e).begin(), data.observed(e).end());
  return events;
}

Model small_model(const Dataset& data, const std::string& solver) {
  Config config;
  config.model.hidden = 10;
  config.model.solver = solver;
  config.data.start = "zero";
  return Model::create(config, data, split(data, 0));
}

class StreamTest : public testing::TestWithParam<const char*> {};

TEST_P(StreamTest, SaysWhatTheBatchedEngineSays) {
  const Dataset data = small_dataset();
  const Model model = small_model(data, GetParam());
  const std::size_t s = 3;
  std::vector<double> times;
  for (std::size_t e = data.first_event[s]; e < data.first_event[s + 1]; ++e)
    times.push_back(data.times[e]);  // what was expected just before each event
  times.push_back(data.times[data.first_event[s + 1] - 1] + 1.3);

  const Agenda<float> agenda = query_agenda(model.protocol, data, s, times);
  const Example example{&agenda};
  std::vector<Marginal> expected;
  ThreadPool pool(1);
  ask_all(model, {&example, 1}, pool, [&](std::size_t) {
    Asking asking;
    asking.on_query = [&](std::size_t, std::size_t, std::span<const Marginal> features,
                          std::span<const float>) {
      for (std::size_t j = 0; j < features.size(); ++j)
        expected.push_back(to_raw(model.protocol.standardisation, j, features[j]));
    };
    return asking;
  });

  Stream stream(model, data.covariates(s));
  std::size_t k = 0;
  const auto compare = [&](double time) {
    for (const Marginal& m : stream.distribution(time)) {
      EXPECT_NEAR(m.mean, expected[k].mean, 2e-4 * std::abs(expected[k].mean) + 1e-5);
      EXPECT_NEAR(m.epistemic / expected[k].epistemic, 1.0, 1e-3);
      EXPECT_NEAR(m.aleatoric / expected[k].aleatoric, 1.0, 1e-3);
      ++k;
    }
  };
  const auto events = observations_of(data);
  for (std::size_t e = data.first_event[s]; e < data.first_event[s + 1]; ++e) {
    compare(data.times[e]);
    stream.observe(data.times[e], events[e]);
  }
  compare(times.back());
  EXPECT_EQ(k, expected.size());
}

TEST_P(StreamTest, AllocatesNothingAfterConstruction) {
  const Dataset data = small_dataset();
  const Model model = small_model(data, GetParam());
  Stream stream(model, data.covariates(0), 0.0, Guard{Guard::Kind::edgr});
  const auto events = observations_of(data);
  const std::size_t before = allocations();
  for (std::size_t e = data.first_event[0]; e < data.first_event[1]; ++e) {
    stream.distribution(data.times[e]);
    stream.observe(data.times[e], events[e]);
  }
  stream.distribution(stream.now() + 2);
  EXPECT_EQ(allocations(), before);
}

INSTANTIATE_TEST_SUITE_P(All, StreamTest, testing::Values("euler", "midpoint", "rk4", "dopri5"));

TEST(Stream, AskingDoesNotDisturbTheState) {
  const Dataset data = small_dataset();
  const Model model = small_model(data, "euler");
  Stream asked(model), silent(model);
  const Observation seen{1, 4.0};
  for (double t : {0.5, 1.7, 1.7, 2.0}) {
    for (int i = 0; i < 3; ++i) asked.distribution(t + i);
    asked.observe(t, {&seen, 1});
    silent.observe(t, {&seen, 1});
  }
  const auto a = asked.distribution(3.0), b = silent.distribution(3.0);
  for (std::size_t j = 0; j < a.size(); ++j) EXPECT_EQ(a[j].mean, b[j].mean);
}

TEST(Stream, RefusesBadInputAndStaysAsItWas) {
  const Dataset data = small_dataset();
  const Model model = small_model(data, "euler");
  Stream stream(model);
  const Observation good{0, 5.0}, unknown{7, 1.0},
      infinite{0, std::numeric_limits<double>::infinity()}, twice[] = {{1, 1.0}, {1, 2.0}};
  stream.observe(1.0, {&good, 1});
  const double before = stream.distribution(2.0)[0].mean;
  EXPECT_THROW(stream.observe(0.5, {&good, 1}), Error);
  EXPECT_THROW(stream.observe(1.5, {&unknown, 1}), Error);
  EXPECT_THROW(stream.observe(1.5, {&infinite, 1}), Error);
  EXPECT_THROW(stream.observe(1.5, twice), Error);
  EXPECT_THROW(stream.distribution(0.9), Error);
  EXPECT_EQ(stream.distribution(2.0)[0].mean, before);
}

TEST(Stream, EdgrWithAnEndlessEtaIsNoGuardAndOneClipsOntoTheBound) {
  const Dataset data = small_dataset();
  const Model model = small_model(data, "euler");
  Stream plain(model), endless(model, {}, 0.0, Guard{Guard::Kind::edgr, 1e30}),
      clipped(model, {}, 0.0, Guard{Guard::Kind::edgr, 1.96}), bound(model);
  const Observation wild{0, 500.0};
  const Marginal expected = clipped.distribution(1.0)[0];
  const Observation tamed{0, expected.mean + 1.96 * std::sqrt(expected.epistemic)};
  plain.observe(1.0, {&wild, 1});
  endless.observe(1.0, {&wild, 1});
  clipped.observe(1.0, {&wild, 1});
  bound.observe(1.0, {&tamed, 1});
  EXPECT_EQ(plain.distribution(2.0)[0].mean, endless.distribution(2.0)[0].mean);
  EXPECT_NE(plain.distribution(2.0)[0].mean, clipped.distribution(2.0)[0].mean);
  EXPECT_NEAR(bound.distribution(2.0)[0].mean, clipped.distribution(2.0)[0].mean, 1e-5);
}

}  // namespace
}  // namespace edict

// The streaming class against the batched engine, and its promise not to allocate.
#include "ask/stream.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "allocation_count.h"
#include "base/error.h"
#include "engine/variant.h"
#include "model/infer.h"

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

Model small_model(const Dataset& data, const std::string& variant) {
  Config config;
  config.model.hidden = 10;
  set_variant(config, variant);
  config.data.start = ClockStart::zero;
  return Model::create(config, data, split(data, 0));
}

std::shared_ptr<const Model> shared_model(const Dataset& data, const std::string& variant) {
  return std::make_shared<const Model>(small_model(data, variant));
}

void expect_equal(const Marginal& a, const Marginal& b) {
  EXPECT_EQ(a.mean, b.mean);
  EXPECT_EQ(a.aleatoric, b.aleatoric);
  EXPECT_EQ(a.epistemic, b.epistemic);
  EXPECT_EQ(a.dof, b.dof);
}

class StreamTest : public testing::TestWithParam<std::string> {};

// Both are the same engine from the same state by the same steps, so the bits are the same.
TEST_P(StreamTest, SaysWhatTheBatchedEngineSays) {
  const Dataset data = small_dataset();
  const auto model = shared_model(data, GetParam());
  const auto seen = observations_of(data);
  ThreadPool pool(1);
  for (std::size_t s = 0; s < data.size(); ++s) {
    std::vector<double> times;
    for (std::size_t e = data.first_event[s]; e < data.first_event[s + 1]; ++e)
      times.push_back(data.times[e]);  // what was expected just before each event
    times.push_back(data.times[data.first_event[s + 1] - 1] + 1.3);
    const Timeline<float> timeline = query_timeline(model->protocol, data, s, times);
    const Answer expected = infer(*model, examples_of(std::span(&timeline, 1)), pool, {})[0];

    Stream stream(model, data.covariates(s));
    std::size_t k = 0;
    const auto compare = [&](double time) {
      for (const Marginal& m : stream.distribution(time)) {
        expect_equal(m, to_raw(model->protocol.standardisation, k % 3, expected.marginals[k]));
        ++k;
      }
    };
    for (std::size_t e = data.first_event[s]; e < data.first_event[s + 1]; ++e) {
      compare(data.times[e]);
      stream.observe(data.times[e], seen[e]);
    }
    compare(times.back());
    EXPECT_EQ(k, expected.marginals.size());
  }
}

// Without a start a stream begins where the clock of the series starts: at the model's origin, at
// an event before it, or at the first event. Times far from 0 would show any other start.
TEST(StreamStart, IsThatOfPredict) {
  Dataset data = small_dataset();
  for (std::size_t e = 0; e < data.events(); ++e) data.times[e] += 100.0;
  for (std::size_t e = data.first_event[11]; e < data.first_event[12]; ++e) data.times[e] -= 50.0;
  const auto seen = observations_of(data);
  ThreadPool pool(1);
  for (const ClockStart start : {ClockStart::zero, ClockStart::origin, ClockStart::first}) {
    Config config;
    config.model.hidden = 10;
    config.data.start = start;
    if (start == ClockStart::origin) config.data.origin = 99.0;
    const auto model = std::make_shared<const Model>(Model::create(config, data, split(data, 0)));
    for (const std::size_t s : {std::size_t{0}, std::size_t{11}}) {
      const std::size_t first = data.first_event[s], last = data.first_event[s + 1];
      const std::vector<double> times{data.times[first + 1], data.times[last - 1] + 1.3};
      const Timeline<float> timeline = query_timeline(model->protocol, data, s, times);
      const Answer expected = infer(*model, examples_of(std::span(&timeline, 1)), pool, {})[0];
      Stream stream(model, data.covariates(s));
      // A state that has seen nothing comes back from its bytes too, and questions leave it alone.
      stream.distribution(data.times[first]);
      stream.restore(StreamState::from_bytes(stream.state().to_bytes()));
      std::size_t k = 0;
      const auto compare = [&](double time) {
        for (const Marginal& m : stream.distribution(time)) {
          expect_equal(m, to_raw(model->protocol.standardisation, k % 3, expected.marginals[k]));
          ++k;
        }
      };
      for (std::size_t e = first; e < last; ++e) {
        if (e == first + 1) compare(data.times[e]);
        stream.observe(data.times[e], seen[e]);
      }
      compare(times.back());
    }
  }
}

// Before its first event a series of such a model has no clock: any moment is its start.
TEST(StreamStart, OfTheFirstEventAnswersWithTheStartUntilThen) {
  const Dataset data = small_dataset();
  Config config;
  config.model.hidden = 10;
  config.data.start = ClockStart::first;
  StreamEngine engine(std::make_shared<const Model>(Model::create(config, data, split(data, 0))));
  const StreamState state = engine.begin();
  const StreamEngine::Question questions[] = {{&state, 3.0}, {&state, 1e6}};
  const auto answers = engine.distribution(questions);
  for (std::size_t j = 0; j < 3; ++j) expect_equal(answers[j], answers[3 + j]);
}

TEST_P(StreamTest, AllocatesNothingAfterConstruction) {
  const Dataset data = small_dataset();
  Stream stream(shared_model(data, GetParam()), data.covariates(0), 0.0, Guard{Guard::Kind::edgr});
  const auto events = observations_of(data);
  const std::size_t before = allocations();
  for (std::size_t e = data.first_event[0]; e < data.first_event[1]; ++e) {
    stream.distribution(data.times[e]);
    stream.observe(data.times[e], events[e]);
  }
  stream.distribution(stream.now() + 2);
  stream.distribution(stream.now() + 20);
  EXPECT_EQ(allocations(), before);
}

// Batches of any size, in any order, and a stop in the middle: the same bytes.
TEST_P(StreamTest, AnEngineServesManyAsItServesOne) {
  const Dataset data = small_dataset();
  const auto model = shared_model(data, GetParam());
  StreamEngine engine(model);
  std::vector<StreamState> alone, together;
  for (std::size_t s = 0; s < data.size(); ++s) {
    alone.push_back(engine.begin(0.0, data.covariates(s)));
    together.push_back(alone.back());
  }
  const auto seen = observations_of(data);
  for (std::size_t e = 0; e < 6; ++e) {
    std::vector<StreamEngine::Event> events;
    for (std::size_t s = data.size(); s-- > 0;) {
      const std::size_t event = data.first_event[s] + e;
      events.push_back({&together[s], data.times[event], seen[event]});
      const StreamEngine::Event one{&alone[s], data.times[event], seen[event]};
      engine.observe({&one, 1});
    }
    engine.observe(events);
    EXPECT_EQ(alone, together);
    // Kept, forgotten and brought back.
    for (StreamState& state : together) {
      state = StreamState::from_bytes(state.to_bytes());
    }
  }
  std::vector<StreamEngine::Question> questions;
  for (std::size_t s = 0; s < data.size(); ++s)
    for (const double later : {0.0, 0.03, 0.03, 2.9, 0.7, 0.74, 20.0})  // in order and not
      questions.push_back({&together[s], 9.0 + later + 0.1 * static_cast<double>(s)});
  const auto span = engine.distribution(questions);
  const std::vector<Marginal> all(span.begin(), span.end());
  for (std::size_t q = 0; q < questions.size(); ++q) {
    const auto one = engine.distribution({&questions[q], 1});
    for (std::size_t j = 0; j < 3; ++j) expect_equal(one[j], all[3 * q + j]);
  }
}

INSTANTIATE_TEST_SUITE_P(All, StreamTest, testing::ValuesIn(variants()),
                         [](const auto& variant) { return variant.param; });

TEST(Stream, AskingDoesNotDisturbTheState) {
  const Dataset data = small_dataset();
  const auto model = shared_model(data, "euler");
  Stream asked(model), silent(model);
  const Observation seen{1, 4.0};
  for (double t : {0.5, 1.7, 1.7, 2.0}) {
    for (int i = 0; i < 3; ++i) asked.distribution(t + i);
    asked.observe(t, {&seen, 1});
    silent.observe(t, {&seen, 1});
  }
  EXPECT_EQ(asked.state(), silent.state());
}

// A stream owns its model: a temporary one may go, and another may be moved.
TEST(Stream, OutlivesTheModelItWasMadeFrom) {
  const Dataset data = small_dataset();
  Stream stream(small_model(data, "euler"));
  Model moved = small_model(data, "euler");
  Stream other(std::move(moved));
  const Observation seen{0, 5.0};
  stream.observe(1.0, {&seen, 1});
  other.observe(1.0, {&seen, 1});
  EXPECT_EQ(stream.state(), other.state());
}

TEST(Stream, RefusesBadInputAndStaysAsItWas) {
  const Dataset data = small_dataset();
  const auto model = shared_model(data, "dopri5");
  Stream stream(model);
  const Observation good{0, 5.0}, unknown{7, 1.0},
      infinite{0, std::numeric_limits<double>::infinity()}, twice[] = {{1, 1.0}, {1, 2.0}};
  stream.observe(1.0, {&good, 1});
  const StreamState before = stream.state();
  EXPECT_THROW(stream.observe(0.5, {&good, 1}), Error);
  EXPECT_THROW(stream.observe(1.5, {&unknown, 1}), Error);
  EXPECT_THROW(stream.observe(1.5, {&infinite, 1}), Error);
  EXPECT_THROW(stream.observe(1.5, twice), Error);
  EXPECT_THROW(stream.distribution(0.9), Error);
  EXPECT_THROW(stream.observe(std::nan(""), {&good, 1}), Error);
  for (const double eta : {-1.0, std::nan("")})
    EXPECT_THROW(Stream(model, {}, 0.0, Guard{Guard::Kind::edgr, eta}), Error);
  // One bad event of a batch leaves the good ones undone too.
  StreamEngine engine(model);
  StreamState a = engine.begin(), b = engine.begin();
  const StreamState start = a;
  const StreamEngine::Event events[] = {{&a, 1.0, {&good, 1}}, {&b, 1.0, {&unknown, 1}}};
  EXPECT_THROW(engine.observe(events), Error);
  const StreamEngine::Event same[] = {{&a, 1.0, {&good, 1}}, {&a, 2.0, {&good, 1}}};
  EXPECT_THROW(engine.observe(same), Error);
  EXPECT_EQ(a, start);
  EXPECT_EQ(stream.state(), before);
}

// An overflow in the jump is found at the event that made it, not at the next one: only there is it
// known which values to leave out.
TEST(Stream, RefusesAValueThatMakesItsStateNotFinite) {
  const Dataset data = small_dataset();
  Model fragile = small_model(data, "euler");
  for (const Tensor& tensor : fragile.network->layout().tensors())
    if (tensor.name.find("encoder") != std::string::npos)
      for (Index i = tensor.offset; i < tensor.offset + tensor.size; ++i)
        fragile.first().params[static_cast<std::size_t>(i)] *= 1e12f;
  Stream stream(std::make_shared<const Model>(std::move(fragile)));
  const Observation good{0, 5.0}, absurd{0, 1e300};
  stream.observe(1.0, {&good, 1});
  const StreamState before = stream.state();
  EXPECT_THROW(stream.observe(1.5, {&absurd, 1}), Error);
  EXPECT_EQ(stream.state(), before);
  stream.observe(1.5, {&good, 1});
  for (const Marginal& m : stream.distribution(2.0)) EXPECT_TRUE(std::isfinite(m.mean));
}

// 1e300 is no measurement, but legal: it enters as the largest value that the model can bear, in a
// stream as in a batch.
TEST_P(StreamTest, BearsAbsurdValuesAsTheBatchDoes) {
  Dataset data = small_dataset();
  const auto model = shared_model(data, GetParam());
  Stream stream(model);
  const Observation absurd[] = {{0, 1e300}, {1, -1e300}};
  stream.observe(1.0, absurd);
  for (const Marginal& m : stream.distribution(2.0)) {
    EXPECT_TRUE(std::isfinite(m.mean));
    EXPECT_GT(m.scale, 0.0);
  }
  Dataset same;
  same.features = data.features;
  same.statics = data.statics;
  const double missing = std::nan("");
  same.add_series("s", Dataset::kNone, Dataset::kNone, {&missing, 1});
  same.add_event(1.0);
  for (const Observation& o : absurd) same.add_observation(o.feature, o.value);
  const Timeline<float> timeline = query_timeline(model->protocol, same, 0, {2.0});
  ThreadPool pool(1);
  const Answer batch = infer(*model, examples_of(std::span(&timeline, 1)), pool, {})[0];
  for (std::size_t j = 0; j < 3; ++j)
    expect_equal(stream.distribution(2.0)[j],
                 to_raw(model->protocol.standardisation, j, batch.marginals[j]));
}

TEST(Stream, EdgrWithAnEndlessEtaIsNoGuardAndOneClipsOntoTheBound) {
  const Dataset data = small_dataset();
  const auto model = shared_model(data, "euler");
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
  // The bound goes through the data's unit and back, which rounds.
  EXPECT_NEAR(bound.distribution(2.0)[0].mean, clipped.distribution(2.0)[0].mean, 1e-5);
}

TEST(StreamState, IsRefusedWhenDamagedOrOfAnotherModel) {
  const Dataset data = small_dataset();
  StreamEngine engine(shared_model(data, "euler"));
  const StreamState state = engine.begin(0.5);
  EXPECT_EQ(state.time(), 0.5);
  std::vector<std::byte> bytes = state.to_bytes();
  EXPECT_EQ(StreamState::from_bytes(bytes), state);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    auto damaged = bytes;
    damaged[i] ^= std::byte{1};
    EXPECT_THROW(StreamState::from_bytes(damaged), Error) << i;
    EXPECT_THROW(StreamState::from_bytes(std::span(bytes).first(i)), Error) << i;
  }
  bytes.push_back(std::byte{0});
  EXPECT_THROW(StreamState::from_bytes(bytes), Error);

  StreamEngine other(shared_model(data, "rk4"));
  const Observation seen{0, 5.0};
  StreamState foreign = state;
  const StreamEngine::Event event{&foreign, 1.0, {&seen, 1}};
  EXPECT_THROW(other.observe({&event, 1}), Error);
  StreamState never;
  const StreamEngine::Event begun{&never, 1.0, {&seen, 1}};
  EXPECT_THROW(engine.observe({&begun, 1}), Error);
}

// h of 100 numbers, its clock, and what tells it apart: a hundred thousand of them are 50 MB.
TEST(StreamState, IsSmall) {
  const Dataset data = small_dataset();
  Config config;
  config.model.hidden = 100;
  StreamEngine engine(std::make_shared<const Model>(Model::create(config, data, split(data, 0))));
  EXPECT_EQ(engine.begin().to_bytes().size(), 48u + 4 * 100);
}

}  // namespace
}  // namespace edict

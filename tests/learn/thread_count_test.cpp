// The same bits for every number of threads, where several chunks are really shared among them:
// 280 training series in batches of 256 and 24, which are eight chunks of 32 and one.
#include <gtest/gtest.h>

#include "ask/classification.h"
#include "base/json/json.h"
#include "base/json/json_text.h"
#include "engine/small_model.h"
#include "engine/variant.h"
#include "judge/evaluate.h"
#include "learn/classifier/classifier_training.h"
#include "model/encode.h"
#include "render/json/scores_json.h"

namespace edict {
namespace {

const Dataset& data() {
  static const Dataset d = generate_synthetic(400, 5);
  return d;
}

Config config(const std::string& kind, std::int64_t chunk = 32) {
  Config c = small_synthetic_config();
  if (kind == "bounded")  // with everything that replaces a part of the jump ODE
    set_variant(c, kind);
  else
    c.model.kind = kind;
  c.model.hidden = 8;
  c.model.step = 0.5;
  c.train.epochs = 3;
  c.train.batch = c.classify.batch = 256;
  c.train.chunk = chunk;
  c.train.thin = 0.1;
  c.train.forecast = 0.5;
  c.classify.epochs = 3;
  c.classify.fine_tune = 2;
  return c;
}

// Everything that threads take part in.
struct Results {
  std::vector<float> trained, tuned, states;
  std::vector<double> rows, probabilities;
  std::string evaluation;
};

void append(const Vector<float>& from, std::vector<float>& to) {
  to.insert(to.end(), from.data(), from.data() + from.size());
}

void append(const std::vector<EpochRow>& rows, std::vector<double>& to) {
  for (const EpochRow& r : rows)
    for (const double value : {r.nll, r.kl, r.evidence, r.loss, r.validation_nll, r.validation_mse,
                               r.cross_entropy, r.validation_cross_entropy, r.validation_accuracy})
      to.push_back(value);
}

Results results(const Config& c, std::size_t threads) {
  ThreadPool pool(threads);
  EXPECT_EQ(pool.size(), threads);
  Results r;
  Model model = untrained_model(data(), c);
  const Split parts = model.split(data());
  EXPECT_GT(parts.train.size(), 256u);
  append(train(model, data(), parts, pool, {}).rows, r.rows);
  append(model.first().params, r.trained);
  const std::vector<std::size_t> all = every_series(data());  // 400: 13 chunks
  if (model.network->has_distribution()) {
    r.evaluation = json_text(to_json(evaluate(model, data(), all, pool)));
    const Matrix<float> states = encode(model, data(), all, pool).states;
    r.states.assign(states.data(), states.data() + states.size());
    ClassifierOptions options;
    options.settings = c.classify;
    ClassifierResult tuned = train_classifier(model, data(), parts, pool, options);
    append(tuned.fine_tuning, r.rows);
    for (const ClassifierRun& run : tuned.runs) append(run.params, r.tuned);
    append(tuned.model.first().params, r.tuned);
    model = std::move(tuned.model);
  }
  r.probabilities = class_probabilities(model, data(), all, pool).values;
  return r;
}

class ThreadCount : public testing::TestWithParam<const char*> {};

TEST_P(ThreadCount, DoesNotChangeABit) {
  const Results one = results(config(GetParam()), 1);
  EXPECT_FALSE(one.trained.empty());
  EXPECT_FALSE(one.probabilities.empty());
  for (const std::size_t threads : {2u, 3u, 8u}) {
    SCOPED_TRACE(threads);
    const Results several = results(config(GetParam()), threads);
    EXPECT_EQ(several.trained, one.trained);
    EXPECT_EQ(several.tuned, one.tuned);
    EXPECT_EQ(several.rows, one.rows);
    EXPECT_EQ(several.states, one.states);
    EXPECT_EQ(several.evaluation, one.evaluation);
    EXPECT_EQ(several.probabilities, one.probabilities);
  }
  // That there are several chunks at all: in one chunk a batch adds up in another order.
  EXPECT_NE(results(config(GetParam(), 256), 1).trained, one.trained);
}

INSTANTIATE_TEST_SUITE_P(Kinds, ThreadCount,
                         testing::Values("edict", "bounded", "gru-ode-bayes", "gru-d", "ipn",
                                         "seft"),
                         [](const auto& kind) {
                           std::string name = kind.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace edict

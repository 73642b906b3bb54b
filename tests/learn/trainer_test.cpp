#include "learn/trainer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/error.h"
#include "learn/checkpoint.h"
#include "research/import/synthetic.h"

namespace edict {
namespace {

TEST(Trainer, OverfitsOneBatch) {
  const Dataset data = generate_synthetic(12, 3);
  const Split parts = split(data, 0);
  Config config;
  config.data.t_cut = 3 * 3.14159265358979;
  config.train.epochs = 600;
  config.train.batch = 16;  // all of the training split
  config.train.learning_rate = 5e-3;
  config.loss.evidence = 0;
  config.loss.kl = 0;
  Model model = Model::create(config, data, parts);
  ThreadPool pool(1);
  TrainOptions options;
  const TrainResult result = train(model, data, parts, pool, options);
  // From knowing nothing (a standardised value costs about 1.4 nats) to knowing the eight by heart.
  EXPECT_GT(result.rows.front().nll, 1.0);
  EXPECT_LT(result.rows.back().nll, -1.0);
}

TEST(Trainer, ThinningLeavesOutAShareDrawnAnewEachEpochWhateverTheThreads) {
  const Dataset data = generate_synthetic(300, 3);
  const Split parts = split(data, 0);
  const auto observations_of_epochs = [&](double share, std::size_t threads, Model& model) {
    Config config;
    config.data.t_cut = 3 * 3.14159265358979;
    config.model.hidden = 8;
    config.train.epochs = 2;
    config.train.batch = 64;
    config.train.thin = share;
    model = Model::create(config, data, parts);
    ThreadPool pool(threads);
    std::vector<double> counts(2);
    TrainOptions options;
    options.on_batch = [&](std::int64_t epoch, std::int64_t, std::int64_t, const LossSums& sums) {
      counts[static_cast<std::size_t>(epoch - 1)] = sums.observations;
    };
    train(model, data, parts, pool, options);
    return counts;
  };
  Model one, two, whole;
  const auto thinned = observations_of_epochs(0.3, 1, one);
  EXPECT_EQ(thinned, observations_of_epochs(0.3, 2, two));
  EXPECT_EQ(one.first().params, two.first().params);
  EXPECT_NE(thinned[0], thinned[1]);
  const auto all = observations_of_epochs(0.0, 1, whole);
  EXPECT_EQ(all[0], all[1]);
  for (const double count : thinned)  // four standard errors
    EXPECT_NEAR(count / all[0], 0.7, 4 * std::sqrt(0.7 * 0.3 / all[0]));
}

TEST(Trainer, StopsEarlyAndKeepsTheBest) {
  const Dataset data = generate_synthetic(40, 3);
  const Split parts = split(data, 0);
  Config config;
  config.train.epochs = 300;
  config.train.batch = 8;
  config.train.patience = 5;
  config.train.learning_rate = 1e-2;
  config.model.hidden = 16;
  Model model = Model::create(config, data, parts);
  std::vector<Vector<float>> after;  // each epoch
  TrainOptions options;
  options.on_epoch = [&](const EpochRow&) { after.push_back(model.first().params); };
  ThreadPool pool(1);
  const TrainResult result = train(model, data, parts, pool, options);
  ASSERT_TRUE(result.stopped_early);
  ASSERT_LT(result.rows.size(), 300u);
  const std::size_t best = result.rows.size() - 6;  // five without a better one came after it
  double lowest = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < result.rows.size(); ++i) {
    EXPECT_EQ(result.rows[i].best, result.rows[i].validation_nll < lowest) << i;
    lowest = std::min(lowest, result.rows[i].validation_nll);
  }
  EXPECT_EQ(result.rows[best].validation_nll, lowest);
  EXPECT_EQ(model.first().params, after[best]);
  EXPECT_NE(model.first().params, after.back());
}

TEST(Trainer, ANonFiniteLossNamesSeriesAndEvent) {
  Dataset data = generate_synthetic(20, 3);
  const Split parts = split(data, 0);
  Model model = Model::create({}, data, parts);
  model.first().params[model.first().params.size() - 1] = std::numeric_limits<float>::quiet_NaN();
  ThreadPool pool(2);
  try {
    train(model, data, parts, pool, {});
    FAIL() << "no error";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("series s000"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("event 0 at time"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace edict

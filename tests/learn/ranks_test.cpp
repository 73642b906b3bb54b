// Training by several processes, here played by threads that talk to each other: the same bits as
// one process, however many there are.
#include "base/threads/ranks.h"

#include <gtest/gtest.h>

#include <barrier>
#include <optional>
#include <thread>

#include "engine/small_model.h"
#include "judge/evaluate.h"
#include "learn/classifier/classifier_training.h"
#include "learn/trainer.h"
#include "temporary_folder.h"

namespace edict {
namespace {

// What the processes of a team have in common.
struct Table {
  explicit Table(std::size_t size)
      : barrier(static_cast<std::ptrdiff_t>(size)), letters(size), failures(size) {}

  std::barrier<> barrier;
  std::vector<std::vector<Ranks::Bytes>> letters;  // from, to
  std::vector<std::optional<std::string>> failures;
  std::atomic<bool> asked = false;
};

class ThreadRanks : public Ranks {
 public:
  ThreadRanks(Table& table, std::size_t rank) : table_(table), rank_(rank) {}

  std::size_t rank() const override { return rank_; }
  std::size_t size() const override { return table_.letters.size(); }
  const std::atomic<bool>& stop_flag() const override { return stop_; }
  void meet(const std::string* failure) override {
    table_.failures[rank_] = failure ? std::optional(*failure) : std::nullopt;
    table_.barrier.arrive_and_wait();
    std::optional<std::string> first;
    for (const auto& own : table_.failures)
      if (own && !first) first = own;
    const bool asked = table_.asked;
    table_.barrier.arrive_and_wait();
    if (asked) stop_ = true;
    if (first) throw Error(*first);
  }
  std::vector<Bytes> exchange(const std::vector<Bytes>& to) override {
    table_.letters[rank_] = to;
    table_.barrier.arrive_and_wait();
    std::vector<Bytes> from;
    for (const auto& letters : table_.letters) from.push_back(letters[rank_]);
    table_.barrier.arrive_and_wait();
    return from;
  }
  std::vector<Bytes> gather(std::span<const std::byte> own) override {
    return exchange(std::vector<Bytes>(size(), Bytes(own.begin(), own.end())));
  }

 private:
  Table& table_;
  std::size_t rank_;
  std::atomic<bool> stop_ = false;
};

// work(pool, ranks) in each of `size` processes with two threads each.
template <class Work>
void together(std::size_t size, const Work& work) {
  Table table(size);
  std::vector<std::thread> processes;
  for (std::size_t r = 0; r < size; ++r)
    processes.emplace_back([&, r] {
      ThreadRanks ranks(table, r);
      ThreadPool pool(r % 2 + 1, &ranks);
      work(pool, ranks, table);
    });
  for (std::thread& process : processes) process.join();
}

Config chunky() {
  Config config = small_synthetic_config();
  config.train.epochs = 2;
  config.train.batch = 40;
  config.train.chunk = 8;
  config.train.thin = 0.1;
  config.train.forecast = 0.3;
  config.train.calibrate = true;
  config.model.hidden = 8;
  config.model.step = 0.5;
  return config;
}

TEST(Ranks, AnyNumberOfProcessesTrainsTheSameModel) {
  const Dataset& data = small_synthetic();
  Model alone = untrained_model(data, chunky());
  ThreadPool pool(1);
  const TrainResult expected = train(alone, data, alone.split(data), pool, {});
  const Evaluation judged = evaluate(alone, data, alone.split(data).test, pool);
  for (const std::size_t size : {2, 3, 8}) {
    together(size, [&](ThreadPool& own, ThreadRanks& ranks, Table&) {
      Model model = untrained_model(data, chunky());
      const TrainResult result = train(model, data, model.split(data), own, {});
      ASSERT_EQ(model.first().params.size(), alone.first().params.size());
      EXPECT_TRUE((model.first().params.array() == alone.first().params.array()).all())
          << "rank " << ranks.rank() << " of " << size;
      EXPECT_EQ(result.rows.back().validation_nll, expected.rows.back().validation_nll);
      EXPECT_EQ(result.rows.back().nll, expected.rows.back().nll);
      const Evaluation own_judged = evaluate(model, data, model.split(data).test, own);
      EXPECT_EQ(own_judged.interpolation->nll.mean, judged.interpolation->nll.mean);
      EXPECT_EQ(own_judged.extrapolation->crps.mean, judged.extrapolation->crps.mean);
    });
  }
}

TEST(Ranks, ClassifiersToo) {
  const Dataset& data = small_synthetic();
  ClassifierOptions options;
  options.settings = small_synthetic_config().classify;
  options.settings.fine_tune = 1;
  options.seeds = {0, 1};
  const Model& frozen = small_trained_model();
  ThreadPool pool(2);
  const Model alone = train_classifier(frozen, data, frozen.split(data), pool, options).model;
  together(3, [&](ThreadPool& own, ThreadRanks&, Table&) {
    const Model model = train_classifier(frozen, data, frozen.split(data), own, options).model;
    EXPECT_TRUE((model.first().params.array() == alone.first().params.array()).all());
  });
}

// One is asked to stop; all leave after the same batch, and what it kept goes on with another
// number of them.
TEST(Ranks, StopTogetherAndGoOnWithAnotherNumber) {
  const Dataset& data = small_synthetic();
  const TemporaryFolder folder;
  Model whole = untrained_model(data, chunky());
  ThreadPool pool(2);
  TrainOptions options;
  options.out = folder / "whole";
  train(whole, data, whole.split(data), pool, options);
  together(3, [&](ThreadPool& own, ThreadRanks& ranks, Table& table) {
    Model model = untrained_model(data, chunky());
    TrainOptions stopped;
    stopped.out = folder / ("part-" + std::to_string(ranks.rank()));
    stopped.stop = &ranks.stop_flag();
    if (ranks.rank() == 1)
      stopped.on_batch = [&](std::int64_t epoch, std::int64_t batch, std::int64_t,
                             const LossSums&) {
        if (epoch == 2 && batch == 1) table.asked = true;
      };
    const TrainResult result = train(model, data, model.split(data), own, stopped);
    EXPECT_TRUE(result.interrupted);
    EXPECT_EQ(result.rows.size(), 1u) << "the epoch that was left half-way is forgotten";
  });
  std::filesystem::copy(checkpoint_path(folder / "part-0"), checkpoint_path(folder / "again-0"));
  std::filesystem::copy(checkpoint_path(folder / "part-2"), checkpoint_path(folder / "again-1"));
  together(2, [&](ThreadPool& own, ThreadRanks& ranks, Table&) {
    Model model = untrained_model(data, chunky());
    TrainOptions resumed;
    resumed.resume = true;
    resumed.out = folder / ("again-" + std::to_string(ranks.rank()));
    train(model, data, model.split(data), own, resumed);
    EXPECT_TRUE((model.first().params.array() == whole.first().params.array()).all());
  });
  EXPECT_EQ(folder.read("again-0"), folder.read("whole"));
}

TEST(Ranks, OneThatFailsIsTheErrorOfAll) {
  const Dataset& data = small_synthetic();
  std::atomic<int> told = 0;
  together(3, [&](ThreadPool& own, ThreadRanks& ranks, Table&) {
    Model model = untrained_model(data, chunky());
    // Data that differ would end in models that differ.
    Dataset mine = data;
    if (ranks.rank() == 2) mine.value[0] += 1;
    const TemporaryFolder folder;
    TrainOptions options;
    options.out = folder / "m";
    try {
      train(model, mine, model.split(mine), own, options);
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("rank 2"), std::string::npos) << error.what();
      ++told;
    }
  });
  EXPECT_EQ(told, 3);
}

}  // namespace
}  // namespace edict

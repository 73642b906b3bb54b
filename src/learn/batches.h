// What the batches of an epoch learn from: the training series in an order of the epoch's own,
// thinned and cut as the settings ask. Everything drawn is keyed by the number of the epoch and the
// place of the series, so that an epoch needs nothing from the ones before it, and neither the
// batch that a series falls into nor a thread changes what it draws.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/generator.h"
#include "base/threads/interrupted.h"
#include "base/threads/thread_pool.h"
#include "engine/network.h"
#include "learn/training_set.h"
#include "model/model.h"

namespace edict {

struct Batch {
  std::span<const Example> examples;
  double observations = 0, labelled = 0;
};

class Batches {
 public:
  // All of them must outlive it.
  Batches(const Model& model, const TrainingSet& set, const TrainSettings& settings,
          ThreadPool& pool);

  // Of an epoch: for the number of batches, see `count`. May throw Interrupted.
  void begin(std::int64_t epoch, StopFlag stop);
  std::int64_t count() const { return count_; }
  // Valid until the next one is written.
  Batch write(std::int64_t number);
  // Where the batch written last begins, for messages.
  const std::string& first_series() const { return written_.front().id; }

 private:
  void learn_from(const Timelines& timelines);
  std::span<std::size_t> places_of(std::int64_t number);
  void sort_by_cost(std::span<std::size_t> places) const;
  std::int32_t label_of(std::size_t i) const {
    return set_.windows ? Dataset::kNone : set_.train_labels[i];
  }
  Generator draws(std::string_view purpose, std::size_t i) const;
  double absorb_until(const Timeline<float>& timeline, std::size_t i) const;

  const Model& model_;
  const TrainingSet& set_;
  const TrainSettings& settings_;
  ThreadPool& pool_;
  Timelines train_;  // of the epoch
  std::int64_t epoch_ = 0;
  std::int64_t cut_for_ = 0;  // the epoch that they were cut for, where series are long
  std::int64_t count_ = 0;
  std::vector<double> costs_;
  std::vector<std::size_t> order_;
  std::vector<std::vector<float>> carried_;  // states in which they start, where series are long
  std::vector<Timeline<float>> written_, thinned_;  // of the batch
  std::vector<Example> examples_;
};

}  // namespace edict

// What a training run learns from, what its loss is made of, and by what its epochs are compared.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "edict/core/thread_pool.h"
#include "edict/model/model.h"

namespace edict {

// Of the validation split, the lower the better.
enum class Criterion { nll, cross_entropy };

// The agendas of some series. Each is written when it is asked for and not kept: of data that are
// larger than memory a run holds those of a batch.
class Agendas {
 public:
  using Write = std::function<Agenda<float>(std::size_t series)>;
  using ReadAhead = std::function<void(std::span<const std::size_t> series)>;

  Agendas() = default;
  // `write` may be called by several threads at once; `read_ahead` is told what it will soon be
  // called for.
  Agendas(std::vector<std::size_t> series, Write write, ReadAhead read_ahead = {})
      : series_(std::move(series)), write_(std::move(write)), read_ahead_(std::move(read_ahead)) {}

  // Those that were written already.
  static Agendas of(std::vector<Agenda<float>> agendas);

  std::size_t size() const { return series_.size(); }
  bool empty() const { return series_.empty(); }
  Agenda<float> operator[](std::size_t i) const { return write_(series_[i]); }

  // Those of these places are asked for next.
  void read_ahead(std::span<const std::size_t> places) const;

  // Those of [first, first + count), or of all.
  std::vector<Agenda<float>> written(std::size_t first, std::size_t count, ThreadPool& pool) const;
  std::vector<Agenda<float>> written() const;

  // Each of them read from its end (protocol/reversed.h).
  Agendas reversed() const;

  // Every n-th, so that short and long series are there as among all.
  Agendas every(double stride) const;

 private:
  std::vector<std::size_t> series_;
  Write write_;
  ReadAhead read_ahead_;
};

// The data that a set was made of must outlive it.
struct TrainingSet {
  Agendas train, validation;
  std::vector<std::int32_t> train_labels, validation_labels;  // one an agenda, or kNone
  double evidential = 1.0;      // weight of the evidential loss per observation
  double classification = 0.0;  // weight of the cross-entropy per labelled series
  Criterion criterion = Criterion::nll;
  bool start_counts = false;  // the parameters before the first epoch may be the best: row 0
};

// The distribution of the observations before t_cut, judged on the held-out and later ones.
TrainingSet distribution_training_set(const Model& model, const Dataset& data, const Split& split);

// The same series from their end: nothing but what is told of the past by the future is learnt and
// judged.
TrainingSet reversed_training_set(const TrainingSet& set);

// The classes of the labelled series, from everything that was observed; for models without a
// distribution. Throws what check_labels throws.
TrainingSet class_training_set(const Model& model, const Dataset& data, const Split& split);

// Both at once, unlabelled series counting for their distribution only; judged by the classes.
TrainingSet joint_training_set(const Model& model, const Dataset& data, const Split& split,
                               double evidential);

// Throws Error unless the training part holds two classes and the validation part any label.
void check_labels(const Model& model, std::span<const std::int32_t> labels, const Split& split);

}  // namespace edict

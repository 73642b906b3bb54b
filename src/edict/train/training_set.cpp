#include "edict/train/training_set.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>

#include "edict/core/error.h"
#include "edict/protocol/reversed.h"

namespace edict {
namespace {

enum class Unlabelled { kept, left_out };

Agendas::ReadAhead reading_ahead(const Dataset& data) {
  return [&data](std::span<const std::size_t> series) { data.read_ahead(series); };
}

void add_encoded(const Model& model, const Dataset& data, const std::vector<std::size_t>& series,
                 std::span<const std::int32_t> labels, Unlabelled unlabelled, bool scored,
                 Agendas& agendas, std::vector<std::int32_t>& own) {
  std::vector<std::size_t> taken;
  for (const std::size_t i : series) {
    if (unlabelled == Unlabelled::left_out && labels[i] == Dataset::kNone) continue;
    taken.push_back(i);
    own.push_back(labels[i]);
  }
  agendas = {std::move(taken),
             [protocol = model.protocol, &data, scored](std::size_t i) {
               return encoding_agenda(protocol, data, i, scored);
             },
             reading_ahead(data)};
}

}  // namespace

Agendas Agendas::of(std::vector<Agenda<float>> agendas) {
  std::vector<std::size_t> places(agendas.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  const auto kept = std::make_shared<const std::vector<Agenda<float>>>(std::move(agendas));
  return {std::move(places), [kept](std::size_t i) { return (*kept)[i]; }};
}

void Agendas::read_ahead(std::span<const std::size_t> places) const {
  if (!read_ahead_) return;
  std::vector<std::size_t> series;
  for (const std::size_t place : places) series.push_back(series_[place]);
  read_ahead_(series);
}

std::vector<Agenda<float>> Agendas::written(std::size_t first, std::size_t count,
                                            ThreadPool& pool) const {
  if (read_ahead_) read_ahead_(std::span(series_).subspan(first, count));
  std::vector<Agenda<float>> result(count);
  pool.for_each(count, [&](std::size_t k, std::size_t) { result[k] = (*this)[first + k]; });
  return result;
}

std::vector<Agenda<float>> Agendas::written() const {
  std::vector<Agenda<float>> result;
  for (std::size_t i = 0; i < size(); ++i) result.push_back((*this)[i]);
  return result;
}

Agendas Agendas::every(double stride) const {
  std::vector<std::size_t> some;
  for (double at = 0; at < static_cast<double>(size()); at += stride)
    some.push_back(series_[static_cast<std::size_t>(at)]);
  return {std::move(some), write_, read_ahead_};
}

Agendas Agendas::reversed() const {
  return {series_, [write = write_](std::size_t i) { return edict::reversed(write(i)); },
          read_ahead_};
}

TrainingSet reversed_training_set(const TrainingSet& set) {
  TrainingSet other = set;
  other.train = set.train.reversed();
  other.validation = set.validation.reversed();
  return other;
}

TrainingSet distribution_training_set(const Model& model, const Dataset& data, const Split& split) {
  TrainingSet set;
  set.train = {split.train,
               [protocol = model.protocol, &data, whole = model.config.train.whole_series](
                   std::size_t i) { return training_agenda(protocol, data, i, whole); },
               reading_ahead(data)};
  set.validation = {split.validation,
                    [protocol = model.protocol, settings = model.config.data, &data](
                        std::size_t i) { return evaluation_agenda(protocol, settings, data, i); },
                    reading_ahead(data)};
  set.train_labels.assign(set.train.size(), Dataset::kNone);
  set.validation_labels.assign(set.validation.size(), Dataset::kNone);
  return set;
}

TrainingSet class_training_set(const Model& model, const Dataset& data, const Split& split) {
  const std::vector<std::int32_t> labels = model.labels(data);
  check_labels(model, labels, split);
  TrainingSet set;
  set.evidential = 0.0;
  set.classification = 1.0;
  set.criterion = Criterion::cross_entropy;
  add_encoded(model, data, split.train, labels, Unlabelled::left_out, false, set.train,
              set.train_labels);
  add_encoded(model, data, split.validation, labels, Unlabelled::left_out, false, set.validation,
              set.validation_labels);
  return set;
}

TrainingSet joint_training_set(const Model& model, const Dataset& data, const Split& split,
                               double evidential) {
  const std::vector<std::int32_t> labels = model.labels(data);
  check_labels(model, labels, split);
  TrainingSet set;
  set.evidential = evidential;
  set.classification = 1.0;
  // Where one class is rare, accuracy hardly moves while the ranking still improves.
  set.criterion = Criterion::cross_entropy;
  set.start_counts = true;
  add_encoded(model, data, split.train, labels,
              evidential > 0 ? Unlabelled::kept : Unlabelled::left_out, evidential > 0, set.train,
              set.train_labels);
  add_encoded(model, data, split.validation, labels, Unlabelled::left_out, false, set.validation,
              set.validation_labels);
  return set;
}

void check_labels(const Model& model, std::span<const std::int32_t> labels, const Split& split) {
  std::vector<std::size_t> count(model.classes.size());
  for (const std::size_t i : split.train)
    if (labels[i] != Dataset::kNone) ++count[static_cast<std::size_t>(labels[i])];
  const auto present = [](std::size_t n) { return n > 0; };
  const auto first = std::find_if(count.begin(), count.end(), present);
  if (first == count.end())
    throw Error("no series of the training split has a label; add a label column to the data");
  if (std::count_if(count.begin(), count.end(), present) < 2)
    throw Error(
        fmt::format("all {} labelled series of the training split are of class '{}'; a classifier "
                    "needs at least two classes",
                    *first, model.classes[static_cast<std::size_t>(first - count.begin())]));
  if (std::none_of(split.validation.begin(), split.validation.end(),
                   [&](std::size_t i) { return labels[i] != Dataset::kNone; }))
    throw Error(
        "no series of the validation split has a label, and the best epoch is chosen there; "
        "label more series or raise data.validation");
}

}  // namespace edict

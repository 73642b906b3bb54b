#include "learn/training_set.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>

#include "base/error.h"

namespace edict {
namespace {

enum class Unlabelled { kept, left_out };

// By fewer observations no epoch is chosen: then every one is judged before it is absorbed.
constexpr std::size_t kFewestJudged = 50;

// Whether there are at least kFewestJudged is all that matters.
std::size_t judged_observations(const Timelines& timelines) {
  std::size_t judged = 0;
  for (std::size_t i = 0; i < timelines.size() && judged < kFewestJudged; ++i)
    for (const auto& stop : timelines[i].stops)
      if (stop.what & Timeline<float>::kScore) judged += stop.count;
  return judged;
}

void add_encoded(const Model& model, const Dataset& data, const std::vector<std::size_t>& series,
                 std::span<const std::int32_t> labels, Unlabelled unlabelled, bool scored,
                 Timelines& timelines, std::vector<std::int32_t>& own) {
  std::vector<std::size_t> taken;
  for (const std::size_t i : series) {
    if (unlabelled == Unlabelled::left_out && labels[i] == Dataset::kNone) continue;
    taken.push_back(i);
    own.push_back(labels[i]);
  }
  timelines = {std::move(taken),
               [protocol = model.protocol, &data, scored](std::size_t i) {
                 return encoding_timeline(protocol, data, i, scored);
               },
               [&data](std::span<const std::size_t> items) { data.read_ahead(items); }};
}

}  // namespace

TrainingSet reversed_training_set(const TrainingSet& set) {
  TrainingSet other = set;
  other.train = set.train.reversed();
  other.validation = set.validation.reversed();
  if (set.windows)
    other.windows = [windows = set.windows](std::int64_t epoch) {
      return windows(epoch).reversed();
    };
  return other;
}

Timelines validation_timelines(const Model& model, const Dataset& data,
                               std::span<const std::size_t> validation) {
  Timelines timelines = timelines_to_judge(model.protocol, model.config.data, data, validation);
  return judged_observations(timelines) < kFewestJudged
             ? timelines_to_follow(model.protocol, data, validation)
             : timelines;
}

TrainingSet distribution_training_set(const Model& model, const Dataset& data, const Split& split) {
  TrainingSet set;
  set.criterion = model.config.train.criterion;
  const auto windows =
      [protocol = model.protocol, &data, series = split.train,
       whole = model.config.train.whole_series,
       seed = static_cast<std::uint64_t>(model.config.train.seed)](std::int64_t epoch) {
        return timelines_to_learn(protocol, data,
                                  learnt_windows(protocol, data, series, whole, seed, epoch));
      };
  set.train = windows(0);
  if (has_long_series(data, split.train)) set.windows = windows;
  set.validation = validation_timelines(model, data, split.validation);
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

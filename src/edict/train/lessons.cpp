#include "edict/train/lessons.h"

#include <fmt/core.h>

#include <algorithm>

#include "edict/core/error.h"
#include "edict/protocol/holdout.h"

namespace edict {
namespace {

enum class Unlabelled { kept, left_out };

void add_encoded(const Model& model, const Dataset& data, const std::vector<std::size_t>& series,
                 std::span<const std::int32_t> labels, Unlabelled unlabelled, bool scored,
                 std::vector<Agenda<float>>& agendas, std::vector<std::int32_t>& own) {
  for (const std::size_t i : series) {
    if (unlabelled == Unlabelled::left_out && labels[i] == Dataset::kNone) continue;
    agendas.push_back(encoding_agenda(model.protocol, data, i, scored));
    own.push_back(labels[i]);
  }
}

}  // namespace

Lessons distribution_lessons(const Model& model, const Dataset& data, const Split& split) {
  Lessons lessons;
  const auto holdout = draw_holdout(data, model.protocol.t_cut, model.config.data.holdout,
                                    static_cast<std::uint64_t>(model.config.data.seed));
  for (const std::size_t i : split.train)
    lessons.train.push_back(training_agenda(model.protocol, data, i));
  for (const std::size_t i : split.validation)
    lessons.validation.push_back(evaluation_agenda(model.protocol, data, i, holdout));
  lessons.train_labels.assign(lessons.train.size(), Dataset::kNone);
  lessons.validation_labels.assign(lessons.validation.size(), Dataset::kNone);
  return lessons;
}

Lessons class_lessons(const Model& model, const Dataset& data, const Split& split) {
  const std::vector<std::int32_t> labels = model.labels(data);
  check_labels(model, labels, split);
  Lessons lessons;
  lessons.evidential = 0.0;
  lessons.classification = 1.0;
  lessons.judge = Lessons::Judge::cross_entropy;
  add_encoded(model, data, split.train, labels, Unlabelled::left_out, false, lessons.train,
              lessons.train_labels);
  add_encoded(model, data, split.validation, labels, Unlabelled::left_out, false,
              lessons.validation, lessons.validation_labels);
  return lessons;
}

Lessons joint_lessons(const Model& model, const Dataset& data, const Split& split,
                      double evidential) {
  const std::vector<std::int32_t> labels = model.labels(data);
  check_labels(model, labels, split);
  Lessons lessons;
  lessons.evidential = evidential;
  lessons.classification = 1.0;
  // Where one class is rare, accuracy hardly moves while the ranking still improves.
  lessons.judge = Lessons::Judge::cross_entropy;
  lessons.start_counts = true;
  add_encoded(model, data, split.train, labels,
              evidential > 0 ? Unlabelled::kept : Unlabelled::left_out, evidential > 0,
              lessons.train, lessons.train_labels);
  add_encoded(model, data, split.validation, labels, Unlabelled::left_out, false,
              lessons.validation, lessons.validation_labels);
  return lessons;
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

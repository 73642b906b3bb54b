// Training: the settings it would choose, models and classifiers, and how far they are.
#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>

#include "app/train/calibrate.h"
#include "app/train/classify.h"
#include "app/train/cross_validate.h"
#include "app/train/train.h"
#include "base/error.h"
#include "base/json/json.h"
#include "base/json/json_text.h"
#include "front/capi/arguments.h"
#include "render/json/scores_json.h"

using namespace edict;
using namespace edict::capi;

namespace {

nlohmann::json to_json(const EpochRow& row) {
  return {{"epoch", row.epoch},
          {"learning_rate", row.learning_rate},
          {"nll", row.nll},
          {"kl", row.kl},
          {"evidence", row.evidence},
          {"loss", row.loss},
          {"cross_entropy", row.cross_entropy},
          {"validation_nll", row.validation_nll},
          {"validation_mse", row.validation_mse},
          {"validation_crps", row.validation_crps},
          {"validation_cross_entropy", row.validation_cross_entropy},
          {"validation_accuracy", row.validation_accuracy},
          {"best", row.best}};
}

std::string epochs_json(const std::vector<TrainResult>& members) {
  nlohmann::json list = nlohmann::json::array();
  for (const TrainResult& member : members)
    for (const EpochRow& row : member.rows) list.push_back(to_json(row));
  return json_text(list);
}

// Of both kinds of training, after a batch and after an epoch.
void update_batch(edict_control* control, std::int64_t epoch, std::int64_t epochs,
                  std::int64_t batch, std::int64_t batches, double nll, double cross_entropy) {
  update(control, [&](edict_progress& p) {
    p.epoch = epoch;
    p.epochs = epochs;
    p.batch = batch;
    p.batches = batches;
    p.nll = nll;
    p.cross_entropy = cross_entropy;
    p.fraction = (static_cast<double>(epoch - 1) +
                  static_cast<double>(batch) / static_cast<double>(batches)) /
                 static_cast<double>(epochs);
  });
}

void update_epoch(edict_control* control, const EpochRow& row) {
  update(control, [&](edict_progress& p) {
    p.epochs_done = row.epoch;
    if (row.best) p.best_epoch = row.epoch;
    p.validation_nll = row.validation_nll;
    p.validation_mse = row.validation_mse;
    p.validation_cross_entropy = row.validation_cross_entropy;
    p.validation_accuracy = row.validation_accuracy;
  });
}

// The control shows how far the training is, which may consist of several runs, one after the
// other.
void show(edict_control* control, const Config& config, std::size_t folds, std::size_t members,
          app::TrainingProgress& progress) {
  const std::size_t sides = config.train.smooth ? 2 : 1, runs = folds * members * sides;
  const auto done = std::make_shared<std::size_t>(0);  // runs before the one at hand
  progress.on_run = [=](const app::TrainingRun& run) {
    *done = (run.fold * members + run.member) * sides + (run.backward ? 1 : 0);
  };
  progress.on_batch = [=, epochs = config.train.epochs](std::int64_t epoch, std::int64_t batch,
                                                        std::int64_t batches,
                                                        const LossSums& sums) {
    update_batch(control, epoch, epochs, batch, batches,
                 sums.nll / std::max(1.0, sums.observations),
                 sums.classification / std::max(1.0, sums.series));
    update(control, [&](edict_progress& p) {
      p.fraction = (static_cast<double>(*done) + p.fraction) / static_cast<double>(runs);
    });
  };
  progress.on_epoch = [=](const EpochRow& row) { update_epoch(control, row); };
}

// The data to train on: a few long series are cut into pieces.
class ToTrain {
 public:
  explicit ToTrain(const edict_dataset* dataset) {
    check_given(dataset, "dataset");
    given_ = &dataset->data;
    cut_ = app::cut_long_series(*given_);
  }
  const Dataset& data() const { return cut_ ? cut_->data : *given_; }

 private:
  const Dataset* given_;
  std::optional<app::CutData> cut_;
};

// As the caller compiled it: an older struct is shorter, and what it lacks is 0.
edict_training training_from(const edict_training* given, std::size_t size) {
  edict_training training{};
  if (!given) return training;
  if (size > sizeof training)
    throw Error("training: the program was compiled with a later edict.h than this library's");
  std::memcpy(&training, given, size);
  return training;
}

app::TrainRequest request_from(const edict_training& training, const edict_control* control) {
  app::TrainRequest request;
  if (training.toml) read_toml_text(training.toml, "settings", request.settings.base.emplace());
  request.settings.assignments =
      names_from(training.assignments, training.assignment, "assignments");
  if (training.from) request.from = &model_of(training.from);
  request.members = std::max(std::size_t{1}, size_of(training.members, "members"));
  if (training.out_path) request.out = training.out_path;
  request.resume = training.resume != 0;
  request.replace = true;
  request.budget = training.budget;
  request.stop = stop_of(control);
  return request;
}

// What there is to say of the data and of the settings chosen for them.
std::vector<std::string> notes_of(const app::TrainPlan& plan) {
  std::vector<std::string> notes;
  if (plan.fitted) notes = plan.fitted->notes;
  notes.insert(notes.end(), plan.notes.begin(), plan.notes.end());
  return notes;
}

}  // namespace

int edict_fit_settings(const edict_dataset* dataset, int64_t assignments,
                       const char* const* assignment, edict_bytes** out) {
  return run_guarded([&] {
    const ToTrain training(dataset);
    check_given(out, "out");
    const std::vector<std::string> given = names_from(assignments, assignment, "assignments");
    const FittedSettings fitted = fit_settings(training.data(), given);
    nlohmann::json choices = nlohmann::json::array();
    for (const SettingChoice& choice : fitted.choices)
      choices.push_back({{"key", choice.key},
                         {"value", choice.value},
                         {"why", choice.why},
                         {"given", choice.given}});
    *out = new_bytes(json_text(
        {{"choices", choices}, {"notes", plain(fitted.notes)}, {"toml", commented_toml(fitted)}}));
  });
}

int edict_train(const edict_dataset* dataset, const edict_training* training, size_t size,
                edict_control* control, edict_model** out) {
  return run_guarded([&] {
    check_given(dataset, "dataset");
    check_given(out, "out");
    *out = nullptr;
    const edict_training given = training_from(training, size);
    app::TrainRequest request = request_from(given, control);
    check(request);
    std::optional<Matched> matched;
    std::optional<ToTrain> fresh;
    if (request.from)
      matched.emplace(*request.from, dataset, Series::as_trained);
    else
      fresh.emplace(dataset);
    const Dataset& data = matched ? matched->data() : fresh->data();
    ThreadPool pool(threads_from(given.threads));
    app::TrainPlan plan = plan_training(data, request);
    show(control, plan.model.config, 1, request.members, request.progress);
    std::vector<std::string> notes = notes_of(plan);
    app::TrainedModel trained = train(std::move(plan), data, request, pool);
    notes.insert(notes.end(), trained.notes.begin(), trained.notes.end());
    if (trained.is_usable())
      *out = new edict_model{std::make_shared<const Model>(std::move(trained.model)),
                             epochs_json(trained.members), json_text(plain(std::move(notes)))};
    if (trained.interrupted) throw Interrupted();
  });
}

int edict_cross_validate(const edict_dataset* dataset, const edict_training* training, size_t size,
                         int64_t folds, edict_control* control, edict_bytes** out) {
  return run_guarded([&] {
    const ToTrain fresh(dataset);
    check_given(out, "out");
    const edict_training given = training_from(training, size);
    app::TrainRequest training_request = request_from(given, control);
    if (given.from || given.budget != 0)
      throw Error("a cross-validation trains anew and to the end; leave from and budget out");
    if (folds < 2 || folds > 1000) throw Error("folds: give a number from 2 to 1000");
    check(training_request.settings);
    app::CrossValidateRequest request;
    request.config = choose_settings(training_request.settings, fresh.data()).config;
    request.folds = static_cast<std::size_t>(folds);
    request.members = training_request.members;
    request.out = training_request.out;
    request.resume = training_request.resume;
    request.replace = true;
    request.stop = training_request.stop;
    check(request);
    show(control, request.config, request.folds, request.members, request.progress);
    ThreadPool pool(threads_from(given.threads));
    const app::CrossValidation result = cross_validate(fresh.data(), request, pool);
    if (result.interrupted) throw Interrupted();
    *out = new_bytes(json_text(to_json(result)));
  });
}

int edict_calibrate(const edict_model* model, const edict_dataset* dataset, const char* split,
                    int threads, edict_bytes** report, edict_model** out) {
  return run_guarded([&] {
    const Model& trained = model_of(model);
    const app::CalibrateRequest request{split ? split : "validation"};
    check_given(out, "out");
    check(request, trained);
    const Matched matched(trained, dataset, Series::as_trained);
    ThreadPool pool(threads_from(threads));
    Model copy = from_tensors(to_tensors(trained), "model in memory");
    app::CalibrateResult result = app::calibrate(std::move(copy), matched.data(), request, pool);
    const nlohmann::json scores{{"before", edict::to_json(result.before)},
                                {"after", edict::to_json(result.after.evaluation)},
                                {"series", result.judged},
                                {"fitted", result.model.calibration.fit_series}};
    std::unique_ptr<edict_model> calibrated(new edict_model{
        std::make_shared<const Model>(std::move(result.model)), model->epochs, model->notes});
    if (report) *report = new_bytes(json_text(scores));
    *out = calibrated.release();
  });
}

int edict_classify(const edict_model* model, const edict_dataset* dataset, int64_t assignments,
                   const char* const* assignment, int64_t seeds, const int64_t* seed, int threads,
                   edict_control* control, edict_model** out) {
  return run_guarded([&] {
    const Model& trained = model_of(model);
    const Matched matched(trained, dataset, Series::as_trained);
    check_given(out, "out");
    app::ClassifyRequest request;
    request.assignments = names_from(assignments, assignment, "assignments");
    const std::size_t count = size_of(seeds, "seeds");
    if (count > 0) check_given(seed, "seed");
    request.seeds.assign(seed, seed + count);
    request.stop = stop_of(control);
    const std::int64_t epochs = settings_of(request, trained).fine_tune;
    request.on_batch = [&](std::int64_t epoch, std::int64_t batch, std::int64_t batches) {
      update_batch(control, epoch, epochs, batch, batches, 0, 0);
    };
    request.on_epoch = [&](const EpochRow& row) { update_epoch(control, row); };
    ThreadPool pool(threads_from(threads));
    app::ClassifyResult result = app::classify(trained, matched.data(), request, pool);
    if (result.classifier.interrupted) throw Interrupted();
    *out = new edict_model{std::make_shared<const Model>(std::move(result.classifier.model)),
                           model->epochs, json_text(plain(std::move(result.notes)))};
  });
}

#include "app/train/cross_validate.h"

#include <fmt/core.h>

#include <cmath>
#include <limits>

#include "app/train/train.h"
#include "ask/classification.h"
#include "base/error.h"
#include "base/files/atomic_file.h"
#include "base/files/claims.h"
#include "base/files/read_file.h"
#include "base/hash.h"
#include "base/json/json_text.h"
#include "base/json/json_values.h"
#include "data/fingerprint.h"
#include "learn/classifier/classifier_training.h"
#include "protocol/folds.h"
#include "render/json/classes_json.h"
#include "render/json/scores_json.h"

namespace edict::app {
namespace {

ClassificationResult judge_classes(const Model& model, const Dataset& data, const Split& split,
                                   ThreadPool& pool) {
  const LabelledSeries labelled = labelled_series(model, data, split.test);
  const ClassProbabilities p = class_probabilities(model, data, labelled.series, pool);
  return classification_metrics(Predictions(p.values, labelled.labels, p.classes));
}

std::filesystem::path fold_model_path(const std::filesystem::path& out, std::size_t fold) {
  return out / fmt::format("fold-{}.model", fold + 1);
}

TrainedModel train_fold(const Dataset& data, const Split& split, std::size_t fold, ThreadPool& pool,
                        const CrossValidateRequest& request) {
  TrainRequest training;
  training.members = request.members;
  if (!request.out.empty()) training.out = fold_model_path(request.out, fold);
  training.resume = request.resume;
  training.replace = true;
  training.stop = request.stop;
  training.progress = request.progress;
  training.progress.on_run = [&](TrainingRun run) {
    run.fold = fold;
    if (request.progress.on_run) request.progress.on_run(run);
  };
  return train({Model::create(request.config, data, split), split}, data, training, pool);
}

// Without a value where it was interrupted.
std::optional<FoldResult> run_fold(const Dataset& data, const Split& split, std::size_t fold,
                                   ThreadPool& pool, const CrossValidateRequest& request) {
  const TrainedModel trained = train_fold(data, split, fold, pool, request);
  if (trained.interrupted) return std::nullopt;
  FoldResult result{split.train.size(), split.validation.size(), split.test.size(), {}, {}};
  if (!trained.model.network->has_distribution()) {
    result.classification = judge_classes(trained.model, data, split, pool);
    return result;
  }
  result.evaluation = edict::evaluate(trained.model, data, split.test, pool);
  if (!data.labelled()) return result;
  ClassifierOptions classes;
  classes.settings = request.config.classify;
  classes.stop = request.stop;
  const ClassifierResult classifier = train_classifier(trained.model, data, split, pool, classes);
  if (classifier.interrupted) return std::nullopt;
  result.classification = judge_classes(classifier.model, data, split, pool);
  if (!request.out.empty())
    save_model(classifier.model, fold_model_path(request.out, fold).replace_extension(".clf"));
  return result;
}

nlohmann::json fold_json(const FoldResult& fold) {
  return {{"train", fold.train},
          {"validation", fold.validation},
          {"judged", fold.judged},
          {"evaluation", json_or_null(fold.evaluation)},
          {"classification", json_or_null(fold.classification)}};
}

// What a worker leaves of a fold for the others. The key is that of everything it depends on.
std::filesystem::path fold_result_path(const std::filesystem::path& out, std::size_t fold) {
  return fold_model_path(out, fold).replace_extension(".json");
}

std::optional<FoldResult> read_fold(const std::filesystem::path& path, const std::string& key) {
  if (!std::filesystem::exists(path)) return std::nullopt;
  try {
    const nlohmann::json kept = parse_json(read_file(path));
    if (kept.at("key").get<std::string>() != key)
      throw Error(ErrorCode::mismatch, {.subject = path.string(),
                                        .problem = "is of other data or settings",
                                        .remedy = "give another folder with " + option("out")});
    FoldResult fold;
    kept.at("train").get_to(fold.train);
    kept.at("validation").get_to(fold.validation);
    kept.at("judged").get_to(fold.judged);
    fold.evaluation = optional_from_json<Evaluation>(kept.at("evaluation"));
    fold.classification = optional_from_json<ClassificationResult>(kept.at("classification"));
    return fold;
  } catch (const nlohmann::json::exception&) {
    throw Error(ErrorCode::malformed, {.subject = path.string(),
                                       .problem = "is damaged",
                                       .remedy = "remove it to run the fold again"});
  }
}

CrossValidation share_folds(const Dataset& data, const std::vector<Split>& splits, ThreadPool& pool,
                            CrossValidateRequest request) {
  request.resume = true;
  const std::string key = Hash()
                              .number(fingerprint(data))
                              .text(json_text(to_json(request.config)))
                              .number(request.members)
                              .number(request.folds)
                              .hex();
  const auto path = [&](std::size_t fold) { return fold_result_path(request.out, fold); };
  CrossValidation result;
  try {
    work_through(
        Claims(request.out / "claims"), splits.size(),
        [](std::size_t fold) { return fmt::format("fold-{}", fold + 1); },
        [&](std::size_t fold) { return read_fold(path(fold), key).has_value(); },
        [&](std::size_t fold) {
          const auto own = run_fold(data, splits[fold], fold, pool, request);
          if (!own) throw Interrupted();
          nlohmann::json kept = fold_json(*own);
          kept["key"] = key;
          write_atomically(path(fold), json_text(kept) + "\n");
        },
        request.stop);
  } catch (const Interrupted&) {
    result.interrupted = true;
    return result;
  }
  for (std::size_t f = 0; f < splits.size(); ++f) result.folds.push_back(*read_fold(path(f), key));
  return result;
}

}  // namespace

void check(const CrossValidateRequest& request) {
  if (request.out.empty()) {
    if (request.claim)
      throw Error(ErrorCode::invalid, {.subject = option("claim"),
                                       .problem = "workers share a folder",
                                       .remedy = "name it with " + option("out")});
    if (request.resume)
      throw Error(ErrorCode::invalid,
                  {.subject = option("resume"),
                   .problem = "a cross-validation continues from the models of its folds",
                   .remedy = "name their folder with " + option("out")});
    return;
  }
  namespace fs = std::filesystem;
  const std::string out = request.out.string();
  if (fs::exists(request.out) && !fs::is_directory(request.out))
    throw Error(ErrorCode::exists,
                {.subject = out,
                 .problem = "is a file",
                 .remedy = "with " + option("folds") + ", " + option("out") + " names a folder"});
  if (!request.resume && !request.replace && !request.claim &&
      fs::exists(fold_model_path(request.out, 0)))
    throw Error(ErrorCode::exists,
                {.subject = out,
                 .problem = "already holds the models of folds",
                 .remedy = "give " + option("resume") + " to continue with them, " +
                           option("force") + " to train anew, or another folder"});
}

CrossValidation cross_validate(const Dataset& data, const CrossValidateRequest& request,
                               ThreadPool& pool) {
  check(request);
  const std::vector<Split> splits =
      cross_validation_splits(data, request.config.data, request.folds);
  if (!request.out.empty()) make_folder(request.out);
  if (request.claim) return share_folds(data, splits, pool, request);
  CrossValidation result;
  for (std::size_t f = 0; f < splits.size(); ++f) {
    const std::optional<FoldResult> fold = run_fold(data, splits[f], f, pool, request);
    result.interrupted = !fold;
    if (!fold) break;
    result.folds.push_back(*fold);
  }
  return result;
}

std::vector<FoldMetric> fold_metrics(const CrossValidation& result) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  std::vector<FoldMetric> metrics;
  const auto add = [&](const std::string& name, const auto& value) {
    FoldMetric metric{name, {0, 0}, {}};
    double count = 0;
    for (const FoldResult& fold : result.folds) {
      metric.folds.push_back(value(fold));
      if (std::isnan(metric.folds.back())) continue;
      metric.over_folds.mean += metric.folds.back();
      count += 1;
    }
    if (count == 0) return;
    metric.over_folds.mean /= count;
    for (const double x : metric.folds)
      if (!std::isnan(x))
        metric.over_folds.std += (x - metric.over_folds.mean) * (x - metric.over_folds.mean);
    metric.over_folds.std = std::sqrt(metric.over_folds.std / count);
    metrics.push_back(std::move(metric));
  };
  using Task = std::optional<CalibrationResult> Evaluation::*;
  for (const auto& [known_as, asked] :
       {std::pair<const char*, Task>("interpolation", &Evaluation::interpolation),
        {"extrapolation", &Evaluation::extrapolation}}) {
    // Clang 14 lets no lambda capture a structured binding.
    const auto add_of = [&, name = known_as, task = asked](const char* metric, const auto& value) {
      add(fmt::format("{} {}", name, metric), [&](const FoldResult& fold) {
        return fold.evaluation && (*fold.evaluation).*task ? value(*((*fold.evaluation).*task))
                                                           : kNone;
      });
    };
    add_of("nll", [](const CalibrationResult& r) { return r.nll.mean; });
    add_of("mse", [](const CalibrationResult& r) { return r.mse.mean; });
    add_of("crps", [](const CalibrationResult& r) { return r.crps.mean; });
    add_of("ece", [](const CalibrationResult& r) { return r.ece; });
  }
  const auto add_class = [&](const char* metric, const auto& value) {
    add(metric, [&](const FoldResult& fold) {
      return fold.classification ? value(*fold.classification) : kNone;
    });
  };
  add_class("accuracy", [](const ClassificationResult& r) { return r.accuracy; });
  add_class("auroc", [](const ClassificationResult& r) { return r.auroc.value; });
  add_class("auprc", [](const ClassificationResult& r) { return r.average_precision.value; });
  add_class("brier", [](const ClassificationResult& r) { return r.brier; });
  add_class("log loss", [](const ClassificationResult& r) { return r.log_loss; });
  return metrics;
}

nlohmann::json to_json(const CrossValidation& result) {
  nlohmann::json json{{"folds", nlohmann::json::array()}, {"metrics", nlohmann::json::object()}};
  for (const FoldResult& fold : result.folds) json["folds"].push_back(fold_json(fold));
  for (const FoldMetric& metric : fold_metrics(result))
    json["metrics"][metric.name] = {
        {"mean", metric.over_folds.mean}, {"std", metric.over_folds.std}, {"folds", metric.folds}};
  return json;
}

}  // namespace edict::app

#include "research/cross_validation.h"

#include <fmt/core.h>

#include <cmath>
#include <limits>

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
#include "learn/ensemble_training.h"
#include "protocol/folds.h"

namespace edict::study {
namespace {

ClassificationResult judge_classes(const Model& model, const Dataset& data, const Split& split,
                                   ThreadPool& pool) {
  const LabelledSeries labelled = labelled_series(model, data, split.test);
  const ClassProbabilities p = class_probabilities(model, data, labelled.series, pool);
  return classification_metrics(Predictions(p.values, labelled.labels, p.classes));
}

// Without a value where it was interrupted.
std::optional<FoldResult> run_fold(const Config& config, const Dataset& data, const Split& split,
                                   std::size_t fold, ThreadPool& pool, const FoldOptions& options) {
  EnsembleOptions training;
  training.members = options.members;
  training.training = options.training;
  training.training.out = options.out.empty() ? "" : fold_model_path(options.out, fold);
  training.training.resume = options.resume;
  training.on_member = [&](std::size_t member) {
    if (options.on_model) options.on_model(fold, member);
  };
  EnsembleResult trained = train_ensemble(config, data, split, pool, training);
  if (trained.interrupted) return std::nullopt;
  FoldResult result{split.train.size(), split.validation.size(), split.test.size(), {}, {}};
  if (!trained.model.network->has_distribution()) {
    result.classification = judge_classes(trained.model, data, split, pool);
    return result;
  }
  result.evaluation = evaluate(trained.model, data, split.test, pool);
  if (!data.labelled()) return result;
  ClassifierOptions classes;
  classes.settings = config.classify;
  classes.stop = options.training.stop;
  const ClassifierResult classifier = train_classifier(trained.model, data, split, pool, classes);
  if (classifier.interrupted) return std::nullopt;
  result.classification = judge_classes(classifier.model, data, split, pool);
  if (!options.out.empty())
    save_model(classifier.model, fold_model_path(options.out, fold).replace_extension(".clf"));
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
      throw Error(fmt::format("{}: is of other data or settings; give another folder with --out",
                              path.string()));
    FoldResult fold;
    kept.at("train").get_to(fold.train);
    kept.at("validation").get_to(fold.validation);
    kept.at("judged").get_to(fold.judged);
    fold.evaluation = optional_from_json<Evaluation>(kept.at("evaluation"));
    fold.classification = optional_from_json<ClassificationResult>(kept.at("classification"));
    return fold;
  } catch (const nlohmann::json::exception&) {
    throw Error(fmt::format("{}: is damaged; remove it to run the fold again", path.string()));
  }
}

CrossValidation share_folds(const Config& config, const Dataset& data,
                            const std::vector<Split>& splits, ThreadPool& pool,
                            FoldOptions options) {
  if (options.out.empty()) throw Error("claims need the folder that others see; give --out");
  options.resume = true;
  const std::string key = Hash()
                              .number(fingerprint(data))
                              .text(json_text(to_json(config)))
                              .number(options.members)
                              .number(options.folds)
                              .hex();
  const auto path = [&](std::size_t fold) { return fold_result_path(options.out, fold); };
  CrossValidation result;
  try {
    work_through(
        Claims(options.out / "claims"), splits.size(),
        [](std::size_t fold) { return fmt::format("fold-{}", fold + 1); },
        [&](std::size_t fold) { return read_fold(path(fold), key).has_value(); },
        [&](std::size_t fold) {
          const auto own = run_fold(config, data, splits[fold], fold, pool, options);
          if (!own) throw Interrupted();
          nlohmann::json kept = fold_json(*own);
          kept["key"] = key;
          write_atomically(path(fold), json_text(kept) + "\n");
        },
        options.training.stop);
  } catch (const Interrupted&) {
    result.interrupted = true;
    return result;
  }
  for (std::size_t f = 0; f < splits.size(); ++f) result.folds.push_back(*read_fold(path(f), key));
  return result;
}

}  // namespace

std::filesystem::path fold_model_path(const std::filesystem::path& out, std::size_t fold) {
  return out / fmt::format("fold-{}.model", fold + 1);
}

CrossValidation cross_validate(const Config& config, const Dataset& data, ThreadPool& pool,
                               const FoldOptions& options) {
  const std::vector<Split> splits = cross_validation_splits(data, config.data, options.folds);
  if (!options.out.empty()) make_folder(options.out);
  if (options.claim) return share_folds(config, data, splits, pool, options);
  CrossValidation result;
  for (std::size_t f = 0; f < splits.size(); ++f) {
    const std::optional<FoldResult> fold = run_fold(config, data, splits[f], f, pool, options);
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

}  // namespace edict::study

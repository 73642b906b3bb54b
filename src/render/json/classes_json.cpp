#include "render/json/classes_json.h"

#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/json/json_values.h"

namespace edict {

nlohmann::json to_json(const CurvePoint& point) {
  return {{"threshold", point.threshold},  // null: infinite
          {"true_positive_rate", point.true_positive_rate},
          {"false_positive_rate", point.false_positive_rate},
          {"precision", point.precision}};
}

void from_json(const nlohmann::json& json, CurvePoint& point) {
  point.threshold = json.at("threshold").is_null() ? std::numeric_limits<double>::infinity()
                                                   : json.at("threshold").get<double>();
  point.true_positive_rate = number_or_nan(json.at("true_positive_rate"));
  point.false_positive_rate = number_or_nan(json.at("false_positive_rate"));
  point.precision = number_or_nan(json.at("precision"));
}

nlohmann::json to_json(const ClassificationResult& result) {
  using nlohmann::json;
  json refusing = json::array(), matrix = json::array();
  for (std::size_t k = 0; k < kCoverages; ++k)
    refusing.push_back(
        {{"coverage", coverage_of(k)}, {"accuracy", result.risk_coverage.accuracy[k]}});
  for (std::size_t k = 0; k < result.classes; ++k) {
    const auto row = result.confusion.begin() + static_cast<std::ptrdiff_t>(k * result.classes);
    matrix.push_back(
        std::vector<std::size_t>(row, row + static_cast<std::ptrdiff_t>(result.classes)));
  }
  json document = {{"series", result.series},
                   {"classes", result.classes},
                   {"accuracy", result.accuracy},
                   {"auroc", result.auroc.value},
                   {"auprc", result.average_precision.value},
                   {"brier", result.brier},
                   {"log_loss", result.log_loss},
                   {"aurc", result.risk_coverage.aurc},
                   {"refusing", std::move(refusing)},
                   {"confusion", std::move(matrix)},
                   {"skipped_classes", result.auroc.skipped}};
  if (result.classes > 2) {
    document["auroc_per_class"] = result.auroc.per_class;  // NaN is written as null
    document["auprc_per_class"] = result.average_precision.per_class;
  }
  return document;
}

void from_json(const nlohmann::json& json, ClassificationResult& result) {
  json.at("series").get_to(result.series);
  json.at("classes").get_to(result.classes);
  json.at("accuracy").get_to(result.accuracy);
  result.auroc.value = number_or_nan(json.at("auroc"));
  result.average_precision.value = number_or_nan(json.at("auprc"));
  json.at("brier").get_to(result.brier);
  json.at("log_loss").get_to(result.log_loss);
  json.at("aurc").get_to(result.risk_coverage.aurc);
  for (std::size_t k = 0; k < kCoverages; ++k)
    json.at("refusing").at(k).at("accuracy").get_to(result.risk_coverage.accuracy[k]);
  result.confusion.clear();
  for (const auto& row : json.at("confusion").get<std::vector<std::vector<std::size_t>>>()) {
    if (row.size() != result.classes) throw Error("a confusion matrix is not square");
    result.confusion.insert(result.confusion.end(), row.begin(), row.end());
  }
  if (result.confusion.size() != result.classes * result.classes)
    throw Error("a confusion matrix has not one row a class");
  // Both rankings skip the classes that have no series.
  json.at("skipped_classes").get_to(result.auroc.skipped);
  result.average_precision.skipped = result.auroc.skipped;
  if (result.classes > 2) {
    result.auroc.per_class = numbers_or_nan(json.at("auroc_per_class"));
    result.average_precision.per_class = numbers_or_nan(json.at("auprc_per_class"));
  }
}

nlohmann::json to_json(const ReliabilityBin& bin) {
  return {{"low", bin.low},
          {"high", bin.high},
          {"series", bin.series},
          {"predicted", bin.predicted},
          {"observed", bin.observed}};
}

void from_json(const nlohmann::json& json, ReliabilityBin& bin) {
  json.at("low").get_to(bin.low);
  json.at("high").get_to(bin.high);
  json.at("series").get_to(bin.series);
  bin.predicted = number_or_nan(json.at("predicted"));
  bin.observed = number_or_nan(json.at("observed"));
}

nlohmann::json to_json(const ClassScores& scores) {
  return {{"name", scores.name},
          {"positives", scores.positives},
          {"auroc", scores.auroc},
          {"auprc", scores.auprc},
          {"brier", scores.brier},
          {"ece", scores.ece},
          {"curve", json_list(scores.curve)},
          {"reliability", json_list(scores.reliability)}};
}

void from_json(const nlohmann::json& json, ClassScores& scores) {
  json.at("name").get_to(scores.name);
  json.at("positives").get_to(scores.positives);
  scores.auroc = number_or_nan(json.at("auroc"));
  scores.auprc = number_or_nan(json.at("auprc"));
  json.at("brier").get_to(scores.brier);
  json.at("ece").get_to(scores.ece);
  json.at("curve").get_to(scores.curve);
  json.at("reliability").get_to(scores.reliability);
}

nlohmann::json to_json(const PriorScores& scores) {
  return {{"accuracy", scores.accuracy},
          {"brier", scores.brier},
          {"log_loss", scores.log_loss},
          {"auprc", scores.auprc}};
}

void from_json(const nlohmann::json& json, PriorScores& scores) {
  json.at("accuracy").get_to(scores.accuracy);
  json.at("brier").get_to(scores.brier);
  json.at("log_loss").get_to(scores.log_loss);
  json.at("auprc").get_to(scores.auprc);
}

nlohmann::json to_json(const ClassifierEvaluation& evaluation) {
  return {{"classes", evaluation.classes},
          {"unlabelled", evaluation.unlabelled},
          {"result", to_json(evaluation.result)},
          {"prior", to_json(evaluation.prior)},
          {"judged", json_list(evaluation.judged)}};
}

void from_json(const nlohmann::json& json, ClassifierEvaluation& evaluation) {
  json.at("classes").get_to(evaluation.classes);
  json.at("unlabelled").get_to(evaluation.unlabelled);
  json.at("result").get_to(evaluation.result);
  json.at("prior").get_to(evaluation.prior);
  json.at("judged").get_to(evaluation.judged);
}

}  // namespace edict

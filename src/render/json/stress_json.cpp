#include "render/json/stress_json.h"

#include <string>
#include <utility>

#include "base/error.h"
#include "base/json/json_values.h"
#include "render/json/classes_json.h"

namespace edict {
namespace {

constexpr struct {
  const char* name;
  double (*value)(const ClassificationResult&);
} kMetrics[] = {
    {"accuracy", [](const ClassificationResult& r) { return r.accuracy; }},
    {"auroc", [](const ClassificationResult& r) { return r.auroc.value; }},
    {"auprc", [](const ClassificationResult& r) { return r.average_precision.value; }},
    {"brier", [](const ClassificationResult& r) { return r.brier; }},
    {"log_loss", [](const ClassificationResult& r) { return r.log_loss; }},
    {"aurc", [](const ClassificationResult& r) { return r.risk_coverage.aurc; }},
};

nlohmann::json point_to_json(const StressPoint& point, const std::vector<std::int64_t>& seeds) {
  nlohmann::json json{{"refusing", nlohmann::json::array()}, {"seeds", nlohmann::json::array()}};
  if (point.level >= 0) {
    json["level"] = point.level;
    json["rate"] = point.noise.rate;
    json["unit"] = point.noise.unit;
    json["strength"] = point.noise.strength;
    json["fraction"] = point.noise.fraction;
  }
  for (const auto& metric : kMetrics) {
    const MeanStd m = over_seeds(point, metric.value);
    json[metric.name] = m.mean;
    json[std::string(metric.name) + "_std"] = m.std;
  }
  json["clipped"] = point.clipped;
  for (std::size_t k = 0; k < kCoverages; ++k) {
    const MeanStd m = over_seeds(
        point, [&](const ClassificationResult& r) { return r.risk_coverage.accuracy[k]; });
    json["refusing"].push_back(
        {{"coverage", coverage_of(k)}, {"accuracy", m.mean}, {"accuracy_std", m.std}});
  }
  for (std::size_t s = 0; s < point.seeds.size(); ++s) {
    nlohmann::json own = to_json(point.seeds[s]);
    own["seed"] = seeds[s];
    json["seeds"].push_back(std::move(own));
  }
  return json;
}

nlohmann::json curve_to_json(const StressCurve& curve, const std::vector<std::int64_t>& seeds) {
  nlohmann::json json{{"guard", name_of(curve.guard.kind)},
                      {"clean", point_to_json(curve.clean, seeds)},
                      {"levels", nlohmann::json::array()}};
  for (const StressPoint& point : curve.levels)
    json["levels"].push_back(point_to_json(point, seeds));
  return json;
}

StressPoint point_from_json(const nlohmann::json& json, NoiseKind kind, std::size_t seeds) {
  StressPoint point;
  point.noise.kind = kind;
  if (json.contains("level")) {
    json.at("level").get_to(point.level);
    json.at("rate").get_to(point.noise.rate);
    json.at("unit").get_to(point.noise.unit);
    json.at("strength").get_to(point.noise.strength);
    json.at("fraction").get_to(point.noise.fraction);
  }
  json.at("clipped").get_to(point.clipped);
  json.at("seeds").get_to(point.seeds);
  if (point.seeds.size() != seeds) throw Error("a level of the sweep does not have all seeds");
  return point;
}

StressCurve curve_from_json(const nlohmann::json& json, NoiseKind kind, const Guard& guard,
                            std::size_t seeds) {
  StressCurve curve;
  curve.guard = guard;
  curve.clean = point_from_json(json.at("clean"), kind, seeds);
  for (const nlohmann::json& point : json.at("levels"))
    curve.levels.push_back(point_from_json(point, kind, seeds));
  return curve;
}

}  // namespace

nlohmann::json to_json(const StressResult& result) {
  const StressCurve& first = result.curves.front();
  nlohmann::json json = curve_to_json(first, result.seeds);
  json["guards"] = nlohmann::json::object();
  for (const StressCurve& curve : result.curves)
    json["guards"][std::string(name_of(curve.guard.kind))] = curve_to_json(curve, result.seeds);
  json["noise"] = name_of(first.clean.noise.kind);
  json["eta"] = first.guard.eta;
  json["sigma"] = first.guard.deviation == Guard::Deviation::epistemic ? "epistemic" : "predictive";
  json["seeds"] = result.seeds;
  json["series"] = result.series;
  json["unlabelled"] = result.unlabelled;
  return json;
}

void from_json(const nlohmann::json& json, StressResult& result) {
  result = {};
  json.at("seeds").get_to(result.seeds);
  json.at("series").get_to(result.series);
  json.at("unlabelled").get_to(result.unlabelled);
  if (result.seeds.empty()) throw Error("a noise sweep without a seed");
  const NoiseKind kind = noise_from_name(json.at("noise").get<std::string>()).kind;
  Guard guard;
  json.at("eta").get_to(guard.eta);
  guard.deviation = deviation_from_name(json.at("sigma").get<std::string>());
  const auto& guards = json.at("guards").get_ref<const nlohmann::json::object_t&>();
  const auto add = [&](const std::string& name, const nlohmann::json& curve) {
    guard.kind = guard_from_name(name);
    result.curves.push_back(curve_from_json(curve, kind, guard, result.seeds.size()));
  };
  const auto first = json.at("guard").get<std::string>();
  add(first, json.at("guards").at(first));
  for (const auto& [name, curve] : guards)
    if (name != first) add(name, curve);
}

}  // namespace edict

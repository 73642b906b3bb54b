#include "judge/stress.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ask/classification.h"
#include "base/error.h"
#include "base/json/json_values.h"
#include "data/subset.h"

namespace edict {
namespace {

class Sweep {
 public:
  Sweep(const Model& model, const Dataset& data, std::span<const std::size_t> series,
        ThreadPool& pool, const StressOptions& options)
      : model_(model),
        pool_(pool),
        options_(options),
        labelled_(labelled_series(model, data, series)),
        data_(subset(data, labelled_.series)),
        all_(data_.size()) {
    std::iota(all_.begin(), all_.end(), std::size_t{0});
    encodings_ = options.guards.size() * (1 + options.levels.size() * options.seeds.size());
  }

  StressResult run() {
    StressResult result;
    result.seeds = options_.seeds;
    result.series = data_.size();
    result.unlabelled = labelled_.unlabelled;
    for (const Guard& guard : options_.guards) {
      StressCurve& curve = result.curves.emplace_back();
      curve.guard = guard;
      curve.clean.noise = options_.noise;
      score(data_, guard, options_.seeds, curve.clean);
    }
    for (const int level : options_.levels) {
      const NoiseSpec base = noise_at(options_.noise, level, options_.largest);
      for (StressCurve& curve : result.curves) {
        curve.levels.emplace_back().level = level;
        curve.levels.back().noise = base;
      }
      for (const std::int64_t seed : options_.seeds) {
        NoiseSpec noise = base;
        noise.seed = static_cast<std::uint64_t>(seed);
        const Dataset noisy = with_noise(model_.protocol, data_, {}, noise);
        for (StressCurve& curve : result.curves)
          score(noisy, curve.guard, std::span(&seed, 1), curve.levels.back());
      }
    }
    for (StressCurve& curve : result.curves) {
      for (StressPoint& point : curve.levels)
        point.clipped /= static_cast<double>(options_.seeds.size());
    }
    return result;
  }

 private:
  // Appends the results of the given seeds' classifiers on one encoding.
  void score(const Dataset& data, const Guard& guard, std::span<const std::int64_t> seeds,
             StressPoint& point) {
    leave_if_stopped(options_.stop);
    if (model_.readout.empty() && model_.network->has_distribution()) {
      const Encoding encoding = encode(model_, data, all_, pool_, guard);
      count(encoding.clipped, encoding.observations, point);
      for (const std::int64_t seed : seeds)
        add(class_probabilities(model_, encoding.states, model_.classifiers(seed)), point);
    } else {
      const ClassProbabilities p = class_probabilities(model_, data, all_, pool_, guard);
      count(p.clipped, p.observations, point);
      for (std::size_t s = 0; s < seeds.size(); ++s) add(p, point);
    }
    if (options_.progress) options_.progress(++done_, encodings_);
  }

  static void count(std::size_t clipped, std::size_t observations, StressPoint& point) {
    point.clipped +=
        static_cast<double>(clipped) / std::max(1.0, static_cast<double>(observations));
  }

  void add(const ClassProbabilities& p, StressPoint& point) const {
    point.seeds.push_back(
        classification_metrics(Predictions(p.values, labelled_.labels, p.classes)));
  }

  const Model& model_;
  ThreadPool& pool_;
  const StressOptions& options_;
  const LabelledSeries labelled_;
  const Dataset data_;  // the judged series
  std::vector<std::size_t> all_;
  std::size_t encodings_ = 0, done_ = 0;
};

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

const StressCurve* StressResult::find(Guard::Kind guard) const {
  for (const StressCurve& curve : curves)
    if (curve.guard.kind == guard) return &curve;
  return nullptr;
}

double usual_largest(NoiseKind kind) {
  switch (kind) {
    case NoiseKind::compounding:
    case NoiseKind::asymmetric:
      return 0.7;
    case NoiseKind::spikes:
      return 0.5;
    case NoiseKind::bursts:
      return 0.9;
    default:
      return 1.0;
  }
}

NoiseSpec noise_at(const NoiseSpec& base, int level, double largest) {
  NoiseSpec noise = base;
  const double reached = noise_rate(level, largest);
  (by_rate(base.kind)               ? noise.rate
   : base.kind == NoiseKind::bursts ? noise.strength
                                    : noise.fraction) = reached;
  return noise;
}

StressResult stress(const Model& model, const Dataset& data, std::span<const std::size_t> series,
                    ThreadPool& pool, const StressOptions& options) {
  model.check_data(data);
  if (options.guards.empty() || options.seeds.empty())
    throw Error("a noise sweep needs at least one guard and one seed");
  for (const int level : options.levels) noise_at(options.noise, level, options.largest);
  if (model.network->classes() == 0)
    throw Error("this model has no classifier; make one with `edict classify`");
  return Sweep(model, data, series, pool, options).run();
}

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

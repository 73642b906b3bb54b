#include "base/error.h"
#include "base/json/json_values.h"
#include "render/browse.h"

namespace edict::study {
namespace {

using nlohmann::json;

json to_json(const BrowsedClip& clip) { return {clip.time, clip.raw, clip.used, clip.sigmas}; }

json to_json(const BrowsedBand& band) {
  json clips = json::array();
  for (const BrowsedClip& clip : band.clips) clips.push_back(to_json(clip));
  return {{"mean", band.mean},
          {"half", band.half},
          {"aleatoric", band.aleatoric},
          {"epistemic", band.epistemic},
          {"clips", std::move(clips)}};
}

json to_json(const BrowsedView& view) {
  json features = json::array();
  for (const BrowsedBand& band : view.features) features.push_back(to_json(band));
  return {{"features", std::move(features)}, {"probability", view.probability}};
}

json to_json(const BrowsedSeries& series) {
  json features = json::array();
  for (const BrowsedFeature& feature : series.features)
    features.push_back({{"name", feature.name},
                        {"seen", feature.seen},
                        {"later", feature.later},
                        {"noisy", feature.noisy}});
  return {{"id", series.id},
          {"label", series.label ? json(*series.label) : json(nullptr)},
          {"times", series.times},
          {"features", std::move(features)},
          {"forecast", to_json(series.forecast)},
          {"noisy", to_json(series.noisy)}};
}

// A list of numbers, one a time.
std::vector<double> over_time(const json& list, std::size_t times) {
  std::vector<double> numbers = numbers_or_nan(list);
  if (numbers.size() != times) throw Error("a line of a browsed series does not have all times");
  return numbers;
}

BrowsedView view_from_json(const json& value, std::size_t times, std::size_t features) {
  BrowsedView view;
  for (const json& band : value.at("features")) {
    view.features.push_back({over_time(band.at("mean"), times),
                             over_time(band.at("half"), times),
                             over_time(band.at("aleatoric"), times),
                             over_time(band.at("epistemic"), times),
                             {}});
    for (const json& clip : band.at("clips"))
      view.features.back().clips.push_back({number_or_nan(clip.at(0)), number_or_nan(clip.at(1)),
                                            number_or_nan(clip.at(2)), number_or_nan(clip.at(3))});
  }
  if (view.features.size() != features)
    throw Error("a view of a browsed series does not have all features");
  for (const json& line : value.at("probability"))
    view.probability.push_back(over_time(line, times));
  return view;
}

BrowsedSeries series_from_json(const json& value) {
  BrowsedSeries series;
  value.at("id").get_to(series.id);
  series.label = optional_from_json<std::string>(value.at("label"));
  value.at("times").get_to(series.times);
  if (series.times.empty()) throw Error("a browsed series without times");
  for (const json& feature : value.at("features"))
    series.features.push_back(
        {feature.at("name").get<std::string>(), feature.at("seen").get<TimedValues>(),
         feature.at("later").get<TimedValues>(), feature.at("noisy").get<TimedValues>()});
  const std::size_t times = series.times.size(), features = series.features.size();
  series.forecast = view_from_json(value.at("forecast"), times, features);
  series.noisy = view_from_json(value.at("noisy"), times, features);
  return series;
}

}  // namespace

json to_json(const Browse& browse) {
  json series = json::array();
  for (const BrowsedSeries& one : browse.series) series.push_back(to_json(one));
  return {{"level", browse.level},
          {"t_cut", browse.t_cut},
          {"noise_level", browse.noise_level},
          {"classes", browse.classes},
          {"series", std::move(series)}};
}

void from_json(const json& value, Browse& browse) {
  value.at("level").get_to(browse.level);
  value.at("t_cut").get_to(browse.t_cut);
  value.at("noise_level").get_to(browse.noise_level);
  value.at("classes").get_to(browse.classes);
  browse.series.clear();
  for (const json& one : value.at("series")) browse.series.push_back(series_from_json(one));
}

}  // namespace edict::study

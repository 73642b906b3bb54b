#include "front/cli/data_json.h"

#include "base/json/json.h"
#include "data/summary.h"

namespace edict::cli {

// NaN, which JSON has no word for, becomes null where it is written.
nlohmann::json data_json(const std::string& path, const Dataset& data) {
  const Summary s = summarise(data);
  nlohmann::json json{{"data", path},
                      {"series", s.series},
                      {"empty_series", s.empty_series},
                      {"events", s.events},
                      {"observations", s.observations},
                      {"first_time", s.first_time},
                      {"last_time", s.last_time},
                      {"median_gap", s.median_gap},
                      {"features", nlohmann::json::array()},
                      {"statics", nlohmann::json::array()},
                      {"classes", nlohmann::json::array()},
                      {"unlabelled", s.unlabelled},
                      {"groups", data.groups.size()}};
  for (std::size_t j = 0; j < data.features.size(); ++j) {
    const FeatureSummary& f = s.features[j];
    json["features"].push_back({{"name", data.features[j]},
                                {"observed", f.count},
                                {"missing", f.missing},
                                {"mean", f.mean},
                                {"std", f.std},
                                {"min", f.min},
                                {"max", f.max}});
  }
  for (std::size_t c = 0; c < data.statics.size(); ++c)
    json["statics"].push_back({{"name", data.statics[c]},
                               {"missing", s.statics[c].missing},
                               {"mean", s.statics[c].mean},
                               {"std", s.statics[c].std}});
  for (std::size_t k = 0; k < data.classes.size(); ++k)
    json["classes"].push_back({{"name", data.classes[k]}, {"series", s.class_counts[k]}});
  return json;
}

}  // namespace edict::cli

#include "base/json/json_values.h"
#include "render/json/scores_json.h"
#include "research/report/results.h"

namespace edict::report {
namespace {

using nlohmann::json;

template <class T>
json value_or_null(const std::optional<T>& value) {
  return value ? json(*value) : json(nullptr);
}

json to_json(const DatasetRow& row) {
  json published;
  if (row.published)
    published = {{"classes", row.published->classes},
                 {"features", row.published->features},
                 {"series", row.published->series}};
  return {{"dataset", row.title},
          {"name", row.name},
          {"classes", row.classes},
          {"features", row.features},
          {"series", row.series},
          {"events_per_series", row.events_per_series},
          {"observations", row.observations},
          {"time_unit", row.time_unit},
          {"published", std::move(published)}};
}

json row_of(const std::string& dataset, const std::string& method, const Comparison& value) {
  return {{"dataset", dataset},
          {"method", method},
          {"ours", json_or_null(value.ours)},
          {"published", json_or_null(value.published)},
          {"verdict", value.verdict ? json(name_of(*value.verdict)) : json(nullptr)},
          {"runs", value.runs}};
}

json to_json(const CalibrationRow& row) {
  json result = row_of(row.dataset, row.method, row.value);
  result["task"] = name_of(row.task);
  result["metric"] = name_of(row.metric);
  return result;
}

json to_json(const ScoreRow& row) {
  json result = row_of(row.dataset, row.method, row.value);
  result["level"] = value_or_null(row.level);
  return result;
}

json to_json(const RunRow& row) {
  return {{"dataset", row.dataset},
          {"method", row.method},
          {"seed", row.seed},
          {"folder", row.folder},
          {"failure", value_or_null(row.failure)}};
}

template <class Row>
json table(const std::vector<Row>& rows) {
  json result = json::array();
  for (const Row& row : rows) result.push_back(to_json(row));
  return result;
}

}  // namespace

json to_json(const Results& results) {
  return {{"levels", results.levels},
          {"seeds", results.seeds},
          {"datasets", table(results.datasets)},
          {"calibration", table(results.calibration)},
          {"accuracy", table(results.accuracy)},
          {"auroc", table(results.auroc)},
          {"runs", table(results.runs)}};
}

}  // namespace edict::report

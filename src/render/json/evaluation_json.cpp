#include "render/json/evaluation_json.h"

#include "base/json/json_values.h"
#include "render/json/breakdown_json.h"
#include "render/json/classes_json.h"
#include "render/json/scores_json.h"

namespace edict {

nlohmann::json evaluation_json(const std::optional<DetailedEvaluation>& distributions,
                               const std::optional<ClassifierEvaluation>& classes) {
  nlohmann::json json = nlohmann::json::object();
  if (distributions) {
    json = to_json(distributions->evaluation);
    json["breakdown"] = to_json(distributions->breakdown);
  }
  json["ensemble"] = distributions ? json_or_null(distributions->members) : nullptr;
  json["joint"] = distributions ? json_or_null(distributions->joint) : nullptr;
  json["classifier"] = json_or_null(classes);
  return json;
}

}  // namespace edict

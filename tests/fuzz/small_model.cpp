#include <cmath>

#include "fuzz/promise.h"
#include "model/config.h"
#include "protocol/split.h"

namespace edict::fuzz {

const Dataset& few_series() {
  static const Dataset made = [] {
    Dataset data;
    data.features = {"x1", "x2", "x3"};
    data.first_event = {0};
    data.first_observation = {0};
    for (int series = 0; series < 12; ++series) {
      data.ids.push_back("s" + std::to_string(series));
      data.labels.push_back(Dataset::kNone);
      data.group_of.push_back(Dataset::kNone);
      for (int event = 0; event < 4; ++event) {
        data.times.push_back(event + 0.1 * series);
        for (int f = event % 2; f < 3; ++f) {
          data.feature.push_back(f);
          data.value.push_back(std::sin(series + 0.7 * event + f));
        }
        data.first_observation.push_back(data.value.size());
      }
      data.first_event.push_back(data.times.size());
    }
    data.check();
    return data;
  }();
  return made;
}

const std::shared_ptr<const Model>& smallest() {
  static const std::shared_ptr<const Model> made = [] {
    const Dataset& data = few_series();
    Config config;
    for (const char* set : {"model.hidden=2", "model.head_hidden=2", "model.encoder_width=1"})
      assign(config, set);
    config.data.train = 0.6;
    config.data.validation = 0.2;
    return std::make_shared<const Model>(Model::create(config, data, split(data, config.data)));
  }();
  return made;
}

}  // namespace edict::fuzz

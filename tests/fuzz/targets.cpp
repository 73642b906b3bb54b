#include "fuzz/targets.h"

#include <iterator>

#include "edict/model/config.h"
#include "edict/model/safetensors.h"
#include "edict/protocol/split.h"
#include "fuzz/call_sequence.h"
#include "fuzz/promise.h"

namespace edict::fuzz {
namespace {

void calls(std::string_view bytes) {
  static const std::string model_bytes = tensor_bytes(to_tensors(*smallest()));
  call_sequence(bytes, model_bytes);
}

std::vector<std::string> call_scripts() {
  using namespace std::string_literals;
  return {"\x00\x02\x03\x00\x00\x01\x02\x00\x00\x01\x01\x80\x90\x85\x95\x04\x00\x06\x01\x99"s,
          "\x07\x04\x00\x08\x01\x00\x01\x00\x90\x80\x09\x00\xa0\x0a\x00\x0b\x01\x00\x09\x00\xa0"s};
}

}  // namespace

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

std::span<const Target> targets() {
  static const std::vector<Target> all = [] {
    std::vector<Target> list = table_targets();
    for (const auto& more : {file_targets(), server_targets()})
      list.insert(list.end(), more.begin(), more.end());
    list.push_back({"calls", calls, call_scripts});
    return list;
  }();
  return all;
}

}  // namespace edict::fuzz

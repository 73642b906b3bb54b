// Reads golden/edict.json: small models with their weights, series, and what PyTorch says of them.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "base/json/json.h"
#include "engine/heads/niw_head.h"
#include "engine/jump_ode.h"
#include "model/config.h"
#include "model/registry.h"
#include "protocol/timeline.h"
#include "temporary_folder.h"

namespace edict {

inline nlohmann::json read_golden() {
  return nlohmann::json::parse(
      content(EDICT_SOURCE_DIR "/tests/engine/golden/edict.json", "run write_golden.py beside it"));
}

// A case names its shape (sizes and weights, shared by many cases) and sets some keys of its own.
inline Config golden_config(const nlohmann::json& shape, const nlohmann::json& own) {
  Config config;
  for (const char* key : {"hidden", "head_hidden", "encoder_width", "step"})
    assign(config, std::string("model.") + key + "=" + shape.at(key).dump());
  for (const auto& [key, value] : own.items())
    assign(config, key + "=" + (value.is_string() ? value.get<std::string>() : value.dump()));
  return config;
}

inline JumpOde<NiwHead> golden_model(const Config& config, const nlohmann::json& shape) {
  return {network_settings(config), shape.at("features").get<Index>(),
          shape.at("covariates").get<Index>()};
}

// A tensor's values whatever its shape, which is checked: [out, in] and so on, row-major.
inline void flatten(const nlohmann::json& tensor, std::size_t depth,
                    const std::vector<Index>& shape, std::vector<double>& values) {
  if (depth == shape.size()) {
    values.push_back(tensor.get<double>());
    return;
  }
  if (!tensor.is_array() || static_cast<Index>(tensor.size()) != shape[depth])
    throw Error("a golden tensor has another shape than the model's");
  for (const auto& row : tensor) flatten(row, depth + 1, shape, values);
}

template <class S>
Vector<S> golden_weights(const ParameterLayout& layout, const nlohmann::json& tensors) {
  if (tensors.size() != layout.tensors().size())
    throw Error("the golden model has other tensors than ours");
  Vector<S> params(layout.size());
  for (const Tensor& tensor : layout.tensors()) {
    std::vector<double> values;
    flatten(tensors.at(tensor.name), 0, tensor.shape, values);
    for (Index i = 0; i < tensor.size; ++i)
      params[tensor.offset + i] = static_cast<S>(values[static_cast<std::size_t>(i)]);
  }
  return params;
}

template <class S>
std::vector<Timeline<S>> golden_timelines(const nlohmann::json& many) {
  std::vector<Timeline<S>> timelines;
  for (const auto& series : many) {
    Timeline<S>& timeline = timelines.emplace_back();
    timeline.id = "golden";
    timeline.start = series.at("start");
    timeline.covariates = series.at("covariates").get<std::vector<S>>();
    for (const auto& event : series.at("events")) {
      timeline.stop(event.at("time"), event.at("absorb").get<bool>()
                                          ? Timeline<S>::kScore | Timeline<S>::kAbsorb
                                          : Timeline<S>::kScore);
      for (std::size_t k = 0; k < event.at("feature").size(); ++k)
        timeline.observe(event.at("feature")[k], event.at("value")[k].get<S>());
    }
  }
  return timelines;
}

}  // namespace edict

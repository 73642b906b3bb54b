// Reads the files that golden/write_<model>_golden.py wrote: a configuration, series, parameters,
// and what the PyTorch peer made of them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/json/json.h"
#include "model/config.h"
#include "model/registry.h"
#include "nn/parameters.h"
#include "protocol/timeline.h"
#include "temporary_folder.h"

namespace edict {

inline std::vector<nlohmann::json> peer_cases(const std::string& name) {
  const std::string text = content(EDICT_SOURCE_DIR "/tests/engine/golden/" + name + ".json",
                                   "run write_" + name + "_golden.py beside it");
  auto cases = nlohmann::json::parse(text).get<std::vector<nlohmann::json>>();
  if (cases.empty()) throw std::runtime_error(name + ".json holds no case");
  return cases;
}

inline Config peer_config(const nlohmann::json& c) {
  Config config;
  for (const auto& [key, value] : c.at("config").items())
    assign(config, key + "=" + (value.is_string() ? value.get<std::string>() : value.dump()));
  return config;
}

template <class S>
std::vector<Timeline<S>> peer_timelines(const nlohmann::json& c) {
  std::vector<Timeline<S>> timelines;
  for (const auto& series : c.at("series")) {
    Timeline<S> timeline;
    timeline.id = "golden";
    timeline.start = series.at("start");
    timeline.covariates = series.at("covariates").get<std::vector<S>>();
    for (const auto& event : series.at("events")) {
      timeline.stop(event.at("time"), Timeline<S>::kAbsorb | Timeline<S>::kScore);
      for (std::size_t k = 0; k < event.at("feature").size(); ++k)
        timeline.observe(event.at("feature")[k], event.at("value")[k].get<S>());
    }
    timelines.push_back(timeline);
  }
  return timelines;
}

template <class S>
Vector<S> peer_vector(const ParameterLayout& layout, const nlohmann::json& tensors) {
  Vector<S> values(layout.size());
  EXPECT_EQ(tensors.size(), layout.tensors().size());
  for (const Tensor& tensor : layout.tensors()) {
    const auto stored = tensors.at(tensor.name).template get<std::vector<double>>();
    if (static_cast<Index>(stored.size()) != tensor.size)
      throw std::runtime_error(tensor.name + " has another size in the golden file");
    for (Index i = 0; i < tensor.size; ++i)
      values[tensor.offset + i] = static_cast<S>(stored[static_cast<std::size_t>(i)]);
  }
  return values;
}

// Entries are held against the largest of their tensor.
template <class S>
void expect_peer_gradients(const ParameterLayout& layout, const Vector<S>& grads,
                           const nlohmann::json& expected, double tolerance) {
  const Vector<double> reference = peer_vector<double>(layout, expected);
  for (const Tensor& tensor : layout.tensors()) {
    const auto there = reference.segment(tensor.offset, tensor.size);
    const auto here = grads.segment(tensor.offset, tensor.size).template cast<double>();
    const double largest = std::max(1e-3, there.cwiseAbs().maxCoeff());
    EXPECT_LT((here - there).cwiseAbs().maxCoeff() / largest, tolerance) << tensor.name;
  }
}

}  // namespace edict

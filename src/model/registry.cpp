#include "model/registry.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/error.h"
#include "baselines/gru_d.h"
#include "baselines/ipn.h"
#include "baselines/seft.h"
#include "engine/jump_ode_network.h"
#include "model/config.h"

namespace edict {

std::span<const ModelKind> model_kinds() {
  static const ModelKind kinds[] = {edict_kind(), gru_ode_bayes_kind(), gru_d_kind(), ipn_kind(),
                                    seft_kind()};
  return kinds;
}

const ModelKind& model_kind(std::string_view name) {
  const auto found = std::ranges::find(model_kinds(), name, &ModelKind::name);
  if (found == model_kinds().end()) throw Error(fmt::format("unknown model.kind '{}'", name));
  return *found;
}

NetworkSettings network_settings(const Config& config) {
  const EngineSettings& engine = config.model;  // without the kind and what only it knows
  return {engine,
          config.loss,
          config.model.own,
          config.classify.layers,
          config.train.tape_megabytes,
          {},
          config.data.time_unit,
          config.data.clock_origin()};
}

std::unique_ptr<Network> make_network(const Config& config,
                                      const std::vector<std::string>& features, Index covariates,
                                      Index classes) {
  const ModelKind& kind = model_kind(config.model.kind);
  if (classes == 0 && !kind.has_distribution)
    throw Error(fmt::format("{} only classifies; give it data with a label column", kind.name));
  NetworkSettings settings = network_settings(config);
  settings.feature_names = features;
  return kind.make(settings, static_cast<Index>(features.size()), covariates, classes);
}

}  // namespace edict

// Every kind of model there is. A kind describes itself in its own file; it is listed here.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/network.h"

namespace edict {

struct Config;

std::span<const ModelKind> model_kinds();

// Throws Error for a name that no kind has.
const ModelKind& model_kind(std::string_view name);

// The part of the settings that a network is built from.
NetworkSettings network_settings(const Config& config);

// classes = 0: without a classifier, which only a kind with a distribution can be. Throws Error for
// a kind that does not exist.
std::unique_ptr<Network> make_network(const Config& config,
                                      const std::vector<std::string>& features, Index covariates,
                                      Index classes);

}  // namespace edict

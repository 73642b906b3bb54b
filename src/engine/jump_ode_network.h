// The models on the jump ODE as the registry sees them: one kind a head.
#pragma once

#include "engine/network.h"

namespace edict {

ModelKind edict_kind();          // NiwHead
ModelKind gru_ode_bayes_kind();  // GaussianHead

}  // namespace edict

// The ways in which a jump ODE can be put together, by name, for tests of what holds for all: a
// solver of the GRU-ODE, or a combination of settings that replace parts of it.
#pragma once

#include <string>
#include <vector>

#include "edict/core/error.h"
#include "edict/model/config.h"

namespace edict {

inline const std::vector<std::string>& variants() {
  static const std::vector<std::string> names{"euler", "midpoint", "rk4", "dopri5", "closed_form"};
  return names;
}

inline void set_variant(Config& config, const std::string& name) {
  if (name == "closed_form")
    assign(config, "model.propagator=closed-form");
  else
    assign(config, "model.solver=" + name);
}

}  // namespace edict

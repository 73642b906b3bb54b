// The ways in which a jump ODE can be put together, by name, for tests of what holds for all: a
// solver of the GRU-ODE, or a combination of settings that replace parts of it.
#pragma once

#include <string>
#include <vector>

#include "model/config.h"

namespace edict {

inline const std::vector<std::string>& variants() {
  static const std::vector<std::string> names{"euler",       "midpoint", "rk4",     "dopri5",
                                              "closed_form", "recall",   "bounded", "score"};
  return names;
}

inline void set_variant(Config& config, const std::string& name) {
  if (name == "euler" || name == "midpoint" || name == "rk4" || name == "dopri5") {
    assign(config, "model.solver=" + name);
    return;
  }
  assign(config, "model.propagator=closed-form");
  if (name == "closed_form") return;
  assign(config, "model.recall=true");
  if (name == "bounded" || name == "score") assign(config, "model.absorb=" + name);
}

}  // namespace edict

#include "ode/tableau.h"

#include <string>

#include "base/error.h"

namespace edict {

const Tableau& tableau(std::string_view name) {
  for (const Tableau* candidate : {&kEuler, &kMidpoint, &kRk4, &kDopri5})
    if (candidate->name == name) return *candidate;
  throw Error("unknown solver '" + std::string(name) + "'; choose euler, midpoint, rk4 or dopri5");
}

}  // namespace edict

#include "engine/jump/guard.h"

#include <fmt/core.h>

#include "base/error.h"

namespace edict {

void check(const Guard& guard) {
  if (!(guard.eta >= 0))
    throw Error(fmt::format("eta = {}: give the number of deviations, at least 0", guard.eta));
}

Guard::Kind guard_from_name(std::string_view name) {
  for (const auto kind : {Guard::Kind::none, Guard::Kind::edgr, Guard::Kind::population})
    if (name_of(kind) == name) return kind;
  throw Error(fmt::format("guard '{}' is unknown; give one of none, edgr, pop-mean", name));
}

std::string_view name_of(Guard::Kind kind) {
  switch (kind) {
    case Guard::Kind::edgr:
      return "edgr";
    case Guard::Kind::population:
      return "pop-mean";
    default:
      return "none";
  }
}

Guard::Deviation deviation_from_name(std::string_view name) {
  if (name == "epistemic") return Guard::Deviation::epistemic;
  if (name == "predictive") return Guard::Deviation::predictive;
  throw Error(fmt::format("deviation '{}' is unknown; give one of epistemic, predictive", name));
}

}  // namespace edict

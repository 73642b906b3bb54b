// What the files of targets share.
#pragma once

#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "engine/heads/marginal.h"
#include "fuzz/targets.h"
#include "model/model.h"
#include "temporary_folder.h"

namespace edict::fuzz {

inline void promise(bool kept, const char* what) {
  if (!kept) throw std::logic_error(what);
}

// Runs `work` and forgives it an Error, as long as that says where something is wrong. Whether
// nothing was wrong comes back.
template <class Work>
bool attempt(std::string_view where, const Work& work) {
  try {
    work();
    return true;
  } catch (const Error& error) {
    const std::string_view what = error.what();
    promise(what.starts_with(where) && what.size() > where.size(),
            "an error says what is wrong, and where");
    return false;
  }
}

inline void promise_distributions(std::span<const Marginal> marginals) {
  for (const Marginal& m : marginals)
    promise(std::isfinite(m.mean) && std::isfinite(m.scale) && m.scale > 0 && m.dof > 0,
            "an answer is a distribution");
}

// What only reads files is given one. (scripts/fuzz has temporary folders in memory.)
inline std::filesystem::path written(std::string_view bytes) {
  static const TemporaryFolder folder;
  const std::filesystem::path path = folder / "f";
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

// Small data and a small model of them, the same always.
const Dataset& few_series();
const std::shared_ptr<const Model>& smallest();

}  // namespace edict::fuzz

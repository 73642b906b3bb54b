// What arguments of edict.h that many functions take stand for.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "front/capi/border.h"
#include "model/infer.h"

namespace edict::capi {

const Model& model_of(const edict_model* model);

// The caller's data with the model's columns; copied only where they differ. A model that learnt
// from pieces of series is trained further and judged on pieces, and answers about whole series.
enum class Series { whole, as_trained };
class Matched {
 public:
  Matched(const Model& model, const edict_dataset* dataset, Series series = Series::whole);
  const Dataset& data() const { return changed_ ? *changed_ : *given_; }

 private:
  const Dataset* given_;
  std::optional<Dataset> changed_;
};

std::size_t threads_from(int threads);
std::vector<std::size_t> all_of(const Dataset& data);
// Throws Error unless the times ascend; the engine relies on it.
std::vector<double> times_from(const double* times, std::size_t count);
// EDICT_SIDES_… of this model.
Sides sides_from(const Model& model, int sides);

}  // namespace edict::capi

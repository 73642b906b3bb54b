#include "front/capi/arguments.h"

#include <cmath>
#include <numeric>

#include "base/error.h"
#include "data/pieces.h"

namespace edict::capi {

const Model& model_of(const edict_model* model) {
  check_given(model, "model");
  return *model->model;
}

Matched::Matched(const Model& model, const edict_dataset* dataset, Series series) {
  check_given(dataset, "dataset");
  given_ = &dataset->data;
  if (given_->features != model.features || given_->statics != model.statics)
    changed_ = model.match(*given_).data;
  const std::size_t piece = model.reading.piece;
  if (piece > 0 && given_->reading.piece == 0 && series == Series::as_trained)
    changed_ = in_pieces(data(), piece);
}

std::size_t threads_from(int threads) {
  if (threads < 0 || threads > 1024)
    throw Error("threads: give a number from 0, for all of the machine, to 1024");
  return static_cast<std::size_t>(threads);
}

std::vector<std::size_t> all_of(const Dataset& data) {
  std::vector<std::size_t> all(data.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

std::vector<double> times_from(const double* times, std::size_t count) {
  for (std::size_t t = 0; t < count; ++t)
    if (!std::isfinite(times[t]) || (t > 0 && times[t] < times[t - 1]))
      throw Error("the times to ask for must be finite and ascend");
  return {times, times + count};
}

Sides sides_from(const Model& model, int sides) {
  if (sides < EDICT_SIDES_PAST || sides > EDICT_SIDES_KNOWN)
    throw Error("sides is " + std::to_string(sides) + "; give one of EDICT_SIDES_…");
  if (sides == EDICT_SIDES_KNOWN) return model.fusion.empty() ? Sides::past : Sides::both;
  return sides == EDICT_SIDES_BOTH ? Sides::both : Sides::past;
}

}  // namespace edict::capi

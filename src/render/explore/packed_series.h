// A series as the few bytes that it becomes inside the page of `edict explore`:
//
// clang-format off
//   events            varint, then their times (ByteWriter::exact)
//   what follows      byte: 1 expectations of the observations, 2 bands, 4 probabilities, 8 clips,
//                     16 dates
//   cut               float64, the cut-off from which forecasts go
//   dates             float64 when time is 0, in microseconds of the data's own clock since 1970;
//                     varint bytes, then the times as the data write them, a line each
//   features          varint, then of each
//     feature, n      varints
//     events          n varints: the first, then differences
//     values          n numbers, exact
//     expectations    n signed varints: z · kZSteps  (kCoarseZSteps where there are no bands)
//       with bands    n deltas: log₂(predictive deviation) · kLogSteps; n deltas: share · kShareSteps
//       forecast      varint m: of the last m observations the same three, as forecast
//     clips           varint, then of each: varint place (differences), float64 what was used
//     bands           given and forecast, each: varint points; if any: float64 low, float64 high,
//                     deltas of place in the grid, of mean and half · kBandSteps / (high − low), of
//                     log₂(half / deviation) · kLogSteps, of share · kShareSteps
//   grid              if bands or probabilities: varint, float64 first, float64 last, deltas of
//                     (t − first) · kGridSteps / (last − first)
//   probabilities     given and forecast, of each class: varint points, deltas of places, deltas of
//                     p · kShareSteps
//
// clang-format on
#pragma once

#include <cstddef>
#include <string>

#include "ask/expectations.h"
#include "model/model.h"
#include "render/explore/explored_series.h"

namespace edict::report {

inline constexpr int kZSteps = 1000, kCoarseZSteps = 20, kLogSteps = 256, kShareSteps = 1000;
inline constexpr int kBandSteps = 4096, kGridSteps = 1 << 20;

// `expected`: one entry an observation of the series in the dataset's order, or null without a
// distribution; `forecast`: the same, given only what came before the cut-off; null with `bands`.
struct ExploredParts {
  const Expectations* expected = nullptr;
  const Expectations* forecast = nullptr;
  const ExploredBands* bands = nullptr;
  double tolerance = 0;  // of the bands
};
std::string packed_series(const Model& model, const Dataset& data, std::size_t series,
                          const ExploreRequest& request, const ExploredParts& parts);

}  // namespace edict::report

#include "data/pieces.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/quantile.h"

namespace edict {
namespace {

// Fewer series than this are always cut, where that gives kFewestPieces; fewer than kManySeries
// where they are long.
constexpr std::size_t kFewSeries = 10, kManySeries = 30;
constexpr std::size_t kFewestPieces = 10;
constexpr std::size_t kLong = 100;           // events of the median series
constexpr std::size_t kPiecesOfSeries = 20;  // about, of the median series
constexpr std::size_t kShortest = 5, kLongest = 128;
constexpr std::size_t kShortestAlone = 3;  // of a single series

// Events of the median series.
std::size_t usual_length(const Dataset& data) {
  std::vector<std::size_t> lengths;
  for (std::size_t i = 0; i < data.size(); ++i) lengths.push_back(data.events(i));
  return median(std::move(lengths));
}

}  // namespace

std::size_t piece_length(const Dataset& data) {
  if (data.size() == 0 || data.size() >= kManySeries) return 0;
  const std::size_t usual = usual_length(data);
  if (data.size() >= kFewSeries && usual < kLong) return 0;
  const std::size_t length = std::clamp(usual / kPiecesOfSeries, kShortest, kLongest);
  if (data.events() / length >= kFewestPieces) return length;
  // One series alone cannot be split in any other way.
  const std::size_t shorter = data.events() / kFewestPieces;
  return data.size() == 1 && shorter >= kShortestAlone ? shorter : 0;
}

Dataset in_pieces(const Dataset& data, std::size_t events) {
  Dataset result;
  result.features = data.features;
  result.statics = data.statics;
  result.classes = data.classes;
  result.groups = data.groups;
  result.times = data.times;
  result.first_observation = data.first_observation;
  result.feature = data.feature;
  result.value = data.value;
  result.reading = data.reading;
  result.reading.piece = events;
  std::vector<std::size_t> whole;  // the series that each piece is of
  for (std::size_t i = 0; i < data.size(); ++i) {
    const std::size_t begin = data.first_event[i], end = data.first_event[i + 1];
    std::size_t number = 1;
    for (std::size_t from = begin; from < end || from == begin; from += events, ++number) {
      result.ids.push_back(data.ids[i] + "/" + std::to_string(number));
      result.labels.push_back(data.labels[i]);
      result.group_of.push_back(data.group_of[i]);
      const auto covariates = data.covariates(i);
      result.static_values.append(covariates.begin(), covariates.end());
      result.continues.push_back(number > 1);
      result.first_event.push_back(std::min(from + events, end));
      whole.push_back(i);
    }
  }
  result.time_axis = data.time_axis.subset(whole);
  return result;
}

}  // namespace edict

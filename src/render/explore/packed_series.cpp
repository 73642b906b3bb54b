#include "render/explore/packed_series.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "ask/anomalies.h"
#include "render/explore/packed.h"

namespace edict::report {
namespace {

constexpr std::uint8_t kHasExpectations = 1, kHasBands = 2, kHasProbabilities = 4, kHasClips = 8,
                       kHasDates = 16;

std::int64_t steps(double value, double of_one) {
  constexpr double kMost = 1e12;  // far beyond any picture, and safe in the script's integers
  const double scaled = value * of_one;
  return std::isnan(scaled)
             ? 0
             : static_cast<std::int64_t>(std::nearbyint(std::clamp(scaled, -kMost, kMost)));
}

template <class Range, class Value>
void put_deltas(ByteWriter& to, const Range& range, const Value& value) {
  std::vector<std::int64_t> numbers;
  for (const auto& item : range) numbers.push_back(value(item));
  to.deltas(numbers);
}

template <class Point>
void put_places(ByteWriter& to, const Curve<Point>& curve) {
  put_deltas(to, curve.at, [](std::uint32_t k) { return static_cast<std::int64_t>(k); });
}

void put_band(ByteWriter& to, const Band& band) {
  to.varint(band.at.size());
  if (band.at.empty()) return;
  const BandExtent extent = extent_of(band);
  const double low = extent.low, high = extent.high;
  const double unit = high > low ? kBandSteps / (high - low) : 0.0;
  to.float64(low);
  to.float64(high);
  put_places(to, band);
  put_deltas(to, band.points, [&](const BandPoint& p) { return steps(p.mean - low, unit); });
  put_deltas(to, band.points, [&](const BandPoint& p) { return steps(p.half, unit); });
  put_deltas(to, band.points,
             [](const BandPoint& p) { return steps(std::log2(p.half / p.deviation), kLogSteps); });
  put_deltas(to, band.points, [](const BandPoint& p) { return steps(p.share, kShareSteps); });
}

void put_curve(ByteWriter& to, const Curve<double>& curve) {
  to.varint(curve.at.size());
  put_places(to, curve);
  put_deltas(to, curve.points, [](double p) { return steps(p, kShareSteps); });
}

// z, and where `whole` also deviation and share, of the listed observations.
void put_expectations(ByteWriter& to, const Dataset& data, std::size_t first,
                      std::span<const std::size_t> observations, const Expectations& expected,
                      bool whole) {
  std::vector<BandPoint> points;
  for (const std::size_t k : observations) {
    const Marginal& m = expected.observations[k - first].expected;
    if (whole) points.push_back(band_point(m, 0.5));
    to.signed_varint(steps(surprise(m, data.value[k]).z, whole ? kZSteps : kCoarseZSteps));
  }
  if (!whole) return;
  put_deltas(to, points,
             [](const BandPoint& p) { return steps(std::log2(p.deviation), kLogSteps); });
  put_deltas(to, points, [](const BandPoint& p) { return steps(p.share, kShareSteps); });
}

void put_grid(ByteWriter& to, const std::vector<double>& grid) {
  to.varint(grid.size());
  if (grid.empty()) return;
  const double span = grid.back() - grid.front();
  to.float64(grid.front());
  to.float64(grid.back());
  put_deltas(to, grid, [&](double t) {
    return span > 0 ? steps((t - grid.front()) / span, kGridSteps) : std::int64_t{0};
  });
}

void put_dates(ByteWriter& to, const Dataset& data, std::size_t series) {
  constexpr double kMinute = 60e6;
  to.float64(data.time_axis.origin_of(series) + data.time_axis.zone * kMinute);
  std::string text;
  for (std::size_t e = data.first_event[series]; e < data.first_event[series + 1]; ++e) {
    if (!text.empty()) text += '\n';
    text += written_time(data, series, data.times[e]);
  }
  to.varint(text.size());
  to.append(text);
}

// The observations of each shown feature, as places in the dataset's arrays.
struct Shown {
  std::vector<std::vector<std::size_t>> observations;  // as the features
  std::vector<std::size_t> event_of;                   // of each observation of the series
};

Shown shown_observations(const Dataset& data, std::size_t series,
                         const std::vector<std::size_t>& features) {
  std::vector<std::size_t> place(data.features.size(), features.size());
  for (std::size_t j = 0; j < features.size(); ++j) place[features[j]] = j;
  Shown shown{std::vector<std::vector<std::size_t>>(features.size()), {}};
  const std::size_t first_event = data.first_event[series];
  for (std::size_t e = first_event; e < data.first_event[series + 1]; ++e)
    for (std::size_t k = data.first_observation[e]; k < data.first_observation[e + 1]; ++k) {
      shown.event_of.push_back(e - first_event);
      const std::size_t j = place[static_cast<std::size_t>(data.feature[k])];
      if (j < features.size()) shown.observations[j].push_back(k);
    }
  return shown;
}

// Where the guard changed the listed observations of a feature, and what it used.
void put_clips(ByteWriter& to, const Dataset& data, std::size_t feature,
               std::span<const std::size_t> observations, const Expectations& expected) {
  std::vector<const Clip*> changed;
  for (const Clip& clip : expected.clips)
    if (static_cast<std::size_t>(data.feature[clip.observation]) == feature)
      changed.push_back(&clip);
  to.varint(changed.size());
  std::size_t before = 0;
  for (const Clip* clip : changed) {
    const auto place = static_cast<std::size_t>(
        std::lower_bound(observations.begin(), observations.end(), clip->observation) -
        observations.begin());
    to.varint(place - before);
    before = place;
    to.float64(clip->used);
  }
}

// The bytes of one series.
class SeriesPacker {
 public:
  SeriesPacker(const Model& model, const Dataset& data, std::size_t series,
               const ExploreRequest& request, const ExploredParts& parts)
      : data_(data),
        series_(series),
        parts_(parts),
        first_event_(data.first_event[series]),
        first_(data.first_observation[first_event_]),
        cut_(model.protocol.cut_of(data, series)),
        features_(shown_features(data, series, request)),
        shown_(shown_observations(data, series, features_)) {}

  std::string packed() {
    to_.varint(data_.events(series_));
    to_.exact(std::span(data_.times).subspan(first_event_, data_.events(series_)));
    const bool dates = data_.time_axis.is_calendar();
    to_.byte(static_cast<std::uint8_t>((parts_.expected ? kHasExpectations : 0) |
                                       (has_bands() ? kHasBands : 0) |
                                       (has_probabilities() ? kHasProbabilities : 0) |
                                       (has_clips() ? kHasClips : 0) | (dates ? kHasDates : 0)));
    to_.float64(cut_);
    if (dates) put_dates(to_, data_, series_);
    to_.varint(features_.size());
    for (std::size_t j = 0; j < features_.size(); ++j) put_feature(j);
    if (has_bands() || has_probabilities()) put_grid(to_, parts_.bands->grid);
    if (has_probabilities()) {
      put_curves(parts_.bands->given_probability);
      put_curves(parts_.bands->forecast_probability);
    }
    return to_.bytes();
  }

 private:
  bool has_bands() const { return parts_.bands && !parts_.bands->features.empty(); }
  bool has_probabilities() const {
    return parts_.bands && !parts_.bands->given_probability.empty();
  }
  bool has_clips() const { return parts_.expected && !parts_.expected->clips.empty(); }

  void put_feature(std::size_t j) {
    const std::vector<std::size_t>& own = shown_.observations[j];
    to_.varint(features_[j]);
    to_.varint(own.size());
    std::size_t last = 0;
    std::vector<double> values;
    for (const std::size_t k : own) {
      to_.varint(shown_.event_of[k - first_] - last);
      last = shown_.event_of[k - first_];
      values.push_back(data_.value[k]);
    }
    to_.exact(values);
    if (parts_.expected) put_expected(own);
    if (has_clips()) put_clips(to_, data_, features_[j], own, *parts_.expected);
    if (!has_bands()) return;
    const ExploredFeature& drawn = parts_.bands->features[j];
    put_band(to_, thinned(parts_.bands->grid, drawn.given, parts_.tolerance));
    put_band(to_, thinned(parts_.bands->grid, drawn.forecast, parts_.tolerance));
  }

  void put_expected(const std::vector<std::size_t>& own) {
    put_expectations(to_, data_, first_, own, *parts_.expected, has_bands());
    if (!has_bands()) return;
    const auto later = std::find_if(own.begin(), own.end(), [&](std::size_t k) {
      return data_.times[first_event_ + shown_.event_of[k - first_]] >= cut_;
    });
    const auto forecast = std::span(own).subspan(static_cast<std::size_t>(later - own.begin()));
    to_.varint(forecast.size());
    put_expectations(to_, data_, first_, forecast, *parts_.forecast, true);
  }

  void put_curves(const std::vector<Curve<double>>& curves) {
    to_.varint(curves.size());
    for (const Curve<double>& curve : curves)
      put_curve(to_, thinned(parts_.bands->grid, curve, parts_.tolerance));
  }

  const Dataset& data_;
  const std::size_t series_;
  const ExploredParts& parts_;
  const std::size_t first_event_, first_;
  const double cut_;
  const std::vector<std::size_t> features_;
  const Shown shown_;
  ByteWriter to_;
};

}  // namespace

std::string packed_series(const Model& model, const Dataset& data, std::size_t series,
                          const ExploreRequest& request, const ExploredParts& parts) {
  return SeriesPacker(model, data, series, request, parts).packed();
}

}  // namespace edict::report

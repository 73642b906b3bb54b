#include "render/explore/explored_list.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string_view>
#include <utility>

#include "ask/anomalies.h"
#include "ask/classification.h"
#include "base/not_finite.h"
#include "render/explore/packed.h"
#include "render/explore/packed_series.h"

namespace edict::report {
namespace {

// How closely a band follows the model, as a share of its chart's height, finest first.
constexpr std::array<double, 4> kTolerances{1.0 / 600, 1.0 / 300, 1.0 / 150, 1.0 / 75};
// The series in which the price of a band is measured.
constexpr std::size_t kSample = 24;
// Bands may take at least this share of the page, even if some observations then do not fit.
constexpr double kLeastForBands = 0.35;
// Series are compressed together in blocks of this many bytes: large enough to compress well, small
// enough that opening one is quick and that they fill a small page evenly.
constexpr double kLeastBlock = 1 << 13, kMostBlock = 1 << 18, kBlocksAPage = 32;
// Series that are asked together.
constexpr std::size_t kLeastTogether = 32, kTogether = 256;
constexpr std::size_t kMemory = std::size_t{256} << 20;
// Shares of the work when that is done.
constexpr double kListing = 0.3, kFilled = 0.98;

double page_bytes(std::string_view bytes) {
  return std::ceil(static_cast<double>(deflated(bytes).size()) / 3) * 4;
}

}  // namespace

std::vector<Expectations> ExploredList::expected_of(std::span<const std::size_t> series) const {
  if (has_distribution())
    return expectations(model_, data_, series,
                        {request_.guard, kInfinity, /*classes=*/true, stop()}, pool_);
  std::vector<Expectations> expected;
  if (model_.network->classes() == 0) return expected;
  const ClassProbabilities p =
      class_probabilities(model_, data_, series, pool_, request_.guard, stop());
  expected.resize(series.size());
  for (std::size_t i = 0; i < series.size(); ++i)
    expected[i].probability.assign(p.row(i).begin(), p.row(i).end());
  return expected;
}

void ExploredList::list() {
  std::size_t done = 0;
  for (std::size_t begin = 0; begin < series_.size(); begin += kTogether) {
    leave_if_stopped(stop());
    const auto some = series_.subspan(begin, std::min(kTogether, series_.size() - begin));
    const std::vector<Expectations> expected = expected_of(some);
    pool_.for_each(some.size(), [&](std::size_t i, std::size_t) {
      Listed& one = listed_[begin + i];
      if (!expected.empty()) one.probability = expected[i].probability;
      if (has_distribution()) judge(expected[i], one);
      one.observations =
          packed_series(model_, data_, some[i], request_,
                        {has_distribution() ? &expected[i] : nullptr, nullptr, nullptr, 0.0});
    });
    if (has_distribution())
      for (std::size_t i = 0; i < some.size(); ++i)
        surprising_.add(data_, begin + i, some[i], expected[i]);
    done += some.size();
    tell(kListing * static_cast<double>(done) / static_cast<double>(series_.size()));
  }
  rank();
}

void ExploredList::judge(const Expectations& expected, Listed& one) const {
  for (const ExpectedObservation& o : expected.observations) {
    one.surprise = std::max(one.surprise, surprise_of(o.expected, o.observed));
    const Surprise judged = surprise(o.expected, o.observed);
    one.largest_z = std::max(one.largest_z, std::abs(judged.z));
    one.mean_log_score +=
        judged.log_score - std::log(model_.protocol.standardisation.scale[o.feature]);
  }
  if (!expected.observations.empty())
    one.mean_log_score /= static_cast<double>(expected.observations.size());
}

// The order in which series get room: by their most surprising observation; without a
// distribution by the number of events.
void ExploredList::rank() {
  order_.resize(series_.size());
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  std::stable_sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
    if (!has_distribution()) return data_.events(series_[a]) > data_.events(series_[b]);
    const Listed &one = listed_[a], &other = listed_[b];
    return one.surprise != other.surprise ? one.surprise > other.surprise
                                          : one.largest_z > other.largest_z;
  });
}

ExploredList::Whole ExploredList::computed(std::span<const std::size_t> places) const {
  std::vector<std::size_t> series;
  for (const std::size_t place : places) series.push_back(series_[place]);
  Whole whole;
  if (has_distribution()) {
    const Guard& guard = request_.guard;
    whole.expected = expectations(model_, data_, series, {guard, kInfinity, false, stop()}, pool_);
    ExpectationRequest forecast{guard, kInfinity, false, stop()};
    forecast.from_cut = true;
    whole.forecast = expectations(model_, data_, series, forecast, pool_);
  }
  whole.bands = explored_bands(model_, data_, series, request_, pool_);
  return whole;
}

std::string ExploredList::packed(const Whole& whole, std::size_t i, std::size_t place,
                                 double tolerance) const {
  return packed_series(
      model_, data_, series_[place], request_,
      {has_distribution() ? &whole.expected[i] : nullptr,
       has_distribution() ? &whole.forecast[i] : nullptr, &whole.bands[i], tolerance});
}

// From `begin` of the order on, as many as memory bears, and at most `most`.
std::span<const std::size_t> ExploredList::together(std::size_t begin, std::size_t most) const {
  std::size_t count = 0, bytes = 0;
  while (begin + count < order_.size() && count < most) {
    bytes += band_bytes(model_, data_, series_[order_[begin + count]]);
    if (count > 0 && bytes > kMemory) break;
    ++count;
  }
  return std::span(order_).subspan(begin, count);
}

// Chooses the finest tolerance with which all series would fit, or else the coarsest. Tells what
// share of them will, about.
double ExploredList::choose_tolerance() {
  std::size_t largest = 1;
  for (const std::size_t place : order_)
    largest = std::max(largest, band_bytes(model_, data_, series_[place]));
  const std::size_t count =
      std::min({kSample, order_.size(), std::max<std::size_t>(1, kMemory / largest)});
  std::vector<std::size_t> sample;
  for (std::size_t i = 0; i < count; ++i) sample.push_back(order_[i * order_.size() / count]);
  const Whole whole = computed(sample);
  std::array<std::string, kTolerances.size()> bytes;
  for (std::size_t t = 0; t < kTolerances.size(); ++t)
    for (std::size_t i = 0; i < count; ++i) bytes[t] += packed(whole, i, sample[i], kTolerances[t]);
  double all = 0;
  for (std::size_t t = 0; t < kTolerances.size(); ++t) {
    tolerance_ = kTolerances[t];
    all = page_bytes(bytes[t]) / static_cast<double>(count) * static_cast<double>(order_.size());
    if (all < room_) break;
  }
  return std::min(1.0, room_ / all);
}

void ExploredList::Block::add(std::size_t place, const std::string& record,
                              std::size_t bare_bytes) {
  ByteWriter size;
  size.varint(record.size());
  bytes += size.bytes() + record;
  places.push_back(place);
  bare += bare_bytes;
}

std::vector<std::string> ExploredList::compressed(std::span<const Block> blocks) const {
  std::vector<std::string> text(blocks.size());
  pool_.for_each(blocks.size(), [&](std::size_t b, std::size_t) {
    leave_if_stopped(stop());
    text[b] = base64(deflated(blocks[b].bytes));
  });
  return text;
}

// Takes a block into the page if `reserved` bytes then stay free.
bool ExploredList::take(const Block& block, std::string text, Held held, double reserved) {
  constexpr double kElement = 64;  // of markup around a block
  const double cost = static_cast<double>(text.size()) + kElement;
  if (room_ - cost < reserved) return false;
  room_ -= cost;
  for (std::size_t k = 0; k < block.places.size(); ++k) {
    Listed& one = listed_[block.places[k]];
    one.held = held;
    one.block = blocks_.size();
    one.place = k;
  }
  blocks_.push_back(std::move(text));
  return true;
}

std::vector<ExploredList::Block> ExploredList::observation_blocks(std::size_t from) const {
  std::vector<Block> blocks;
  for (std::size_t i = from; i < order_.size(); ++i) {
    if (blocks.empty() || blocks.back().bytes.size() > block_bytes_) blocks.emplace_back();
    const std::string& record = listed_[order_[i]].observations;
    blocks.back().add(order_[i], record, record.size());
  }
  return blocks;
}

ExploredList::Bare ExploredList::bare_series() const {
  const std::vector<Block> blocks = observation_blocks(0);
  double cost = 0, bytes = 0;
  for (const std::string& text : compressed(blocks)) cost += static_cast<double>(text.size());
  for (const Block& block : blocks) bytes += static_cast<double>(block.bare);
  return {bytes, 1.02 * cost / std::max(1.0, bytes)};
}

void ExploredList::fill(double room) {
  room_ = room;
  block_bytes_ = static_cast<std::size_t>(std::clamp(room / kBlocksAPage, kLeastBlock, kMostBlock));
  if (order_.empty()) return;
  const double share = choose_tolerance();
  take_observations(take_whole(room, share, bare_series()));
}

// With bands, into the last block or a new one.
void ExploredList::add_whole(std::span<const std::size_t> places,
                             std::vector<Block>& blocks) const {
  const Whole whole = computed(places);
  std::vector<std::string> records(places.size());
  pool_.for_each(places.size(), [&](std::size_t i, std::size_t) {
    records[i] = packed(whole, i, places[i], tolerance_);
  });
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (blocks.empty() || blocks.back().bytes.size() > block_bytes_) blocks.emplace_back();
    blocks.back().add(places[i], records[i], listed_[places[i]].observations.size());
  }
}

// Series with bands, in order, as long as they leave room for the observations of the rest; returns
// how many. `share`: of all, that will probably fit.
std::size_t ExploredList::take_whole(double room, double share, Bare bare) {
  const double fitting = share * static_cast<double>(order_.size());
  // The sample was computed as all that fit will be.
  const auto sample = static_cast<double>(std::min(kSample, order_.size()));
  const double sampled = kListing + (kFilled - kListing) * sample / (sample + fitting);
  tell(sampled);
  std::size_t begin = 0, whole = 0;  // of the order: computed, and taken with bands
  std::vector<Block> blocks;
  for (bool fits = true; fits && begin < order_.size();) {
    // Few more than will probably fit: what does not is computed in vain.
    const auto likely = static_cast<std::size_t>(fitting);
    const auto some =
        together(begin, std::clamp(likely - std::min(likely, begin), kLeastTogether, kTogether));
    add_whole(some, blocks);
    begin += some.size();
    // The last one may still grow.
    const std::size_t ready = begin < order_.size() ? blocks.size() - 1 : blocks.size();
    std::vector<std::string> text = compressed(std::span(blocks).first(ready));
    for (std::size_t b = 0; b < ready && fits; ++b) {
      bare.bytes -= static_cast<double>(blocks[b].bare);
      fits = take(blocks[b], std::move(text[b]), Held::whole,
                  std::min(bare.price * bare.bytes, (1 - kLeastForBands) * room));
      if (fits) whole += blocks[b].places.size();
    }
    blocks.erase(blocks.begin(), blocks.begin() + static_cast<std::ptrdiff_t>(ready));
    tell(sampled + (kFilled - sampled) * std::min(1.0, static_cast<double>(begin) / fitting));
  }
  return whole;
}

void ExploredList::take_observations(std::size_t from) {
  const std::vector<Block> rest = observation_blocks(from);
  std::vector<std::string> text = compressed(rest);
  for (std::size_t b = 0; b < rest.size(); ++b)
    if (!take(rest[b], std::move(text[b]), Held::observations, 0)) break;
}

}  // namespace edict::report

#include "learn/batches.h"

#include <algorithm>
#include <numeric>

namespace edict {
namespace {

// Solver steps and stops of a series: about what it costs.
double cost(const Model& model, const Timeline<float>& timeline) {
  if (timeline.stops.empty()) return 0;
  const bool stepped = model.config.model.propagator == Propagation::gru_ode;
  const double steps = (timeline.stops.back().time - timeline.start) / model.config.model.step;
  return (stepped ? steps : 0.0) + static_cast<double>(timeline.stops.size());
}

// A copy without a `share` of the observations, and without the stops that this empties.
void thin(const Timeline<float>& whole, double share, Generator rng, Timeline<float>& result) {
  result = {whole.id, whole.unit, whole.start, {}, {}, {}, whole.covariates};
  for (const auto& stop : whole.stops) {
    result.stop(stop.time, stop.what);
    for (std::uint32_t k = stop.first; k < stop.first + stop.count; ++k)
      if (rng.uniform() >= share) result.observe(whole.feature[k], whole.value[k]);
    if (result.stops.back().count == 0 && stop.count > 0 && !(stop.what & Timeline<float>::kQuery))
      result.stops.pop_back();
  }
}

}  // namespace

Batches::Batches(const Model& model, const TrainingSet& set, const TrainSettings& settings,
                 ThreadPool& pool)
    : model_(model), set_(set), settings_(settings), pool_(pool) {
  learn_from(set.train);
}

void Batches::learn_from(const Timelines& timelines) {
  train_ = timelines;
  costs_.resize(train_.size());
  pool_.for_each(costs_.size(),
                 [&](std::size_t i, std::size_t) { costs_[i] = cost(model_, train_[i]); });
  count_ = (static_cast<std::int64_t>(train_.size()) + settings_.batch - 1) / settings_.batch;
}

void Batches::begin(std::int64_t epoch, StopFlag stop) {
  epoch_ = epoch;
  if (set_.windows) {
    if (epoch != cut_for_) learn_from(set_.windows(epoch));
    cut_for_ = epoch;
    InferenceOptions options;
    options.stop = stop;
    carried_ = train_.states(model_, pool_, options);
  }
  order_.resize(train_.size());
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  Generator rng(static_cast<std::uint64_t>(settings_.seed), "order",
                static_cast<std::uint64_t>(epoch));
  rng.shuffle(std::span(order_));
  if (count_ > 0) train_.read_ahead(places_of(0));
}

std::span<std::size_t> Batches::places_of(std::int64_t number) {
  const auto first = static_cast<std::size_t>(number * settings_.batch);
  return std::span(order_).subspan(
      first, std::min(static_cast<std::size_t>(settings_.batch), order_.size() - first));
}

// The dearest first, so that a chunk holds equals: in a chunk all wait for the longest series, and
// the threads end together when the last chunks are the cheap ones. Equal costs are ordered by
// index, because the order decides the bits of the sum.
void Batches::sort_by_cost(std::span<std::size_t> places) const {
  std::sort(places.begin(), places.end(), [&](std::size_t a, std::size_t b) {
    return costs_[a] != costs_[b] ? costs_[a] > costs_[b] : a < b;
  });
}

Batch Batches::write(std::int64_t number) {
  // While this batch is learnt, the disk looks for the next.
  if (number + 1 < count_) train_.read_ahead(places_of(number + 1));
  const std::span<std::size_t> places = places_of(number);
  sort_by_cost(places);
  // Grown before the loop and never inside of it: the examples point into them.
  written_.resize(std::max(written_.size(), places.size()));
  thinned_.resize(std::max(thinned_.size(), places.size()));
  pool_.for_each(places.size(),
                 [&](std::size_t k, std::size_t) { written_[k] = train_[places[k]]; });
  examples_.clear();
  Batch batch;
  for (std::size_t k = 0; k < places.size(); ++k) {
    const std::size_t i = places[k];
    const Timeline<float>* timeline = &written_[k];
    if (settings_.thin > 0) {
      thin(written_[k], settings_.thin, draws("thin", i), thinned_[k]);
      timeline = &thinned_[k];
    }
    examples_.push_back(
        {timeline, absorb_until(written_[k], i), label_of(i), draws("dropout", i).bits()});
    if (!carried_.empty() && !carried_[i].empty()) examples_.back().state = carried_[i].data();
    batch.observations += static_cast<double>(timeline->feature.size());
    batch.labelled += label_of(i) != Dataset::kNone;
  }
  batch.examples = examples_;
  return batch;
}

Generator Batches::draws(std::string_view purpose, std::size_t i) const {
  return Generator(static_cast<std::uint64_t>(settings_.seed), purpose,
                   static_cast<std::uint64_t>(epoch_) * train_.size() + i);
}

// With probability train.forecast a series is only forecast after a random moment of this epoch; a
// class is always told from everything.
double Batches::absorb_until(const Timeline<float>& timeline, std::size_t i) const {
  if (settings_.forecast <= 0 || set_.classification > 0 || timeline.stops.empty())
    return kInfinity;
  Generator rng = draws("forecast", i);
  if (rng.uniform() >= settings_.forecast) return kInfinity;
  return rng.uniform(timeline.start, timeline.stops.back().time);
}

}  // namespace edict

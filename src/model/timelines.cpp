#include "model/timelines.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>

#include "model/carry.h"
#include "protocol/reversed.h"

namespace edict {
namespace {

std::vector<std::size_t> first_numbers(std::size_t count) {
  std::vector<std::size_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), std::size_t{0});
  return numbers;
}

using Windows = std::shared_ptr<const std::vector<Window>>;

// Of windows that `write` writes one by one.
Timelines of_windows(const Dataset& data, std::vector<Window> windows,
                     const std::function<Timeline<float>(const Window&)>& write) {
  const Windows kept = std::make_shared<const std::vector<Window>>(std::move(windows));
  const auto read_ahead = [kept, &data](std::span<const std::size_t> items) {
    std::vector<std::size_t> series;
    for (const std::size_t i : items) series.push_back((*kept)[i].series);
    data.read_ahead(series);
  };
  const auto carry = [kept, &data](const Model& model, std::span<const std::size_t> items,
                                   ThreadPool& pool, const InferenceOptions& options) {
    std::vector<Window> some;
    for (const std::size_t i : items) some.push_back((*kept)[i]);
    return carried_states(model, data, some, pool, options);
  };
  const bool carries =
      std::ranges::any_of(*kept, [&](const Window& window) { return has_past(data, window); });
  return {first_numbers(kept->size()), [kept, write](std::size_t i) { return write((*kept)[i]); },
          read_ahead, carries ? Timelines::Carry(carry) : nullptr};
}

}  // namespace

Timelines Timelines::of(std::vector<Timeline<float>> timelines) {
  const auto kept = std::make_shared<const std::vector<Timeline<float>>>(std::move(timelines));
  return {first_numbers(kept->size()), [kept](std::size_t i) { return (*kept)[i]; }};
}

void Timelines::read_ahead(std::span<const std::size_t> places) const {
  if (!read_ahead_) return;
  std::vector<std::size_t> items;
  for (const std::size_t place : places) items.push_back(items_[place]);
  read_ahead_(items);
}

std::vector<Timeline<float>> Timelines::written() const {
  std::vector<Timeline<float>> result;
  for (std::size_t i = 0; i < size(); ++i) result.push_back((*this)[i]);
  return result;
}

std::vector<Timeline<float>> Timelines::written(const Model& model, std::size_t first,
                                                std::size_t count, ThreadPool& pool,
                                                const InferenceOptions& options) const {
  const std::span<const std::size_t> items = std::span(items_).subspan(first, count);
  if (read_ahead_) read_ahead_(items);
  std::vector<Timeline<float>> result(count);
  pool.for_each(count, [&](std::size_t k, std::size_t) { result[k] = write_(items[k]); });
  if (!carry_) return result;
  std::vector<std::vector<float>> states = carry_(model, items, pool, options);
  for (std::size_t k = 0; k < count; ++k) result[k].state = std::move(states[k]);
  return result;
}

std::vector<std::vector<float>> Timelines::states(const Model& model, ThreadPool& pool,
                                                  const InferenceOptions& options) const {
  if (!carry_) return {};
  return carry_(model, items_, pool, options);
}

Timelines Timelines::subset(std::span<const std::size_t> places) const {
  std::vector<std::size_t> some;
  for (const std::size_t place : places) some.push_back(items_[place]);
  return {std::move(some), write_, read_ahead_, carry_};
}

Timelines Timelines::reversed() const {
  return {items_, [write = write_](std::size_t i) { return edict::reversed(write(i)); },
          read_ahead_};
}

Timelines timelines_to_learn(const Protocol& protocol, const Dataset& data,
                             std::vector<Window> windows) {
  return of_windows(data, std::move(windows), [protocol, &data](const Window& window) {
    return training_timeline(protocol, data, window);
  });
}

Timelines timelines_to_judge(const Protocol& protocol, const DataSettings& settings,
                             const Dataset& data, std::span<const std::size_t> series) {
  return of_windows(data, judged_windows(protocol, data, series),
                    [protocol, settings, &data](const Window& window) {
                      return evaluation_timeline(protocol, settings, data, window);
                    });
}

Timelines timelines_to_follow(const Protocol& protocol, const Dataset& data,
                              std::span<const std::size_t> series) {
  std::vector<Window> windows;
  for (const std::size_t i : series)
    windows.push_back({i, data.first_event[i], data.first_event[i + 1], data.first_event[i + 1]});
  return of_windows(data, std::move(windows), [protocol, &data](const Window& window) {
    Timeline<float> timeline = training_timeline(protocol, data, window);
    for (auto& stop : timeline.stops) stop.what |= Timeline<float>::kQuery;
    return timeline;
  });
}

}  // namespace edict

#include "model/carry.h"

#include <algorithm>

namespace edict {
namespace {

// Series that are followed together, and the events of one that are absorbed at a time.
constexpr std::size_t kTogether = 64, kAtOnce = 1024;

// A series on its way from one window's beginning to the next.
struct Followed {
  std::size_t series, event;            // its head, and the next event
  std::span<const std::size_t> wanted;  // windows that are still to come, by their first event
  std::vector<float> state = {};
};

// Absorbs all of them, up to the next window of each; those without one are done.
void advance(const Model& model, const Dataset& data, std::span<const Window> windows,
             const Weights& weights, const InferenceOptions& options, Worker& worker,
             std::vector<Followed>& all, std::vector<std::vector<float>>& states) {
  while (!all.empty()) {
    std::vector<Timeline<float>> timelines;
    for (Followed& own : all) {
      const std::size_t end = std::min(windows[own.wanted.front()].first, own.event + kAtOnce);
      timelines.push_back(absorbing_timeline(model.protocol, data, own.series, own.event, end));
      own.event = end;
    }
    std::vector<Example> examples;
    for (std::size_t i = 0; i < all.size(); ++i) {
      examples.push_back({&timelines[i]});
      if (!all[i].state.empty()) examples.back().state = all[i].state.data();
    }
    std::vector<Answer> answers(all.size());
    worker.infer(weights, examples, options, answers);
    for (std::size_t i = 0; i < all.size(); ++i) {
      Followed& own = all[i];
      own.state = std::move(answers[i].final_state);
      while (!own.wanted.empty() && windows[own.wanted.front()].first == own.event) {
        std::vector<float>& to = states[own.wanted.front()];
        to.insert(to.end(), own.state.begin(), own.state.end());
        own.wanted = own.wanted.subspan(1);
      }
    }
    std::erase_if(all, [](const Followed& own) { return own.wanted.empty(); });
  }
}

}  // namespace

std::vector<std::vector<float>> carried_states(const Model& model, const Dataset& data,
                                               std::span<const Window> windows, ThreadPool& pool,
                                               const InferenceOptions& options) {
  std::vector<std::vector<float>> states(windows.size());
  std::vector<std::size_t> later;
  for (std::size_t i = 0; i < windows.size(); ++i)
    if (has_past(data, windows[i])) later.push_back(i);
  if (later.empty()) return states;
  std::vector<std::size_t> head(windows.size());
  for (const std::size_t i : later) head[i] = data.head_of(windows[i].series);
  std::ranges::stable_sort(later, {},
                           [&](std::size_t i) { return std::pair(head[i], windows[i].first); });
  std::vector<Followed> series;
  for (std::size_t from = 0; from < later.size();) {
    std::size_t to = from;
    while (to < later.size() && head[later[to]] == head[later[from]]) ++to;
    const std::size_t first = head[later[from]];
    series.push_back({first, data.first_event[first], std::span(later).subspan(from, to - from)});
    from = to;
  }
  InferenceOptions own = options;
  own.marginals = InferenceOptions::Marginals::none;
  own.states = false;
  own.final_states = true;
  const std::size_t each =
      std::clamp<std::size_t>((series.size() + pool.size() - 1) / pool.size(), 1, kTogether);
  const std::size_t chunks = (series.size() + each - 1) / each;
  for (std::size_t m = 0; m < model.members.size(); ++m) {
    const Weights weights = model.network->weights(model.members[m].params.data());
    pool.for_each(chunks, [&](std::size_t c, std::size_t) {
      const auto begin = series.begin() + static_cast<std::ptrdiff_t>(c * each);
      const auto end =
          series.begin() + static_cast<std::ptrdiff_t>(std::min((c + 1) * each, series.size()));
      std::vector<Followed> some(begin, end);
      advance(model, data, windows, weights, own, *model.network->worker(), some, states);
    });
  }
  return states;
}

}  // namespace edict

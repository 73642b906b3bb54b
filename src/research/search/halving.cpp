#include "research/search/halving.h"

#include <algorithm>
#include <map>

namespace edict::study {

std::vector<std::int64_t> rung_epochs(std::int64_t epochs, std::size_t rungs, std::int64_t fewest) {
  std::vector<std::int64_t> all{epochs};
  while (all.size() < rungs && all.back() / static_cast<std::int64_t>(kReduction) >= fewest)
    all.push_back(all.back() / static_cast<std::int64_t>(kReduction));
  std::reverse(all.begin(), all.end());
  return all;
}

std::vector<const Outcome*> ranking(std::span<const Outcome> outcomes, std::size_t rung) {
  std::vector<const Outcome*> order;
  for (const Outcome& outcome : outcomes)
    if (outcome.rung == rung && outcome.failure.empty()) order.push_back(&outcome);
  std::map<const Outcome*, std::size_t> places;
  // A place is the number of better ones, so that equals share it.
  for (const Outcome* a : order)
    for (const Outcome* b : order) places[a] += (b->nll < a->nll) + (b->mse < a->mse);
  std::sort(order.begin(), order.end(), [&](const Outcome* a, const Outcome* b) {
    if (places[a] != places[b]) return places[a] < places[b];
    return a->nll != b->nll ? a->nll < b->nll : a->trial < b->trial;
  });
  return order;
}

std::optional<Step> next_step(std::span<const Outcome> outcomes, std::size_t trials,
                              std::size_t rungs, std::span<const Step> pending) {
  const auto ran = [&](std::size_t trial, std::size_t rung) {
    return std::any_of(outcomes.begin(), outcomes.end(),
                       [&](const Outcome& o) { return o.trial == trial && o.rung == rung; }) ||
           std::find(pending.begin(), pending.end(), Step{trial, rung}) != pending.end();
  };
  std::size_t begun = 0;
  while (ran(begun, 0)) ++begun;
  // New trials first fill the lowest rung; at the end the rungs are climbed from below, so that
  // each promotion has seen all it is to be compared with.
  const auto promotion = [&](std::size_t rung, std::size_t at_least) -> std::optional<Step> {
    if (std::any_of(pending.begin(), pending.end(), [&](Step s) { return s.rung <= rung; }))
      return std::nullopt;
    const auto order = ranking(outcomes, rung);
    const std::size_t due = std::min(order.size(), std::max(order.size() / kReduction, at_least));
    for (std::size_t place = 0; place < due; ++place)
      if (!ran(order[place]->trial, rung + 1)) return Step{order[place]->trial, rung + 1};
    return std::nullopt;
  };
  if (begun < trials) {
    for (std::size_t rung = rungs - 1; rung-- > 0;)
      if (const auto step = promotion(rung, 0)) return step;
    return Step{begun, 0};
  }
  for (std::size_t rung = 0; rung + 1 < rungs; ++rung)
    if (const auto step = promotion(rung, 1)) return step;
  return std::nullopt;
}

std::optional<Step> free_step(std::span<const Outcome> finished, std::size_t trials,
                              std::size_t rungs, const std::function<bool(const Step&)>& take,
                              bool& waiting) {
  std::vector<Outcome> outcomes;  // in the order of the sequence
  std::vector<Step> pending;
  while (const auto step = next_step(outcomes, trials, rungs, pending)) {
    const auto known = std::find_if(finished.begin(), finished.end(), [&](const Outcome& o) {
      return o.trial == step->trial && o.rung == step->rung;
    });
    if (known != finished.end())
      outcomes.push_back(*known);
    else if (take(*step))
      return step;
    else
      pending.push_back(*step);
  }
  waiting = !pending.empty();
  return std::nullopt;
}

const Outcome* best_outcome(std::span<const Outcome> outcomes) {
  std::size_t top = 0;
  for (const Outcome& outcome : outcomes)
    if (outcome.failure.empty()) top = std::max(top, outcome.rung);
  const auto order = ranking(outcomes, top);
  return order.empty() ? nullptr : order.front();
}

}  // namespace edict::study

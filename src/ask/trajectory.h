// A model's distribution of series along a list of times.
#pragma once

#include <algorithm>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "ask/clips.h"
#include "ask/distribution.h"
#include "base/threads/in_order.h"
#include "base/threads/interrupted.h"
#include "base/threads/thread_pool.h"
#include "model/model.h"

namespace edict {

struct Trajectory {
  std::size_t series = 0;  // in the dataset
  std::size_t features = 0;
  std::vector<double> times;        // of the request, in the data's unit
  std::vector<Marginal> marginals;  // times × features, in the data's units
  std::vector<Clip> clips;

  const Marginal& at(std::size_t time, std::size_t feature) const {
    return marginals[time * features + feature];
  }
};

struct PredictRequest {
  // From where times count: on the data's clock, where an answer tells what was expected before the
  // observations of its moment; or from each series' last observation, everything absorbed. A
  // series without observations then counts from 0.
  enum class From { clock, last_observation };

  std::vector<double> times;             // ascending, in the data's unit
  std::vector<std::size_t> series = {};  // empty: all
  Guard guard = {};
  double absorb_until = std::numeric_limits<double>::infinity();  // later observations are ignored
  // The times of a series, ascending, where each has its own; then `times` is not read.
  std::function<std::vector<double>(std::size_t series)> own_times = {};
  StopFlag stop = nullptr;  // Interrupted when it is set
  From from = From::clock;
};

// The times of one series on the data's clock. Sums are what one would write: 2.3 and 0.1 after it
// is 2.4 and not 2.4000000000000004. Throws Error for times before the last observation.
std::vector<double> asked_times(const PredictRequest& request, const Dataset& data,
                                std::size_t series);

// Of the listed series; request.series is not looked at.
std::vector<Trajectory> trajectories(const Model& model, const Dataset& data,
                                     const PredictRequest& request,
                                     std::span<const std::size_t> series, ThreadPool& pool);

// Tells what was expected at each time given the observations before it, series after series in
// order. Memory is that of a few hundred series, however many there are. `sink` is called by one
// thread at a time, which may be any of the pool's.
void predict(const Model& model, const Dataset& data, const PredictRequest& request,
             ThreadPool& pool, const std::function<void(const Trajectory&)>& sink);

// ---- any work over many series ----

// All series of the data, or those that were listed.
std::vector<std::size_t> listed_or_all(const Dataset& data, std::vector<std::size_t> listed);

// How many series are best taken together where each is asked for so many numbers.
std::size_t series_at_once(const Model& model, std::size_t numbers_a_series);

// make(some series) on the pool's threads, take(result) in the order of the series. The parts
// depend on `at_once` alone, and so does everything that is made from them.
template <class Make, class Take>
void for_each_part(std::span<const std::size_t> series, std::size_t at_once, ThreadPool& pool,
                   const Make& make, const Take& take) {
  for_each_in_order(
      pool, (series.size() + at_once - 1) / at_once,
      [&](std::size_t part) {
        const std::size_t first = part * at_once;
        return make(series.subspan(first, std::min(at_once, series.size() - first)));
      },
      take);
}

}  // namespace edict

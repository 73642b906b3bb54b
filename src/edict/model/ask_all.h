// Forward passes over many examples, in chunks that threads share.
#pragma once

#include <functional>
#include <span>

#include "edict/core/thread_pool.h"
#include "edict/model/model.h"

namespace edict {

// `asking`, if given, makes what the chunk beginning at example `first` is asked; its listeners are
// called from the thread that walks the chunk. Losses are summed in a fixed order.
LossSums ask_all(const Model& model, std::span<const Example> examples, ThreadPool& pool,
                 const std::function<Asking(std::size_t first)>& asking = {});

// Told of an observation at a query: of which agenda and stop, and what was expected of it.
using ObservationListener =
    std::function<void(std::size_t agenda, std::size_t stop, std::int32_t feature,
                       const Marginal& expected, double x)>;

// Asks for every observation of the agendas' queries, in the order of time within an agenda; an
// agenda is walked by one thread.
void ask_observations(const Model& model, std::span<const Agenda<float>> agendas, ThreadPool& pool,
                      const Asking& asking, const ObservationListener& listener);

// Class scores before the softmax, classes × examples.
Matrix<float> classify_all(const Model& model, std::span<const Example> examples, ThreadPool& pool,
                           const Asking& asking = {});

}  // namespace edict

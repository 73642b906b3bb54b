// What the events before a window leave behind: the state from which its timeline starts.
#pragma once

#include <span>
#include <vector>

#include "base/threads/thread_pool.h"
#include "model/model.h"
#include "protocol/window.h"

namespace edict {

// For each window the state of every member, one after the other, after everything that its series
// holds before it was absorbed as `options` say (guard, stop); empty for a window that begins its
// series. A series is followed once, whatever the number of its windows.
std::vector<std::vector<float>> carried_states(const Model& model, const Dataset& data,
                                               std::span<const Window> windows, ThreadPool& pool,
                                               const InferenceOptions& options = {});

}  // namespace edict

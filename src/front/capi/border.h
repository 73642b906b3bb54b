// What lies behind the handles of edict.h, and how errors cross the border.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "ask/stream_engine.h"
#include "base/threads/interrupted.h"
#include "data/read/dataset_builder.h"
#include "edict/edict.h"

struct edict_bytes {
  std::string content;
};

struct edict_control {
  std::atomic<bool> stop = false;
  mutable std::mutex mutex;  // guards progress
  edict_progress progress{};
};

struct edict_dataset {
  edict::Dataset data;
};

struct edict_builder {
  edict::DatasetBuilder builder;
  edict::Reading reading;
  bool used = false;
};

struct edict_model {
  std::shared_ptr<const edict::Model> model;
  std::string epochs = "[]", notes = "[]";  // JSON: what training said
};

struct edict_streams {
  edict::StreamEngine engine;
  std::vector<edict::StreamState> states;
  // Of the call under way; kept so that a call allocates nothing.
  std::vector<edict::Observation> observed;
  std::vector<edict::StreamEngine::Event> events;
  std::vector<edict::StreamEngine::Question> questions;
};

namespace edict::capi {

// Remembers the exception under way for edict_last_error, and tells its code.
int failed() noexcept;

// Runs the body of a function of edict.h: no exception leaves it.
template <class Body>
int run_guarded(const Body& body) noexcept {
  try {
    body();
    return EDICT_OK;
  } catch (...) {
    return failed();
  }
}

// Throws Error, which names the function, where a handle or an array that is needed is NULL.
void check_given(const void* pointer, const char* what);
// A size or count that an array is to have; throws Error for a negative one.
std::size_t size_of(std::int64_t count, const char* what);

std::vector<std::string> names_from(std::int64_t count, const char* const* names, const char* what);
edict_bytes* new_bytes(std::string content);
// Sentences of the library, with options by their plain names.
std::vector<std::string> plain(std::vector<std::string> notes);
Guard guard_from(const edict_guard* guard);
StopFlag stop_of(const edict_control* control);

// Changes what edict_control_read tells; nothing where there is no control.
template <class Change>
void update(edict_control* control, const Change& change) {
  if (!control) return;
  const std::lock_guard lock(control->mutex);
  change(control->progress);
}

// Copies a struct that may have grown since the caller was compiled.
template <class T>
void copy_out(const T& from, T* to, std::size_t size) {
  const auto* bytes = reinterpret_cast<const char*>(&from);
  std::copy_n(bytes, std::min(size, sizeof(T)), reinterpret_cast<char*>(to));
}

// [count] into an array of the caller's, if wanted.
template <class Array, class To>
void copy_out(const Array& from, To* to) {
  if (!to) return;
  for (std::size_t i = 0; i < from.size(); ++i) to[i] = static_cast<To>(from[i]);
}

// A distribution into the arrays that are wanted.
inline void put(const Marginal& m, std::size_t at, double* mean, double* aleatoric,
                double* epistemic, double* scale, double* dof) {
  if (mean) mean[at] = m.mean;
  if (aleatoric) aleatoric[at] = m.aleatoric;
  if (epistemic) epistemic[at] = m.epistemic;
  if (scale) scale[at] = m.scale;
  if (dof) dof[at] = m.dof;
}

}  // namespace edict::capi

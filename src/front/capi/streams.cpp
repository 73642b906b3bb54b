#include <cmath>
#include <iterator>
#include <optional>
#include <type_traits>

#include "base/error.h"
#include "front/capi/border.h"

using namespace edict;
using namespace edict::capi;

namespace {

// Streams is const or not, as its state is to be.
template <class Streams>
auto& state_of(Streams& streams, std::int64_t stream) {
  if (stream < 0 || stream >= static_cast<std::int64_t>(streams.states.size()))
    throw Error("there is no stream " + std::to_string(stream) + "; the set has " +
                std::to_string(streams.states.size()));
  return streams.states[static_cast<std::size_t>(stream)];
}

void add(edict_streams& streams, std::int64_t count, const double* start, const double* statics) {
  const std::size_t size = size_of(count, "count"), width = streams.engine.model().statics.size();
  std::vector<StreamState> fresh;
  fresh.reserve(size);
  for (std::size_t i = 0; i < size; ++i) {
    // Most streams begin alike: a state is copied where nothing distinguishes it from the last.
    if (i > 0 && !statics && (!start || start[i] == start[i - 1])) {
      fresh.push_back(fresh.back());
      continue;
    }
    std::span<const double> own;
    if (statics) own = {statics + i * width, width};
    fresh.push_back(streams.engine.begin(start ? std::optional(start[i]) : std::nullopt, own));
  }
  // Moved, which cannot fail: where a copy did, the streams that were there would be lost.
  static_assert(std::is_nothrow_move_constructible_v<StreamState>);
  streams.states.insert(streams.states.end(), std::make_move_iterator(fresh.begin()),
                        std::make_move_iterator(fresh.end()));
}

void check_events(std::size_t events, const std::int64_t* stream, const double* times) {
  if (events == 0) return;
  check_given(stream, "stream");
  check_given(times, "times");
}

}  // namespace

int edict_streams_new(const edict_model* model, int64_t count, const double* start,
                      const double* statics, const edict_guard* guard, edict_streams** out) {
  return run_guarded([&] {
    check_given(model, "model");
    check_given(out, "out");
    std::unique_ptr<edict_streams> streams(
        new edict_streams{StreamEngine(model->model, guard_from(guard)), {}, {}, {}, {}});
    add(*streams, count, start, statics);
    *out = streams.release();
  });
}

int edict_streams_add(edict_streams* streams, int64_t count, const double* start,
                      const double* statics) {
  return run_guarded([&] {
    check_given(streams, "streams");
    add(*streams, count, start, statics);
  });
}

int64_t edict_streams_count(const edict_streams* streams) {
  return streams ? static_cast<int64_t>(streams->states.size()) : 0;
}

int edict_streams_observe(edict_streams* streams, int64_t events, const int64_t* stream,
                          const double* times, const int64_t* first, const int32_t* feature,
                          const double* value) {
  return run_guarded([&] {
    check_given(streams, "streams");
    const std::size_t count = size_of(events, "events");
    check_events(count, stream, times);
    if (count == 0) return;
    check_given(first, "first");
    const std::size_t observations = size_of(first[count], "first");
    if (observations > 0) {
      check_given(feature, "feature");
      check_given(value, "value");
    }
    streams->observed.resize(observations);
    for (std::size_t k = 0; k < observations; ++k) streams->observed[k] = {feature[k], value[k]};
    streams->events.clear();
    for (std::size_t e = 0; e < count; ++e) {
      if (first[e] < 0 || first[e] > first[e + 1] || first[e + 1] > first[count])
        throw Error("first: the events do not divide the observations");
      const std::span<const Observation> own =
          std::span(streams->observed)
              .subspan(static_cast<std::size_t>(first[e]),
                       static_cast<std::size_t>(first[e + 1] - first[e]));
      streams->events.push_back({&state_of(*streams, stream[e]), times[e], own});
    }
    streams->engine.observe(streams->events);
  });
}

int edict_streams_observe_rows(edict_streams* streams, int64_t events, const int64_t* stream,
                               const double* times, const double* values) {
  return run_guarded([&] {
    check_given(streams, "streams");
    const std::size_t count = size_of(events, "events");
    check_events(count, stream, times);
    if (count == 0) return;
    check_given(values, "values");
    const std::size_t features = streams->engine.model().features.size();
    streams->observed.clear();
    // Before anything points into it.
    streams->observed.reserve(count * features);
    streams->events.clear();
    for (std::size_t e = 0; e < count; ++e) {
      const std::size_t before = streams->observed.size();
      for (std::size_t j = 0; j < features; ++j)
        if (const double x = values[e * features + j]; !std::isnan(x))
          streams->observed.push_back({static_cast<std::int32_t>(j), x});
      streams->events.push_back({&state_of(*streams, stream[e]), times[e],
                                 std::span<const Observation>(streams->observed).subspan(before)});
    }
    streams->engine.observe(streams->events);
  });
}

int edict_streams_predict(edict_streams* streams, int64_t questions, const int64_t* stream,
                          const double* times, double* mean, double* aleatoric, double* epistemic,
                          double* scale, double* dof) {
  return run_guarded([&] {
    check_given(streams, "streams");
    const std::size_t count = size_of(questions, "questions");
    check_events(count, stream, times);
    streams->questions.clear();
    for (std::size_t q = 0; q < count; ++q)
      streams->questions.push_back({&state_of(*streams, stream[q]), times[q]});
    std::size_t k = 0;
    for (const Marginal& m : streams->engine.distribution(streams->questions))
      put(m, k++, mean, aleatoric, epistemic, scale, dof);
  });
}

int edict_streams_times(const edict_streams* streams, double* times) {
  return run_guarded([&] {
    check_given(streams, "streams");
    check_given(times, "times");
    for (const StreamState& state : streams->states) *times++ = state.time();
  });
}

int edict_streams_save(const edict_streams* streams, int64_t stream, edict_bytes** out) {
  return run_guarded([&] {
    check_given(streams, "streams");
    check_given(out, "out");
    const auto bytes = state_of(*streams, stream).to_bytes();
    *out = new_bytes({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  });
}

int edict_streams_restore(edict_streams* streams, int64_t stream, const void* data, size_t size) {
  return run_guarded([&] {
    check_given(streams, "streams");
    check_given(data, "data");
    StreamState& to = state_of(*streams, stream);
    StreamState state = StreamState::from_bytes({static_cast<const std::byte*>(data), size});
    streams->engine.check(state);
    to = std::move(state);
  });
}

void edict_streams_free(edict_streams* streams) { delete streams; }

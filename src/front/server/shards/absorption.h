// How events become the state of a stream: one after the other, whatever thread does it, so that
// the same observations give the same bits.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "front/server/live/live_context.h"
#include "front/server/live/live_stream.h"
#include "front/server/store/store.h"

namespace edict::server {

// A value with which a state would not have been finite; it was left out.
struct LeftOut {
  LiveStream* stream;
  double time;
  std::int32_t feature;
  std::string why;
};

// Puts a value where it belongs among those of one moment.
void put_in(std::vector<Observation>& observed, const Observation& o);

// Events of a stream as the store has them, in the order of time, for features that the model
// knows.
class StoredEvents {
 public:
  StoredEvents(const LiveContext& context, Store& store, std::int64_t stream, double after,
               double until)
      : context_(context), store_(store), stream_(stream), after_(after), until_(until) {}

  // Throws Error.
  bool next();
  double time() const { return after_; }
  std::vector<Observation>& observed() { return observed_; }
  std::span<const KeptValue> values() const {
    return std::span(values_).subspan(begins_, at_ - begins_);
  }

 private:
  const LiveContext& context_;
  Store& store_;
  std::int64_t stream_;
  double after_, until_;
  std::vector<KeptValue> values_;
  std::size_t begins_ = 0, at_ = 0;
  bool all_ = false;
  std::vector<Observation> observed_;
};

class Absorption {
 public:
  explicit Absorption(const LiveContext& context) : context_(context) {}

  void begin(StreamEngine& engine, StreamPast& past, double first) const;
  // Values that cannot be absorbed are left out, the others of the event are not: a rule that
  // depends on state and event alone, so that every replay finds the same.
  void absorb_one(StreamEngine& engine, StreamPast& past, double raw,
                  std::vector<Observation>& observed, std::vector<LeftOut>* left) const;
  // What is `coming` in each stream, an event of each after the other, all streams together;
  // `judges`: how far outside of what was expected values lie is wanted.
  std::vector<LeftOut> absorb_coming(StreamEngine& engine, std::vector<LiveStream*>& streams,
                                     bool judges) const;
  // How far outside of what was expected before it the newest event lies.
  std::vector<Outside> levels(StreamEngine& engine, const StreamPast& past) const;
  // A question about a stream after its newest event, at a time of the model's data. Throws Error
  // where that lies so far ahead that an answer would take too long.
  StreamEngine::Question question(const StreamPast& past, double time) const;

  // A stream goes on from a kept state.
  static void resume(StreamPast& past, const KeptState& kept);
  // A stream is set to the last kept state before a raw time.
  void restore(Store& store, StreamPast& past, double before) const;
  // And goes on from there. `visit` comes before each event is absorbed, when the state has begun;
  // its values are also as the store has them.
  using Visit = std::function<void(double time, std::span<const Observation> observed,
                                   std::span<const KeptValue> values)>;
  void replay(StreamEngine& engine, Store& store, StreamPast& past, double until,
              const Visit& visit) const;

 private:
  void begin_round(StreamEngine& engine, LiveStream& stream, double time) const;
  void find_outside(std::span<const Marginal> expected, const std::vector<LiveStream*>& streams,
                    std::size_t round) const;

  const LiveContext& context_;
};

}  // namespace edict::server

#include "front/server/shards/absorption.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "ask/distribution.h"
#include "base/error.h"
#include "base/not_finite.h"

namespace edict::server {
namespace {

constexpr std::size_t kReadAtOnce = 20000;  // values of one stream

void forget(StreamPast& past) {
  past.state = past.before = {};
  past.newest.clear();
  past.outside.clear();
  past.fault.clear();
  past.first = 0;
  past.time = past.before_time = -kInfinity;
  past.received = 0;
  past.events = 0;
}

}  // namespace

void put_in(std::vector<Observation>& observed, const Observation& o) {
  const auto place = std::lower_bound(
      observed.begin(), observed.end(), o,
      [](const Observation& a, const Observation& b) { return a.feature < b.feature; });
  if (place != observed.end() && place->feature == o.feature)
    place->value = o.value;
  else
    observed.insert(place, o);
}

bool StoredEvents::next() {
  while (true) {
    if (at_ == values_.size()) {
      if (all_) return false;
      values_ = store_.values(stream_, after_, until_, kReadAtOnce);
      begins_ = at_ = 0;
      all_ = values_.size() < kReadAtOnce;
      // What may go on behind the last one read is read again.
      if (!all_ && values_.front().time != values_.back().time) {
        const double last = values_.back().time;
        while (values_.back().time == last) values_.pop_back();
      }
      if (values_.empty()) return false;
    }
    begins_ = at_;
    after_ = values_[at_].time;
    observed_.clear();
    for (; at_ < values_.size() && values_[at_].time == after_; ++at_) {
      // What another model knew is kept, and not seen by this one.
      const std::int32_t feature = context_.model_feature(values_[at_].feature);
      if (feature >= 0) put_in(observed_, {feature, values_[at_].value});
    }
    if (!observed_.empty()) return true;
  }
}

// ---- one event ----

void Absorption::begin(StreamEngine& engine, StreamPast& past, double first) const {
  // Where the beginning was removed under another model its clock still counts from there.
  past.first = std::isnan(past.removed_first) ? first : past.removed_first;
  const std::span<const double> statics =
      past.about ? std::span<const double>(past.about->statics) : std::span<const double>();
  past.state = engine.begin(context_.clock.start(context_.clock.model_time(past.first, past.first)),
                            statics);
}

void Absorption::absorb_one(StreamEngine& engine, StreamPast& past, double raw,
                            std::vector<Observation>& observed, std::vector<LeftOut>* left) const {
  if (past.events == 0) begin(engine, past, raw);
  StreamState before = past.state;
  const double time = context_.clock.model_time(raw, past.first);
  const auto attempt = [&](std::span<const Observation> values) -> std::string {
    const StreamEngine::Event event{&past.state, time, values};
    try {
      engine.observe({&event, 1});
      return {};
    } catch (const Error& e) {
      return e.what();
    }
  };
  std::string why = attempt(observed);
  if (!why.empty()) {
    ++context_.counters.faults;
    past.fault = why;
    std::vector<Observation> good;
    const auto leave_out = [&](const Observation& o, const std::string& reason) {
      if (left) left->push_back({nullptr, raw, o.feature, reason});
    };
    for (const Observation& o : observed) {
      const std::string alone = attempt({&o, 1});
      if (alone.empty()) {
        good.push_back(o);
        past.state = before;
      } else {
        leave_out(o, alone);
      }
    }
    why = good.empty() ? why : attempt(good);
    if (!why.empty()) {
      for (const Observation& o : good) leave_out(o, why);
      return;
    }
    observed = std::move(good);
  } else {
    past.fault.clear();
  }
  past.before = std::move(before);
  past.before_time = past.time;
  past.time = raw;
  past.newest = observed;
  ++past.events;
}

std::vector<Outside> Absorption::levels(StreamEngine& engine, const StreamPast& past) const {
  std::vector<Outside> list;
  if (past.newest.empty() || past.events == 0) return list;
  const StreamEngine::Question question{&past.before,
                                        context_.clock.model_time(past.time, past.first)};
  try {
    const std::span<const Marginal> expected = engine.distribution({&question, 1});
    for (const Observation& o : past.newest)
      list.push_back({o.feature,
                      central_level(expected[static_cast<std::size_t>(o.feature)], o.value),
                      o.value});
  } catch (const Error&) {
    // The event itself was absorbed; only what was expected of it is not known.
  }
  return list;
}

StreamEngine::Question Absorption::question(const StreamPast& past, double time) const {
  const double last = past.state.time(), gap = context_.clock.raw_duration(time - last);
  const double raw = context_.clock.raw_of_model_time(time, past.first);
  if (gap > context_.clock.longest_gap() || !context_.clock.resolves(raw))
    throw Error(fmt::format(
        "stream '{}': {} lies {} after its newest observation, further than the model can look "
        "ahead",
        past.name, context_.clock.shown(raw), context_.gap_text(gap)));
  return {&past.state, std::max(last, time)};
}

// ---- many streams ----

void Absorption::begin_round(StreamEngine& engine, LiveStream& stream, double time) const {
  if (stream.checkpoints.wants(stream.events))
    stream.checkpoints.add(
        {stream.time, stream.first, stream.events, stream.received, stream.state.to_bytes()});
  if (stream.events == 0) begin(engine, stream, time);
  stream.before = stream.state;
}

void Absorption::find_outside(std::span<const Marginal> expected,
                              const std::vector<LiveStream*>& streams, std::size_t round) const {
  const std::size_t features = context_.model->features.size();
  for (std::size_t i = 0; i < streams.size(); ++i) {
    LiveStream& stream = *streams[i];
    // Every value since the rules were last looked at counts.
    if (stream.outside_judged) stream.outside.clear();
    stream.outside_judged = false;
    for (const Observation& o : stream.coming[round].observed)
      stream.outside.push_back(
          {o.feature,
           central_level(expected[i * features + static_cast<std::size_t>(o.feature)], o.value),
           o.value});
  }
}

std::vector<LeftOut> Absorption::absorb_coming(StreamEngine& engine,
                                               std::vector<LiveStream*>& streams,
                                               bool judges) const {
  std::vector<LeftOut> left;
  std::vector<StreamEngine::Event> events;
  std::vector<StreamEngine::Question> questions;
  for (std::size_t round = 0; !streams.empty(); ++round) {
    events.clear();
    questions.clear();
    for (LiveStream* stream : streams) {
      LiveStream::Event& event = stream->coming[round];
      begin_round(engine, *stream, event.time);
      const double time = context_.clock.model_time(event.time, stream->first);
      events.push_back({&stream->state, time, event.observed});
      questions.push_back({&stream->before, time});
    }
    if (judges) {
      try {
        find_outside(engine.distribution(questions), streams, round);
      } catch (const Error&) {
        // The same will be said of the event itself.
      }
    }
    bool together = true;
    try {
      engine.observe(events);
    } catch (const Error&) {
      together = false;
    }
    for (LiveStream* stream : streams) {
      LiveStream::Event& event = stream->coming[round];
      const std::size_t already = left.size();
      if (together) {
        stream->fault.clear();
        stream->before_time = stream->time;
        stream->time = event.time;
        ++stream->events;
      } else {
        stream->state = stream->before;
        absorb_one(engine, *stream, event.time, event.observed, &left);
      }
      for (std::size_t k = already; k < left.size(); ++k) {
        left[k].stream = stream;
        stream->outside.clear();  // what is refused is not judged
      }
      ++context_.counters.events;
    }
    std::erase_if(streams, [&](LiveStream* stream) {
      if (round + 1 < stream->coming.size()) return false;
      // Of the last one that was not left out.
      for (std::size_t k = round + 1; k-- > 0;) {
        if (stream->coming[k].time != stream->time) continue;
        stream->newest = std::move(stream->coming[k].observed);
        break;
      }
      stream->coming.clear();
      stream->coming.shrink_to_fit();
      return true;
    });
  }
  return left;
}

// ---- a stream's past ----

void Absorption::resume(StreamPast& past, const KeptState& kept) {
  past.state = StreamState::from_bytes(kept.bytes);
  past.before = past.state;
  past.first = kept.first;
  past.events = kept.events;
  past.received = kept.received;
  past.time = past.before_time = kept.time;
}

void Absorption::restore(Store& store, StreamPast& past, double before) const {
  forget(past);
  if (const auto kept = store.newest_state(past.id, context_.fingerprint, before)) {
    try {
      resume(past, *kept);
    } catch (const Error&) {
      forget(past);  // damaged: from the beginning, then
    }
  }
}

void Absorption::replay(StreamEngine& engine, Store& store, StreamPast& past, double until,
                        const Visit& visit) const {
  StoredEvents events(context_, store, past.id, past.time, until);
  while (events.next()) {
    if (past.events == 0) begin(engine, past, events.time());
    visit(events.time(), events.observed(), events.values());
    absorb_one(engine, past, events.time(), events.observed(), nullptr);
  }
}

}  // namespace edict::server

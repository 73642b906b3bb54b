#include "front/server/write/state_keeper.h"

#include <algorithm>
#include <cmath>

#include "base/not_finite.h"

namespace edict::server {

void StateKeeper::keep(LiveStream& stream) {
  const auto found = registry_.find(stream.name);
  if (found.get() != &stream) return;
  Checkpoints::Unwritten unwritten = stream.checkpoints.take_unwritten();
  if (unwritten.states.empty() && unwritten.obsolete.empty()) return;
  writer_.change([this, found, through = stream.through,
                  unwritten = std::move(unwritten)](Transaction& transaction) {
    if (found->written.removed) return;
    Store& store = transaction.store();
    LiveStream::Written& written = transaction.touch(found);
    for (const double time : unwritten.obsolete)
      store.remove_states(found->id, time, std::nextafter(time, kInfinity));
    // Something came meanwhile; it may belong before one of them.
    const double valid = valid_before(written.late, through);
    for (const KeptState& state : unwritten.states) {
      if (!(state.time < valid && state.time > written.base)) continue;
      store.put_state(found->id, context_.fingerprint, state);
      written.kept_time = std::max(written.kept_time, state.time);
    }
    forget_late(written.late, through);
  });
}

void StateKeeper::prune(LiveStream& stream) {
  if (context_.settings.keep <= 0) return;
  const double longest = context_.settings.keep * context_.clock.seconds_in_unit();
  const KeptState* const base = stream.checkpoints.newest_received(context_.now() - longest);
  if (!base || !(base->time > stream.pruned)) return;
  const auto found = registry_.find(stream.name);
  if (found.get() != &stream) return;
  stream.pruned = base->time;
  writer_.change([this, found, through = stream.through, time = base->time,
                  first = base->first](Transaction& transaction) {
    if (found->written.removed) return;
    Store& store = transaction.store();
    LiveStream::Written& written = transaction.touch(found);
    // Something came meanwhile that belongs before it, or it was never written.
    if (!(time < valid_before(written.late, through) && time > written.base)) return;
    const auto kept =
        store.newest_state(found->id, context_.fingerprint, std::nextafter(time, kInfinity));
    if (!kept || kept->time != time) return;
    store.remove_states(found->id, -kInfinity, time);
    store.remove_values(found->id, time);
    written.base = time;
    written.first = first;
    transaction.store_stream(*found);
  });
  stream.checkpoints.set_base(stream.pruned);
}

}  // namespace edict::server

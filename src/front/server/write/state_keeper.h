// Which states of a stream the store keeps, and which of its values it may forget.
#pragma once

#include "front/server/live/live_context.h"
#include "front/server/live/registry.h"
#include "front/server/write/writer.h"

namespace edict::server {

class StateKeeper {
 public:
  StateKeeper(LiveContext& context, const Registry& registry, Writer& writer)
      : context_(context), registry_(registry), writer_(writer) {}

  // On the thread of the stream's shard.
  void keep(LiveStream& stream);
  // What was received longer ago than is to be kept goes, up to a kept state that takes its place.
  void prune(LiveStream& stream);

 private:
  LiveContext& context_;
  const Registry& registry_;
  Writer& writer_;
};

}  // namespace edict::server

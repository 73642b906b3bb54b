#include "front/server/live/registry.h"

#include <fmt/core.h>

#include <mutex>

#include "base/hash.h"

namespace edict::server {

std::size_t Registry::shard_of(const std::string& name) const { return hash_of(name) % shards_; }

std::size_t Registry::size() const {
  const std::shared_lock lock(mutex_);
  return streams_.size();
}

std::shared_ptr<LiveStream> Registry::find(const std::string& name) const {
  const std::shared_lock lock(mutex_);
  const auto found = streams_.find(name);
  return found == streams_.end() ? nullptr : found->second;
}

std::string Registry::no_room_for(const std::string& name) const {
  const std::shared_lock lock(mutex_);
  return streams_.size() < most_streams_ || streams_.contains(name) ? "" : too_many();
}

std::string Registry::too_many() const {
  return fmt::format("is new, and --most-streams allows {}; remove some, or raise it",
                     most_streams_);
}

void Registry::add(const std::shared_ptr<LiveStream>& stream) {
  const std::unique_lock lock(mutex_);
  streams_.emplace(stream->name, stream);
}

void Registry::remove(const std::string& name) {
  const std::unique_lock lock(mutex_);
  streams_.erase(name);
}

void Registry::replace(Streams streams) {
  for (auto& [_, stream] : streams_) stream->written.removed = true;
  const std::unique_lock lock(mutex_);
  streams_ = std::move(streams);
}

}  // namespace edict::server

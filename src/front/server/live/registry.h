// Which streams there are, by name. The writer changes it; every thread reads it.
#pragma once

#include <memory>
#include <shared_mutex>
#include <string>

#include "front/server/live/messages.h"

namespace edict::server {

class Registry {
 public:
  // `shards`: among which streams are divided, by a hash of their names.
  Registry(std::size_t shards, std::size_t most_streams)
      : shards_(shards), most_streams_(most_streams) {}

  std::size_t n_shards() const { return shards_; }
  std::size_t shard_of(const std::string& name) const;
  std::size_t size() const;
  // nullptr where there is none of this name.
  std::shared_ptr<LiveStream> find(const std::string& name) const;
  // Whether one more begins beside so many that are about to.
  bool has_room(std::size_t beginning) const { return size() + beginning < most_streams_; }
  // Empty where there is a stream of this name or room for it, else why it cannot begin.
  std::string no_room_for(const std::string& name) const;
  std::string too_many() const;

  void add(const std::shared_ptr<LiveStream>& stream);
  void remove(const std::string& name);
  // Everything was read anew; none of the streams before is written to any more.
  void replace(Streams streams);

 private:
  const std::size_t shards_, most_streams_;
  mutable std::shared_mutex mutex_;
  Streams streams_;
};

}  // namespace edict::server

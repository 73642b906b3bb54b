// What one commit changes: in the store, and in what the writer knows of streams. A transaction
// that fails leaves the latter as it was.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "front/server/live/messages.h"
#include "front/server/live/registry.h"

namespace edict::server {

class Transaction {
 public:
  Transaction(std::uint64_t number, Store& store, Registry& registry)
      : items(registry.n_shards()), number_(number), store_(store), registry_(registry) {}

  std::uint64_t number() const { return number_; }
  Store& store() { return store_; }

  // What is known of a stream, to be changed.
  LiveStream::Written& touch(const std::shared_ptr<LiveStream>& stream);
  std::shared_ptr<LiveStream> add_stream(const std::string& name, double origin);
  // Writes what is known of it.
  void store_stream(const LiveStream& stream);
  // Values were put or removed from a time on: kept states that saw something else are none.
  void change_past(const std::shared_ptr<LiveStream>& stream, double from);
  // Time of the newest value that the store has; minus infinity where there is none.
  double newest_of(const std::shared_ptr<LiveStream>& stream);
  // Called where the transaction fails.
  void if_undone(std::function<void()> what) { undo_.push_back(std::move(what)); }

  void undo();
  // The shards may see it.
  void show() const;

  std::vector<std::vector<Item>> items;  // of each shard

 private:
  const std::uint64_t number_;
  Store& store_;
  Registry& registry_;
  std::unordered_map<std::shared_ptr<LiveStream>, LiveStream::Written> before_;
  std::vector<std::shared_ptr<LiveStream>> added_;
  std::vector<std::function<void()>> undo_;
};

}  // namespace edict::server

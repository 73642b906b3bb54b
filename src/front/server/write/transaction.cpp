#include "front/server/write/transaction.h"

#include <cmath>

#include "base/not_finite.h"

namespace edict::server {

LiveStream::Written& Transaction::touch(const std::shared_ptr<LiveStream>& stream) {
  before_.try_emplace(stream, stream->written);
  return stream->written;
}

std::shared_ptr<LiveStream> Transaction::add_stream(const std::string& name, double origin) {
  auto stream = std::make_shared<LiveStream>();
  stream->id = store_.add_stream(name, origin);
  stream->name = name;
  stream->shard = registry_.shard_of(name);
  stream->written.origin = origin;
  stream->written.newest = stream->written.kept_time = -kInfinity;
  stream->loaded = true;  // the store has nothing of it
  touch(stream);
  added_.push_back(stream);
  registry_.add(stream);
  return stream;
}

void Transaction::store_stream(const LiveStream& stream) {
  const LiveStream::Written& written = stream.written;
  store_.change_stream(
      {stream.id, stream.name, written.origin, written.base, written.first, written.about_text});
}

void Transaction::change_past(const std::shared_ptr<LiveStream>& stream, double from) {
  LiveStream::Written& written = touch(stream);
  if (from <= written.kept_time) {
    store_.remove_states(stream->id, from, kInfinity);
    written.kept_time = from;
  }
  add_late(written.late, {number_, from});
}

double Transaction::newest_of(const std::shared_ptr<LiveStream>& stream) {
  if (std::isnan(stream->written.newest)) {
    const auto newest = store_.newest_values(stream->id, kInfinity, 1);
    touch(stream).newest = newest.empty() ? -kInfinity : newest.front().time;
  }
  return stream->written.newest;
}

void Transaction::undo() {
  for (auto& [stream, written] : before_) stream->written = std::move(written);
  for (const auto& stream : added_) {
    stream->written.removed = true;
    registry_.remove(stream->name);
  }
  for (const auto& what : undo_) what();
}

void Transaction::show() const {
  for (const auto& [stream, _] : before_) stream->origin = stream->written.origin;
}

}  // namespace edict::server

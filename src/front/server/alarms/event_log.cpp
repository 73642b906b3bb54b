#include "front/server/alarms/event_log.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>

namespace edict::server {
namespace {

constexpr double kStayWatched = 60;  // seconds after the last watcher left

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

bool EventLog::watched() const {
  const std::lock_guard lock(mutex_);
  return !watchers_.empty() || steady_seconds() < watched_until_;
}

void EventLog::publish(std::string_view name, const std::string& stream, std::string data,
                       bool coalesce) {
  const std::lock_guard lock(mutex_);
  events_.push_back({next_++, std::string(name), stream, std::move(data), coalesce});
  if (events_.size() > kept_) {
    gap_ = events_.front().id + 1;
    events_.pop_front();
  }
}

void EventLog::skip() {
  const std::lock_guard lock(mutex_);
  events_.clear();
  gap_ = ++next_;
}

std::uint64_t EventLog::last() const {
  const std::lock_guard lock(mutex_);
  return next_ - 1;
}

std::shared_ptr<const std::string> EventLog::after(std::uint64_t& seen,
                                                   const std::unordered_set<std::string>& streams,
                                                   std::size_t most) const {
  const std::lock_guard lock(mutex_);
  if (!streams.empty()) return std::make_shared<const std::string>(text_after(seen, streams, most));
  if (!made_.text || made_.from != seen || made_.next != next_) {
    made_.from = seen;
    made_.next = next_;
    made_.text = std::make_shared<const std::string>(text_after(seen, streams, most));
    made_.to = seen;
  }
  seen = made_.to;
  return made_.text;
}

std::string EventLog::text_after(std::uint64_t& seen,
                                 const std::unordered_set<std::string>& streams,
                                 std::size_t most) const {
  std::string text;
  // A number from the future is one of another store.
  if (seen + 1 < gap_ || seen >= next_) {
    seen = next_ - 1;
    return fmt::format("id: {}\nevent: reset\ndata: {{}}\n\n", seen);
  }
  auto at = std::lower_bound(events_.begin(), events_.end(), seen + 1,
                             [](const Event& e, std::uint64_t id) { return e.id < id; });
  // Who is far behind gets the latest of each stream only.
  const bool behind = events_.end() - at > 4;
  std::unordered_map<std::string_view, std::uint64_t> latest;
  if (behind)
    for (auto e = at; e != events_.end(); ++e)
      if (e->coalesce) latest[e->stream] = e->id;
  for (; at != events_.end() && text.size() < most; ++at) {
    seen = at->id;
    if (!streams.empty() && !at->stream.empty() && !streams.contains(at->stream)) continue;
    if (behind && at->coalesce && latest[at->stream] != at->id) continue;
    text += fmt::format("id: {}\nevent: {}\ndata: {}\n\n", at->id, at->name, at->data);
  }
  return text;
}

std::uint64_t EventLog::watch(std::function<void()> wake) {
  const std::lock_guard lock(mutex_);
  watchers_.emplace(next_watcher_, std::move(wake));
  return next_watcher_++;
}

void EventLog::unwatch(std::uint64_t watcher) {
  const std::lock_guard lock(mutex_);
  watchers_.erase(watcher);
  watched_until_ = steady_seconds() + kStayWatched;
}

std::size_t EventLog::watchers() const {
  const std::lock_guard lock(mutex_);
  return watchers_.size();
}

void EventLog::wake_watchers() {
  std::vector<std::function<void()>> wakes;
  {
    const std::lock_guard lock(mutex_);
    if (woken_ == next_) return;
    woken_ = next_;
    for (const auto& [_, wake] : watchers_) wakes.push_back(wake);
  }
  for (const auto& wake : wakes) wake();
}

}  // namespace edict::server

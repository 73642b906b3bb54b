// What happened, for those who watch: the last events in order, each with a number that ascends
// over restarts. A watcher that reads slowly gets the latest of each stream and every alarm.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace edict::server {

class EventLog {
 public:
  // `first`: the number before the first event.
  explicit EventLog(std::uint64_t first, std::size_t kept = 1 << 15)
      : next_(first + 1), gap_(first + 1), kept_(kept) {}

  // Whether anybody watches, or did lately: building texts for nobody would cost a third of a core
  // under load. Whoever comes back later is told to fetch everything again.
  bool watched() const;

  // `coalesce`: a later event of the same stream replaces it for slow watchers.
  void publish(std::string_view name, const std::string& stream, std::string data, bool coalesce);
  // Something happened that nobody watched.
  void skip();

  std::uint64_t last() const;

  // What came after `seen`, as the text of a stream of server-sent events, at most about
  // `most` bytes; `seen` moves. `streams`: only these, where it is not empty.
  // Who saw the same gets the same text, made once.
  std::shared_ptr<const std::string> after(std::uint64_t& seen,
                                           const std::unordered_set<std::string>& streams,
                                           std::size_t most) const;

  // Called, on any thread, soon after something was published.
  std::uint64_t watch(std::function<void()> wake);
  void unwatch(std::uint64_t watcher);
  std::size_t watchers() const;
  // Wakes who watches if there is something new. For a timer.
  void wake_watchers();

 private:
  struct Event {
    std::uint64_t id;
    std::string name, stream, data;
    bool coalesce;
  };

  std::string text_after(std::uint64_t& seen, const std::unordered_set<std::string>& streams,
                         std::size_t most) const;

  mutable std::mutex mutex_;
  struct Made {
    std::uint64_t from = 0, next = 0, to = 0;
    std::shared_ptr<const std::string> text;
  };
  mutable Made made_;  // the last text for those who watch everything
  std::uint64_t next_;
  std::uint64_t gap_;  // events before this number are not kept, or were never made
  std::size_t kept_;
  std::deque<Event> events_;
  std::unordered_map<std::uint64_t, std::function<void()>> watchers_;
  std::uint64_t next_watcher_ = 1;
  std::uint64_t woken_ = 0;
  double watched_until_ = 0;
};

}  // namespace edict::server

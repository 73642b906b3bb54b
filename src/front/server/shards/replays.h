// Streams that are absorbed again from a kept state on, on a thread of their own, which takes an
// event of each in turn: one that has far to go makes the others wait for no more than its share.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "front/server/live/live_context.h"
#include "front/server/shards/absorption.h"
#include "front/server/store/checkpoints.h"

namespace edict::server {

struct Replay {
  std::shared_ptr<LiveStream> stream;
  double before = 0;  // from the newest kept state before it
  bool knows_checkpoints = false;
  Checkpoints checkpoints;
  std::optional<KeptState> here;  // a state that the store may not have yet
  std::uint64_t known = 0;        // the last commit that it has seen
  double from = -std::numeric_limits<double>::infinity();  // its time, where it was gone on from

  StreamPast past;
  std::unique_ptr<StoredEvents> events;
  // What was committed up to this number was read, as far as it lies after `from`.
  std::uint64_t through = 0;
  std::vector<LeftOut> left;
  std::string problem;  // why it could not be done
};

class Replays {
 public:
  Replays(LiveContext& context, std::unique_ptr<Store> store);
  ~Replays() { stop(); }
  Replays(const Replays&) = delete;
  Replays& operator=(const Replays&) = delete;

  // `over` takes a replay that has come to its end, or has failed, back to its stream's shard.
  void start(std::function<void(std::unique_ptr<Replay>)> over);
  void stop();
  void add(std::unique_ptr<Replay> replay);

 private:
  void run();
  void take_more(std::vector<std::unique_ptr<Replay>>& active);
  void prepare(Replay& replay);
  bool next_event(Replay& replay);
  void absorb_next(const std::vector<Replay*>& replays);

  LiveContext& context_;
  const Absorption absorption_;
  StreamEngine engine_;
  const std::unique_ptr<Store> store_;
  std::function<void(std::unique_ptr<Replay>)> over_;

  std::mutex mutex_;
  std::condition_variable came_;
  std::deque<std::unique_ptr<Replay>> waiting_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace edict::server

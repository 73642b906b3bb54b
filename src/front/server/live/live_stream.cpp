#include "front/server/live/live_stream.h"

#include <algorithm>

namespace edict::server {

double LiveStream::urgency() const {
  double urgency = std::min(crossing, 1.0);
  for (const Alarm& alarm : alarms) {
    if (alarm.state == Alarm::State::pending) continue;
    const double own = 1.0 + static_cast<double>(alarm.priority) +
                       std::min(alarm.probability, 1.0) - (alarm.acknowledged ? 0.5 : 0.0);
    urgency = std::max(urgency, own);
  }
  return urgency;
}

std::unique_ptr<LiveStream> LiveStream::snapshot() const {
  auto copy = std::make_unique<LiveStream>();
  static_cast<StreamPast&>(*copy) = *this;
  copy->shard = shard;
  copy->loaded = loaded;
  copy->alarms = alarms;
  copy->crossing = crossing;
  copy->crossing_feature = crossing_feature;
  copy->crossing_rule = crossing_rule;
  copy->crossing_text = crossing_text;
  copy->origin = origin.load();
  return copy;
}

}  // namespace edict::server

#include "front/server/live/messages.h"

#include "front/server/live/live_context.h"

namespace edict::server {

void Group::release(LiveContext& context) {
  if (parts.fetch_sub(1) != 1) return;
  outcome.late = late;
  if (outcome.kind == Outcome::Kind::stored && outcome.refused.count == rows) {
    outcome.kind = Outcome::Kind::invalid;
    outcome.detail = outcome.refused.problems.front().detail;
  }
  context.pending -= rows;
  done(outcome);
}

void Group::fail(const std::string& why) {
  const std::lock_guard lock(mutex);
  outcome.kind = Outcome::Kind::failed;
  outcome.detail = why;
}

}  // namespace edict::server

// The observed values of a stream, and those that should never have come.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/not_finite.h"
#include "front/server/http/routes/call.h"
#include "front/server/http/routes/handlers.h"

namespace edict::server {

using nlohmann::json;

void get_history(const CallPointer& call) {
  const double from = std::nextafter(call->time("from").value_or(-kInfinity), -kInfinity);
  const double to = call->time("to").value_or(kInfinity);
  if (from > to) throw BadInput({{0, "from", "lies after to"}});
  const std::size_t limit = call->count("limit", 1000);
  const std::vector<std::int32_t> wanted = call->features("features");
  const auto listed = [=](Live::Access access, const LiveStream& stream) {
    const StreamClock& clock = access.live.clock();
    const auto values = access.store.values(stream.id, from, to, limit + 1);
    json list = json::array();
    for (std::size_t i = 0; i < std::min(limit, values.size()); ++i) {
      const std::int32_t j = access.live.model_feature(values[i].feature);
      if (j < 0 || (!wanted.empty() && std::ranges::count(wanted, j) == 0)) continue;
      list.push_back({{"time", clock.shown(values[i].time)},
                      {"feature", access.live.model().features[static_cast<std::size_t>(j)]},
                      {"value", values[i].value},
                      {"received", values[i].received},
                      {"corrected", values[i].corrected}});
    }
    return json_answer({{"stream", stream.name},
                        {"observations", std::move(list)},
                        {"more", values.size() > limit}});
  };
  call->live().on_stream(call->id, [=](Live::Access access, LiveStream* stream) {
    if (!stream) return call->fail(FailureCode::not_found, "there is no such stream");
    call->answer_with([&] { return listed(access, *stream); }, FailureCode::unavailable);
  });
}

void delete_observations(const CallPointer& call) {
  std::optional<double> from = call->time("from"), to = call->time("to");
  if (const auto at = call->time("at")) from = to = at;
  // All of a stream goes with the stream; by mistake it should not.
  if (!from && !to)
    throw BadInput({{0, "at", "is missing; give at, or from and to, of what is to be removed"}});
  if (from.value_or(-kInfinity) > to.value_or(kInfinity))
    throw BadInput({{0, "from", "lies after to"}});
  call->live().erase(
      call->id, from.value_or(-kInfinity), to.value_or(kInfinity), call->features("features"),
      call->who, [call](const Result<std::size_t>& count) {
        if (!count) return call->fail(failure_of(count.failure()));
        call->done({200, "application/json", fmt::format("{{\"removed\":{}}}\n", count.value())});
      });
}

}  // namespace edict::server

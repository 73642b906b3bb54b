// DELETE /v1/streams/{id}/observations: values that should never have come.
#include "base/json/json.h"
#include "base/json/json_text.h"
#include "base/not_finite.h"
#include "front/server/http/api_call.h"

namespace edict::server {

void Api::erase(const std::shared_ptr<Call>& call) {
  const StreamClock& clock = live_.clock();
  std::vector<Problem> problems;
  const auto bound = [&](const char* key, double standard) {
    const std::string text = call->text(key);
    if (text.empty()) return standard;
    const auto read = clock.from_text(text);
    if (read && (!read->wall || clock.calendar())) return read->value;
    problems.push_back({0, key, fmt::format("'{}' is no time of this model", text)});
    return standard;
  };
  // All of a stream goes with the stream; by mistake it should not.
  double from = bound("from", -kInfinity), to = bound("to", kInfinity);
  if (!call->text("at").empty()) from = to = bound("at", 0);
  if (from == -kInfinity && to == kInfinity && problems.empty())
    problems.push_back({0, "at", "is missing; give at, or from and to, of what is to be removed"});
  if (from > to) problems.push_back({0, "from", "lies after to"});
  std::vector<std::int32_t> features;
  for (const std::string& name : split(call->text("features"), ',')) {
    const std::int32_t feature = live_.intake().feature(name);
    if (feature < 0)
      problems.push_back({0, "features", fmt::format("the model has no '{}'", name)});
    features.push_back(feature);
  }
  if (!problems.empty()) throw BadInput(std::move(problems));
  live_.erase(
      call->part(2), from, to, std::move(features), call->who,
      [call](const Result<std::size_t>& count) {
        if (!count) return call->done(problem_of(count.failure()));
        call->done({200, "application/json", fmt::format("{{\"removed\":{}}}\n", count.value())});
      });
}

}  // namespace edict::server

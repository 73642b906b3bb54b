// Distributions of what comes, and what was expected before.
#include <fmt/core.h>

#include <algorithm>
#include <atomic>

#include "front/server/http/routes/call.h"
#include "front/server/http/routes/handlers.h"
#include "front/server/live/questions.h"

namespace edict::server {
namespace {

using nlohmann::json;

constexpr std::size_t kMostCharts = 100;  // of one request

// Those that are named, else all of the model.
std::vector<std::size_t> wanted_features(const Call& call) {
  std::vector<std::size_t> features;
  for (const std::int32_t j : call.features("features"))
    features.push_back(static_cast<std::size_t>(j));
  if (features.empty())
    for (std::size_t j = 0; j < call.live().model().features.size(); ++j) features.push_back(j);
  return features;
}

std::optional<double> shown_time(const Call& call, const char* name) {
  const auto raw = call.time(name);
  return raw ? std::optional(call.live().clock().shown(*raw)) : std::nullopt;
}

std::vector<Limit> wanted_limits(const Call& call) {
  std::vector<Limit> limits;
  for (const bool above : {true, false})
    for (const std::string& text : call.texts(above ? "above" : "below")) {
      const LimitText limit = split_limit(text).value();
      const std::int32_t j = call.live().intake().feature(limit.feature);
      limits.push_back(
          {static_cast<std::size_t>(j), limit.number, above, std::string(limit.value)});
    }
  return limits;
}

AskedDistribution asked_distribution(const Call& call) {
  AskedDistribution asked;
  asked.features = wanted_features(call);
  asked.level = call.level();
  for (const double raw : call.times("at")) asked.at.push_back(call.live().clock().shown(raw));
  asked.ahead = call.numbers("ahead");
  if (asked.at.empty() && asked.ahead.empty()) asked.ahead = {0.0};
  for (const double ahead : asked.ahead)
    if (ahead < 0) throw BadInput({{0, "ahead", "lies before the newest observation; use at"}});
  asked.quantiles = call.numbers("quantiles");
  asked.quantile_texts = call.texts("quantiles");
  for (const double p : asked.quantiles)
    if (!(p > 0 && p < 1)) throw BadInput({{0, "quantiles", "lie between 0 and 1"}});
  asked.limits = wanted_limits(call);
  if (!call.text("within").empty()) asked.within = call.number("within", 0);
  return asked;
}

// Answers with what `make` says of the stream of the call.
template <class Make>
void answer_of_stream(const CallPointer& call, Make make) {
  call->live().on_stream(call->id, [call, make](Live::Access access, LiveStream* stream) {
    if (!stream) return call->fail(FailureCode::not_found, "there is no such stream");
    call->answer_with([&] { return json_answer(make(access, *stream)); },
                      stream->loaded ? FailureCode::invalid : FailureCode::unavailable);
  });
}

}  // namespace

void get_distribution(const CallPointer& call) {
  const AskedDistribution asked = asked_distribution(*call);
  answer_of_stream(call, [asked](Live::Access access, const LiveStream& stream) {
    return distribution(access, stream, asked);
  });
}

void get_trajectory(const CallPointer& call) {
  AskedTrajectory asked;
  asked.features = wanted_features(*call);
  asked.level = call->level();
  asked.from = shown_time(*call, "from");
  asked.to = shown_time(*call, "to");
  asked.points = call->count("points", 120);
  answer_of_stream(call, [asked](Live::Access access, const LiveStream& stream) {
    return trajectory(access, stream, asked);
  });
}

void list_trajectories(const CallPointer& call) {
  std::vector<std::string> names = call->texts("streams");
  for (const std::string& name : call->texts("stream")) names.push_back(name);
  if (names.empty() || names.size() > kMostCharts)
    throw BadInput({{0, "streams", fmt::format("give 1 to {} streams", kMostCharts)}});
  AskedTrajectory asked;
  asked.level = call->level();
  asked.points = call->count("points", 48);
  struct Charts {
    std::vector<json> all;
    std::atomic<std::size_t> remaining;
  };
  auto charts = std::make_shared<Charts>();
  charts->all.resize(names.size());
  charts->remaining = names.size();
  for (std::size_t i = 0; i < names.size(); ++i)
    call->live().on_stream(names[i], [=](Live::Access access, LiveStream* stream) {
      try {
        if (stream && stream->events > 0) {
          AskedTrajectory own = asked;
          own.features = {telling_feature(access, *stream)};
          charts->all[i] = trajectory(access, *stream, own);
          charts->all[i]["feature"] = access.live.model().features[own.features[0]];
        }
      } catch (const std::exception&) {
        // Left out; asking for it alone says why.
      }
      if (--charts->remaining > 0) return;
      json list = json::array();
      for (json& chart : charts->all)
        if (chart.is_object()) list.push_back(std::move(chart));
      call->done(json_answer({{"trajectories", std::move(list)}}));
    });
}

}  // namespace edict::server

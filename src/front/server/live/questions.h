// What can be asked of one stream, answered apart from its shard's thread.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "ask/limit.h"
#include "front/server/live/live.h"

namespace edict::server {

struct AskedDistribution {
  std::vector<double> at;     // as JSON has times
  std::vector<double> ahead;  // or after the newest observation, in the model's unit
  std::vector<std::size_t> features;
  double level = 0.9;
  std::vector<double> quantiles;
  std::vector<std::string> quantile_texts;
  std::vector<Limit> limits;
  std::optional<double> within;  // for crossings
};
struct Moment {
  double raw = 0, ahead = 0;
  std::vector<Marginal> marginals;  // of every feature
};
// In the order of time. Throws Error for a stream without observations.
std::vector<Moment> moments_of(Live::Access access, const LiveStream& stream,
                               const AskedDistribution& asked);
nlohmann::json distribution(Live::Access access, const LiveStream& stream,
                            const AskedDistribution& asked);

struct AskedTrajectory {
  std::optional<double> from, to;  // as JSON has times
  std::size_t points = 120;
  std::vector<std::size_t> features;
  double level = 0.9;
};
nlohmann::json trajectory(Live::Access access, const LiveStream& stream,
                          const AskedTrajectory& asked);

// The feature that says most of a stream: of its gravest alarm, else of its likeliest crossing,
// else the one that was observed most often of late.
std::size_t telling_feature(Live::Access access, const LiveStream& stream);

// The stream as GET /v1/streams/{id} tells it.
nlohmann::json described(Live::Access access, const LiveStream& stream, bool whole);

}  // namespace edict::server

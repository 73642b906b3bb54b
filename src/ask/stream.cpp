#include "ask/stream.h"

#include "base/error.h"

namespace edict {

Stream::Stream(std::shared_ptr<const Model> model, std::span<const double> covariates,
               std::optional<double> start, const Guard& guard)
    : engine_(std::move(model), guard), state_(engine_.begin(start, covariates)) {
  // One event and one question of everything take all the memory that later ones need.
  StreamState copy = state_;
  std::vector<Observation> all;
  for (std::size_t j = 0; j < engine_.model().features.size(); ++j)
    all.push_back({static_cast<std::int32_t>(j), engine_.model().protocol.population.mean[j]});
  const Protocol& protocol = engine_.model().protocol;
  const double later = start.value_or(protocol.origin) + protocol.time_unit;
  const StreamEngine::Event event{&copy, later, all};
  engine_.observe({&event, 1});
  const StreamEngine::Question question{&copy, later + protocol.time_unit};
  engine_.distribution({&question, 1});
}

void Stream::restore(StreamState state) {
  engine_.check(state);
  state_ = std::move(state);
}

}  // namespace edict

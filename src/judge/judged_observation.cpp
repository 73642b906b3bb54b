#include "judge/judged_observation.h"

namespace edict {

std::vector<JudgedObservation> judged_observations(const Model& model,
                                                   const Timeline<float>& timeline,
                                                   const Answer& answer,
                                                   std::span<const Answer* const> members) {
  std::vector<JudgedObservation> judged;
  judged.reserve(answer.marginals.size());
  each_asked_observation(
      timeline, model.features.size(),
      [&](std::size_t stop, std::size_t o, double last_time, std::span<const double> last_value) {
        const std::size_t next = judged.size();
        const double time = timeline.stops[stop].time;
        const auto feature = static_cast<std::size_t>(timeline.feature[o]);
        judged.push_back({{stop, feature, timeline.value[o], answer.marginals[next]},
                          time >= timeline.cut,
                          !std::isnan(last_time),
                          horizon_at(model, time, last_time),
                          last_value[feature]});
        for (const Answer* member : members)
          judged.back().members.push_back(member->marginals[next]);
      });
  return judged;
}

}  // namespace edict

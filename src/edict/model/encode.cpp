#include "edict/model/encode.h"

#include <fmt/core.h>

#include <atomic>

#include "edict/core/error.h"
#include "edict/model/ask_all.h"

namespace edict {

Encoding encode(const Model& model, const Dataset& data, std::span<const std::size_t> series,
                ThreadPool& pool, const Guard& guard) {
  model.check_data(data);
  if (!model.network->has_distribution())
    throw Error(fmt::format("{} has no state h(T) to encode series to; it classifies by itself",
                            model.config.model.kind));
  std::vector<Agenda<float>> agendas;
  std::vector<Example> examples;
  Encoding result;
  for (const std::size_t i : series) {
    agendas.push_back(encoding_agenda(model.protocol, data, i));
    result.observations += agendas.back().feature.size();
  }
  for (const auto& agenda : agendas) examples.push_back({&agenda});
  result.states.resize(model.network->hidden(), static_cast<Index>(series.size()));
  std::atomic<std::size_t> clipped = 0;
  const Asking common = model.asking(guard);
  ask_all(model, examples, pool, [&](std::size_t first) {
    Asking asking = common;
    asking.on_query = [&, first](std::size_t slot, std::size_t, std::span<const Marginal>,
                                 std::span<const float> h) {
      std::copy(h.begin(), h.end(), result.states.col(static_cast<Index>(first + slot)).data());
    };
    asking.on_clip = [&](auto&&...) { clipped.fetch_add(1, std::memory_order_relaxed); };
    return asking;
  });
  result.clipped = clipped;
  return result;
}

}  // namespace edict

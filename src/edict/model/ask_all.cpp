#include "edict/model/ask_all.h"

#include <algorithm>

namespace edict {
namespace {

// body(worker, first, count) for every chunk.
template <class Body>
void each_chunk(const Model& model, std::size_t examples, ThreadPool& pool, const Body& body) {
  const auto chunk = static_cast<std::size_t>(model.config.train.chunk);
  std::vector<std::unique_ptr<Worker>> workers(pool.size());
  pool.for_each((examples + chunk - 1) / chunk, [&](std::size_t c, std::size_t w) {
    if (!workers[w]) workers[w] = model.network->worker();
    const std::size_t first = c * chunk;
    body(*workers[w], first, std::min(chunk, examples - first));
  });
}

}  // namespace

LossSums ask_all(const Model& model, std::span<const Example> examples, ThreadPool& pool,
                 const std::function<Asking(std::size_t first)>& asking) {
  const auto chunk = static_cast<std::size_t>(model.config.train.chunk);
  std::vector<LossSums> sums((examples.size() + chunk - 1) / chunk);
  each_chunk(model, examples.size(), pool,
             [&](Worker& worker, std::size_t first, std::size_t count) {
               sums[first / chunk] = worker.ask(model.params.data(), examples.subspan(first, count),
                                                asking ? asking(first) : Asking{});
             });
  LossSums total;
  for (const LossSums& s : sums) total += s;
  return total;
}

void ask_observations(const Model& model, std::span<const Agenda<float>> agendas, ThreadPool& pool,
                      const Asking& asking, const ObservationListener& listener) {
  std::vector<Example> examples;
  for (const auto& agenda : agendas) examples.push_back({&agenda});
  ask_all(model, examples, pool, [&](std::size_t first) {
    Asking chunk = asking;
    chunk.on_query = [&, first](std::size_t slot, std::size_t stop,
                                std::span<const Marginal> expected, std::span<const float>) {
      const Agenda<float>& agenda = agendas[first + slot];
      const auto& at = agenda.stops[stop];
      for (std::uint32_t k = at.first; k < at.first + at.count; ++k) {
        const std::int32_t j = agenda.feature[k];
        listener(first + slot, stop, j, expected[static_cast<std::size_t>(j)], agenda.value[k]);
      }
    };
    return chunk;
  });
}

Matrix<float> classify_all(const Model& model, std::span<const Example> examples, ThreadPool& pool,
                           const Asking& asking) {
  Matrix<float> logits(model.network->classes(), static_cast<Index>(examples.size()));
  each_chunk(model, examples.size(), pool,
             [&](Worker& worker, std::size_t first, std::size_t count) {
               worker.classify(model.params.data(), examples.subspan(first, count), asking,
                               logits.col(static_cast<Index>(first)).data());
             });
  return logits;
}

}  // namespace edict

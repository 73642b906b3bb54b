#include "edict/models/ask_all.h"

#include <algorithm>

namespace edict {

LossSums ask_all(const Model& model, std::span<const Example> examples, ThreadPool& pool,
                 const std::function<Asking(std::size_t first)>& asking) {
  const auto chunk = static_cast<std::size_t>(model.config.train.chunk);
  const std::size_t chunks = (examples.size() + chunk - 1) / chunk;
  std::vector<LossSums> sums(chunks);
  std::vector<std::unique_ptr<Worker>> workers(pool.size());
  pool.for_each(chunks, [&](std::size_t c, std::size_t w) {
    if (!workers[w]) workers[w] = model.network->worker();
    const std::size_t first = c * chunk, count = std::min(chunk, examples.size() - first);
    sums[c] = workers[w]->ask(model.params.data(), examples.subspan(first, count),
                              asking ? asking(first) : Asking{});
  });
  LossSums total;
  for (const LossSums& s : sums) total += s;
  return total;
}

}  // namespace edict

#include "edict/model/infer.h"

#include <fmt/core.h>

#include <algorithm>

#include "edict/core/error.h"

namespace edict {
namespace {

// body(worker, weights, first, count) for every chunk.
template <class Body>
void each_chunk(const Model& model, std::size_t examples, ThreadPool& pool, const Body& body) {
  const auto chunk = static_cast<std::size_t>(model.config.train.chunk);
  const Weights weights = model.network->weights(model.params.data());
  std::vector<std::unique_ptr<Worker>> workers(pool.size());
  pool.for_each((examples + chunk - 1) / chunk, [&](std::size_t c, std::size_t w) {
    if (!workers[w]) workers[w] = model.network->worker();
    const std::size_t first = c * chunk;
    body(*workers[w], weights, first, std::min(chunk, examples - first));
  });
}

}  // namespace

std::vector<Answer> infer(const Model& model, std::span<const Example> examples, ThreadPool& pool,
                          const InferenceOptions& options) {
  check(options.guard);
  std::vector<Answer> answers(examples.size());
  each_chunk(model, examples.size(), pool,
             [&](Worker& worker, const Weights& weights, std::size_t first, std::size_t count) {
               worker.infer(weights, examples.subspan(first, count), options,
                            std::span(answers).subspan(first, count));
             });
  return answers;
}

LossSums infer_losses(const Model& model, std::span<const Example> examples, ThreadPool& pool,
                      StopFlag stop) {
  const auto chunk = static_cast<std::size_t>(model.config.train.chunk);
  std::vector<LossSums> sums((examples.size() + chunk - 1) / chunk);
  InferenceOptions options;
  options.marginals = InferenceOptions::Marginals::none;
  options.stop = stop;
  each_chunk(model, examples.size(), pool,
             [&](Worker& worker, const Weights& weights, std::size_t first, std::size_t count) {
               sums[first / chunk] =
                   worker.infer(weights, examples.subspan(first, count), options, {});
             });
  LossSums total;
  for (const LossSums& s : sums) total += s;
  return total;
}

Matrix<float> infer_classes(const Model& model, std::span<const Example> examples, ThreadPool& pool,
                            const InferenceOptions& options,
                            std::vector<std::vector<Clipped>>* clips) {
  check(options.guard);
  if (clips) clips->assign(examples.size(), {});
  Matrix<float> logits(model.network->classes(), static_cast<Index>(examples.size()));
  each_chunk(model, examples.size(), pool,
             [&](Worker& worker, const Weights& weights, std::size_t first, std::size_t count) {
               worker.classify(weights, examples.subspan(first, count), options,
                               clips ? std::span(*clips).subspan(first, count)
                                     : std::span<std::vector<Clipped>>(),
                               logits.col(static_cast<Index>(first)).data());
             });
  for (Index i = 0; i < logits.cols(); ++i)
    if (!logits.col(i).allFinite())
      throw Error(
          fmt::format("series {}: its class scores are not finite; check its values, and train the "
                      "model again with a lower train.learning_rate",
                      examples[static_cast<std::size_t>(i)].agenda->id));
  return logits;
}

std::vector<Example> examples_of(std::span<const Agenda<float>> agendas) {
  std::vector<Example> examples;
  examples.reserve(agendas.size());
  for (const auto& agenda : agendas) examples.push_back({&agenda});
  return examples;
}

}  // namespace edict

#include "edict/model/infer.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "edict/core/error.h"
#include "edict/model/ensemble.h"

namespace edict {
namespace {

// body(worker, weights, first, count) for every chunk, with the parameters of one member.
template <class Body>
void each_chunk(const Model& model, std::size_t member, std::size_t examples, ThreadPool& pool,
                const Body& body) {
  const auto chunk = static_cast<std::size_t>(model.config.train.chunk);
  const Weights weights = model.network->weights(model.params_of(member).data());
  std::vector<std::unique_ptr<Worker>> workers(pool.size());
  pool.for_each((examples + chunk - 1) / chunk, [&](std::size_t c, std::size_t w) {
    if (!workers[w]) workers[w] = model.network->worker();
    const std::size_t first = c * chunk;
    body(*workers[w], weights, first, std::min(chunk, examples - first));
  });
}

std::vector<Answer> infer_member(const Model& model, std::size_t member,
                                 std::span<const Example> examples, ThreadPool& pool,
                                 const InferenceOptions& options) {
  std::vector<Answer> answers(examples.size());
  each_chunk(model, member, examples.size(), pool,
             [&](Worker& worker, const Weights& weights, std::size_t first, std::size_t count) {
               worker.infer(weights, examples.subspan(first, count), options,
                            std::span(answers).subspan(first, count));
             });
  return answers;
}

// Scores before the softmax that give the mean of the members' probabilities: its logarithm.
Matrix<float> mean_of_probabilities(const std::vector<Matrix<float>>& members) {
  Matrix<float> result(members.front().rows(), members.front().cols());
  const auto classes = static_cast<std::size_t>(result.rows());
  std::vector<double> mean(classes), own(classes);
  for (Index i = 0; i < result.cols(); ++i) {
    std::fill(mean.begin(), mean.end(), 0.0);
    for (const Matrix<float>& logits : members) {
      const float* const z = logits.col(i).data();
      const auto top = static_cast<double>(*std::max_element(z, z + classes));
      double sum = 0;
      for (std::size_t k = 0; k < classes; ++k)
        sum += own[k] = std::exp(static_cast<double>(z[k]) - top);
      for (std::size_t k = 0; k < classes; ++k) mean[k] += own[k] / sum;
    }
    // A probability that underflowed stays a number.
    constexpr double kLeast = 1e-300;
    for (std::size_t k = 0; k < classes; ++k)
      result(static_cast<Index>(k), i) = static_cast<float>(
          std::log(std::max(kLeast, mean[k] / static_cast<double>(members.size()))));
  }
  return result;
}

}  // namespace

std::vector<std::vector<Answer>> infer_members(const Model& model,
                                               std::span<const Example> examples, ThreadPool& pool,
                                               const InferenceOptions& options) {
  check(options.guard);
  std::vector<std::vector<Answer>> answers;
  for (std::size_t m = 0; m < model.members(); ++m)
    answers.push_back(infer_member(model, m, examples, pool, options));
  return answers;
}

std::vector<Answer> infer_uncalibrated(const Model& model, std::span<const Example> examples,
                                       ThreadPool& pool, const InferenceOptions& options) {
  std::vector<std::vector<Answer>> members = infer_members(model, examples, pool, options);
  if (members.size() == 1) return std::move(members.front());
  std::vector<Answer> answers(examples.size());
  pool.for_each(examples.size(), [&](std::size_t i, std::size_t) {
    std::vector<const Answer*> own;
    for (const auto& of_member : members) own.push_back(&of_member[i]);
    answers[i] = mixture(own, static_cast<std::size_t>(model.network->hidden()));
  });
  return answers;
}

std::vector<Answer> infer(const Model& model, std::span<const Example> examples, ThreadPool& pool,
                          const InferenceOptions& options) {
  std::vector<Answer> answers = infer_uncalibrated(model, examples, pool, options);
  if (!model.calibration.empty() && options.marginals != InferenceOptions::Marginals::none)
    pool.for_each(answers.size(), [&](std::size_t i, std::size_t) {
      model.calibration.apply(*examples[i].agenda, options.marginals, answers[i]);
    });
  return answers;
}

LossSums infer_losses(const Model& model, std::span<const Example> examples, ThreadPool& pool,
                      StopFlag stop) {
  if (model.members() > 1)
    throw Error("the losses of an ensemble are those of its members; ask each by itself");
  const auto chunk = static_cast<std::size_t>(model.config.train.chunk);
  std::vector<LossSums> sums((examples.size() + chunk - 1) / chunk);
  InferenceOptions options;
  options.marginals = InferenceOptions::Marginals::none;
  options.stop = stop;
  each_chunk(model, 0, examples.size(), pool,
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
  std::vector<Matrix<float>> members;
  for (std::size_t m = 0; m < model.members(); ++m) {
    Matrix<float>& own =
        members.emplace_back(model.network->classes(), static_cast<Index>(examples.size()));
    // Members of a kind that classifies by itself clip alike: by the population, if at all.
    const bool told = clips && m == 0;
    each_chunk(model, m, examples.size(), pool,
               [&](Worker& worker, const Weights& weights, std::size_t first, std::size_t count) {
                 worker.classify(weights, examples.subspan(first, count), options,
                                 told ? std::span(*clips).subspan(first, count)
                                      : std::span<std::vector<Clipped>>(),
                                 own.col(static_cast<Index>(first)).data());
               });
  }
  const Matrix<float> logits =
      members.size() == 1 ? std::move(members.front()) : mean_of_probabilities(members);
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

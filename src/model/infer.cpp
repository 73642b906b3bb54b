#include "model/infer.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "base/files/byte_stream.h"
#include "base/threads/share_chunks.h"
#include "model/ensemble.h"
#include "protocol/reversed.h"

namespace edict {
namespace {

// body(worker, weights, first, count) for every chunk, with these parameters of a member. Where
// processes share the work, put(first, count, writer) and get(first, count, reader) bring what came
// of a chunk to the others, so that all of them have all of it.
template <class Body, class Put, class Get>
void each_chunk(const Model& model, const Vector<float>& params, std::size_t examples,
                ThreadPool& pool, StopFlag stop, const Body& body, const Put& put, const Get& get) {
  const auto chunk = static_cast<std::size_t>(model.config.train.chunk);
  const std::size_t chunks = (examples + chunk - 1) / chunk;
  const Weights weights = model.network->weights(params.data());
  std::vector<std::unique_ptr<Worker>> workers(pool.size());
  const auto count_at = [&](std::size_t c) { return std::min(chunk, examples - c * chunk); };
  const auto compute = [&](std::size_t c, std::size_t w) {
    if (!workers[w]) workers[w] = model.network->worker();
    body(*workers[w], weights, c * chunk, count_at(c));
  };
  Ranks* const ranks = pool.ranks();
  if (!ranks || ranks->size() == 1) return pool.for_each(chunks, compute);
  share_chunks(*ranks, chunks, pool, stop, compute);
  ByteWriter own;
  for (std::size_t c = ranks->rank(); c < chunks; c += ranks->size())
    put(c * chunk, count_at(c), own);
  const std::vector<Ranks::Bytes> all = ranks->gather(own.bytes());
  for (std::size_t r = 0; r < all.size(); ++r) {
    if (r == ranks->rank()) continue;
    ByteReader reader(all[r]);
    for (std::size_t c = r; c < chunks; c += ranks->size()) get(c * chunk, count_at(c), reader);
  }
}

void put_answer(const Answer& answer, ByteWriter& to) {
  to.put_list(answer.marginals);
  to.put_list(answer.states);
  to.put_list(answer.clips);
  to.put_list(answer.final_state);
  to.put(answer.final_dt);
}
void get_answer(ByteReader& from, Answer& answer) {
  from.get_list(answer.marginals);
  from.get_list(answer.states);
  from.get_list(answer.clips);
  from.get_list(answer.final_state);
  from.get(answer.final_dt);
}

std::vector<Answer> infer_member(const Model& model, const Vector<float>& params,
                                 std::span<const Example> examples, ThreadPool& pool,
                                 const InferenceOptions& options) {
  std::vector<Answer> answers(examples.size());
  each_chunk(
      model, params, examples.size(), pool, options.stop,
      [&](Worker& worker, const Weights& weights, std::size_t first, std::size_t count) {
        worker.infer(weights, examples.subspan(first, count), options,
                     std::span(answers).subspan(first, count));
      },
      [&](std::size_t first, std::size_t count, ByteWriter& to) {
        for (std::size_t i = first; i < first + count; ++i) put_answer(answers[i], to);
      },
      [&](std::size_t first, std::size_t count, ByteReader& from) {
        for (std::size_t i = first; i < first + count; ++i) get_answer(from, answers[i]);
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

std::vector<std::vector<Answer>> infer_members(const Model& model,
                                               std::span<const Example> examples, ThreadPool& pool,
                                               const InferenceOptions& options) {
  check(options.guard);
  std::vector<std::vector<Answer>> answers;
  const Index rows = model.network->state_rows();
  std::vector<Example> own(examples.begin(), examples.end());
  for (std::size_t m = 0; m < model.members.size(); ++m) {
    answers.push_back(infer_member(model, model.members[m].params, own, pool, options));
    for (Example& example : own)
      if (example.state) example.state += rows;
  }
  return answers;
}

// One answer an example of what the members answered; that of a single one is taken out.
std::vector<Answer> together(const Model& model, std::vector<std::vector<Answer>>& members,
                             ThreadPool& pool) {
  if (members.size() == 1) {
    std::vector<Answer> only = std::move(members.front());
    members.clear();
    return only;
  }
  std::vector<Answer> answers(members.front().size());
  pool.for_each(answers.size(), [&](std::size_t i, std::size_t) {
    std::vector<const Answer*> own;
    for (const auto& of_member : members) own.push_back(&of_member[i]);
    answers[i] = mixture(own, static_cast<std::size_t>(model.network->hidden()));
  });
  return answers;
}

}  // namespace

std::vector<Answer> infer_uncalibrated(const Model& model, std::span<const Example> examples,
                                       ThreadPool& pool, const InferenceOptions& options) {
  auto members = infer_members(model, examples, pool, options);
  return together(model, members, pool);
}

BothSides infer_both_sides(const Model& model, std::span<const Timeline<float>> timelines,
                           ThreadPool& pool, const InferenceOptions& options) {
  BothSides sides;
  sides.forward = infer_uncalibrated(model, examples_of(timelines), pool, options);
  std::vector<Timeline<float>> backwards(timelines.size());
  pool.for_each(timelines.size(),
                [&](std::size_t i, std::size_t) { backwards[i] = reversed(timelines[i]); });
  const std::vector<Example> examples = examples_of(backwards);
  std::vector<std::vector<Answer>> members;
  for (std::size_t m = 0; m < model.members.size(); ++m)
    members.push_back(infer_member(model, model.members[m].backward, examples, pool, options));
  sides.backward = together(model, members, pool);
  pool.for_each(timelines.size(), [&](std::size_t i, std::size_t) {
    Answer& answer = sides.backward[i];
    std::vector<Marginal> forwards(answer.marginals.size());
    auto end = forwards.end();  // of what is not filled yet
    auto from = answer.marginals.begin();
    for (const auto& stop : backwards[i].stops) {
      if (!(stop.what & Timeline<float>::kQuery)) continue;
      const auto count = static_cast<std::ptrdiff_t>(
          options.marginals == InferenceOptions::Marginals::all ? model.features.size()
                                                                : stop.count);
      end -= count;
      std::copy_n(from, count, end);
      from += count;
    }
    answer.marginals = std::move(forwards);
    for (Clipped& clip : answer.clips) clip.stop = backwards[i].stops.size() - 1 - clip.stop;
  });
  return sides;
}

std::vector<Answer> infer_smoothed(const Model& model, std::span<const Timeline<float>> timelines,
                                   ThreadPool& pool, const InferenceOptions& options) {
  if (model.fusion.empty())
    throw Error(
        "the model was not trained to look at both sides; train one with train.smooth to fill gaps "
        "from both");
  if (options.states || options.final_states ||
      options.marginals == InferenceOptions::Marginals::none)
    throw Error("only distributions can be inferred from both sides");
  BothSides sides = infer_both_sides(model, timelines, pool, options);
  pool.for_each(timelines.size(), [&](std::size_t i, std::size_t) {
    Answer& answer = sides.forward[i];
    const Answer& other = sides.backward[i];
    const std::vector<double> ahead = horizons(timelines[i]);
    each_marginal(timelines[i], options.marginals, model.features.size(), answer,
                  [&](std::size_t k, std::size_t query, std::size_t j, Marginal& own) {
                    own = k < other.marginals.size()
                              ? model.fusion.features[j].fused(own, other.marginals[k])
                              : model.calibration.calibrated(j, own, ahead[query]);
                  });
    const Answer* const both[] = {&answer, &other};
    answer.clips = all_clips(both);
  });
  return std::move(sides.forward);
}

std::vector<Answer> infer(const Model& model, std::span<const Example> examples, ThreadPool& pool,
                          const InferenceOptions& options,
                          std::vector<std::vector<Answer>>* members) {
  auto of_members = infer_members(model, examples, pool, options);
  std::vector<Answer> answers = together(model, of_members, pool);
  if (members) *members = std::move(of_members);
  if (!model.calibration.empty() && options.marginals != InferenceOptions::Marginals::none)
    pool.for_each(answers.size(), [&](std::size_t i, std::size_t) {
      model.calibration.apply(examples[i], options.marginals, answers[i]);
    });
  return answers;
}

std::vector<Answer> infer_from(Sides sides, const Model& model,
                               std::span<const Timeline<float>> timelines, ThreadPool& pool,
                               const InferenceOptions& options) {
  return sides == Sides::both ? infer_smoothed(model, timelines, pool, options)
                              : infer(model, examples_of(timelines), pool, options);
}

void add_losses(const Model& model, std::span<const Example> examples, ThreadPool& pool, bool crps,
                StopFlag stop, LossSums& total) {
  if (model.members.size() > 1)
    throw Error("an ensemble has no losses of its own; evaluate its members one by one");
  const auto chunk = static_cast<std::size_t>(model.config.train.chunk);
  std::vector<LossSums> sums((examples.size() + chunk - 1) / chunk);
  InferenceOptions options;
  options.marginals = InferenceOptions::Marginals::none;
  options.crps = crps;
  options.stop = stop;
  each_chunk(
      model, model.first().params, examples.size(), pool, stop,
      [&](Worker& worker, const Weights& weights, std::size_t first, std::size_t count) {
        sums[first / chunk] = worker.infer(weights, examples.subspan(first, count), options, {});
      },
      [&](std::size_t first, std::size_t, ByteWriter& to) { to.put(sums[first / chunk]); },
      [&](std::size_t first, std::size_t, ByteReader& from) { from.get(sums[first / chunk]); });
  for (const LossSums& s : sums) total += s;
}

Matrix<float> infer_classes(const Model& model, std::span<const Example> examples, ThreadPool& pool,
                            const InferenceOptions& options,
                            std::vector<std::vector<Clipped>>* clips) {
  check(options.guard);
  if (clips) clips->assign(examples.size(), {});
  std::vector<Matrix<float>> members;
  for (std::size_t m = 0; m < model.members.size(); ++m) {
    Matrix<float>& own =
        members.emplace_back(model.network->classes(), static_cast<Index>(examples.size()));
    // Members of a kind that classifies by itself clip alike: by the population, if at all.
    const bool told = clips && m == 0;
    const auto scores = [&](std::size_t first, std::size_t count) {
      return std::span<float>(own.col(static_cast<Index>(first)).data(),
                              count * static_cast<std::size_t>(own.rows()));
    };
    each_chunk(
        model, model.members[m].params, examples.size(), pool, options.stop,
        [&](Worker& worker, const Weights& weights, std::size_t first, std::size_t count) {
          worker.classify(
              weights, examples.subspan(first, count), options,
              told ? std::span(*clips).subspan(first, count) : std::span<std::vector<Clipped>>(),
              scores(first, count).data());
        },
        [&](std::size_t first, std::size_t count, ByteWriter& to) {
          to.put(std::span<const float>(scores(first, count)));
          for (std::size_t i = first; told && i < first + count; ++i) to.put_list((*clips)[i]);
        },
        [&](std::size_t first, std::size_t count, ByteReader& from) {
          from.get(scores(first, count));
          for (std::size_t i = first; told && i < first + count; ++i) from.get_list((*clips)[i]);
        });
  }
  const Matrix<float> logits =
      members.size() == 1 ? std::move(members.front()) : mean_of_probabilities(members);
  for (Index i = 0; i < logits.cols(); ++i)
    if (!logits.col(i).allFinite())
      throw Error(
          fmt::format("series {}: its class scores are not finite; check its values, and train the "
                      "model again with a lower train.learning_rate",
                      examples[static_cast<std::size_t>(i)].timeline->id));
  return logits;
}

std::size_t block_of_series(const Model& model) {
  // Enough chunks to occupy every thread of many processes, and memory for no more.
  constexpr std::size_t kChunks = 128;
  return kChunks * static_cast<std::size_t>(model.config.train.chunk);
}

std::vector<Example> examples_of(std::span<const Timeline<float>> timelines) {
  std::vector<Example> examples;
  examples.reserve(timelines.size());
  for (const auto& timeline : timelines) {
    examples.push_back({&timeline});
    if (!timeline.state.empty()) examples.back().state = timeline.state.data();
  }
  return examples;
}

}  // namespace edict

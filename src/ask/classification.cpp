#include "ask/classification.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "model/classifier/state_classifier.h"
#include "model/classifier/summary.h"
#include "model/infer.h"
#include "protocol/filtering_timeline.h"

namespace edict {
namespace {

void check(const Model& model, const Dataset& data, const Guard& guard) {
  model.check_data(data);
  if (model.network->classes() == 0)
    throw Error("this model has no classifier; make one with `edict classify`");
  if (guard.kind == Guard::Kind::edgr && !model.network->has_distribution())
    throw Error(
        fmt::format("{} predicts no distribution that EDGR could clip to; use the guards "
                    "none or pop-mean",
                    model.config.model.kind));
}

void add_softmax(std::span<const float> logits, std::vector<double>& values) {
  const double top = static_cast<double>(*std::max_element(logits.begin(), logits.end()));
  double sum = 0;
  for (const float logit : logits) sum += std::exp(static_cast<double>(logit) - top);
  for (const float logit : logits)
    values.push_back(std::exp(static_cast<double>(logit) - top) / sum);
}

ClassProbabilities softmax(const Matrix<float>& logits) {
  ClassProbabilities result;
  result.classes = static_cast<std::size_t>(logits.rows());
  result.values.reserve(static_cast<std::size_t>(logits.size()));
  for (Index i = 0; i < logits.cols(); ++i)
    add_softmax({logits.col(i).data(), result.classes}, result.values);
  return result;
}

// The mean of what members say, each with the weight 1/members. Of what a guard clipped, the most
// that any member did.
void add_member(const ClassProbabilities& own, std::size_t members, ClassProbabilities& mean) {
  mean.classes = own.classes;
  mean.values.resize(own.values.size());
  for (std::size_t k = 0; k < own.values.size(); ++k)
    mean.values[k] += own.values[k] / static_cast<double>(members);
  mean.observations = own.observations;
  mean.clipped = std::max(mean.clipped, own.clipped);
}

// Members with a readout read summaries of their own, so that each is asked as a model of its own.
bool asked_one_by_one(const Model& model) {
  return !model.first().readout.empty() && model.members.size() > 1;
}

// From the readout and the classifier on h(T) together.
ClassProbabilities from_summaries(const Model& model, const Matrix<float>& summaries) {
  const Matrix<float> of_state = StateClassifier(model).logits(
      model.first().params.data() + model.first().params.size() - model.classifier_size(),
      states_of(model, summaries));
  const Readout::Votes votes =
      model.first().readout.votes(summary_classifier(model, model.first().readout), summaries);
  return softmax(model.first().readout.mixed(votes, of_state).cast<float>());
}

ClassProbabilities probabilities_of_block(const Model& model, const Dataset& data,
                                          std::span<const std::size_t> series, ThreadPool& pool,
                                          const Guard& guard, StopFlag stop) {
  if (!model.first().readout.empty()) {
    const Summaries summaries = summarise(model, data, series, pool, guard, stop);
    ClassProbabilities result = from_summaries(model, summaries.values);
    result.observations = summaries.observations;
    for (const std::size_t clipped : summaries.clipped) result.clipped += clipped;
    return result;
  }
  if (model.network->has_distribution()) {
    const Encoding encoding = encode(model, data, series, pool, guard, stop);
    ClassProbabilities result = class_probabilities(model, encoding.states, model.classifiers());
    result.observations = encoding.observations;
    result.clipped = encoding.clipped;
    return result;
  }
  std::vector<Timeline<float>> timelines;
  std::vector<Example> examples;
  for (const std::size_t i : series)
    timelines.push_back(encoding_timeline(model.protocol, data, i));
  for (const auto& timeline : timelines) examples.push_back({&timeline});
  std::vector<std::vector<Clipped>> clips;
  InferenceOptions options = model.inference_options(guard);
  options.stop = stop;
  ClassProbabilities result = softmax(infer_classes(model, examples, pool, options, &clips));
  for (const auto& timeline : timelines) result.observations += timeline.feature.size();
  for (const auto& own : clips) result.clipped += own.size();
  return result;
}

}  // namespace

ClassProbabilities class_probabilities(const Model& model, const Dataset& data,
                                       std::span<const std::size_t> series, ThreadPool& pool,
                                       const Guard& guard, StopFlag stop) {
  check(model, data, guard);
  if (asked_one_by_one(model)) {
    ClassProbabilities mean;
    for (std::size_t m = 0; m < model.members.size(); ++m)
      add_member(class_probabilities(model.member(m), data, series, pool, guard, stop),
                 model.members.size(), mean);
    return mean;
  }
  // Block after block, so that timelines, states and summaries take the memory of some series only.
  ClassProbabilities all;
  all.classes = static_cast<std::size_t>(model.network->classes());
  all.values.reserve(series.size() * all.classes);
  const std::size_t block = block_of_series(model);
  for (std::size_t begin = 0; begin < series.size(); begin += block) {
    const ClassProbabilities some = probabilities_of_block(
        model, data, series.subspan(begin, std::min(block, series.size() - begin)), pool, guard,
        stop);
    all.values.insert(all.values.end(), some.values.begin(), some.values.end());
    all.observations += some.observations;
    all.clipped += some.clipped;
  }
  return all;
}

ClassProbabilities class_probabilities(const Model& model, const Matrix<float>& states,
                                       const Vector<float>& classifiers) {
  const StateClassifier classifier(model);
  const auto members = static_cast<Index>(model.members.size());
  const Index hidden = states.rows() / members;
  if (members == 1) return softmax(classifier.logits(classifiers.data(), states));
  ClassProbabilities mean;
  for (Index m = 0; m < members; ++m) {
    const ClassProbabilities own = softmax(classifier.logits(
        classifiers.data() + m * classifier.size(), states.middleRows(m * hidden, hidden)));
    add_member(own, model.members.size(), mean);
  }
  return mean;
}

std::vector<ClassTrajectory> class_trajectories(const Model& model, const Dataset& data,
                                                const PredictRequest& request,
                                                std::span<const std::size_t> series,
                                                ThreadPool& pool) {
  check(model, data, request.guard);
  const bool on_clock = request.from == PredictRequest::From::clock;
  InferenceOptions options = model.inference_options(request.guard);
  options.stop = request.stop;
  std::vector<ClassTrajectory> result(series.size());
  for (std::size_t s = 0; s < series.size(); ++s) {
    result[s].series = series[s];
    result[s].times = asked_times(request, data, series[s]);
  }
  if (asked_one_by_one(model)) {
    for (std::size_t m = 0; m < model.members.size(); ++m) {
      const auto own = class_trajectories(model.member(m), data, request, series, pool);
      for (std::size_t s = 0; s < series.size(); ++s)
        add_member(own[s].probabilities, model.members.size(), result[s].probabilities);
    }
    return result;
  }
  if (!model.first().readout.empty()) {
    std::vector<std::vector<double>> times;
    for (const ClassTrajectory& own : result) {
      times.push_back(own.times);
      // Asked at a moment, a summary does not hold it yet; just after it, it does.
      if (!on_clock)
        for (double& time : times.back())
          time = std::nextafter(time, std::numeric_limits<double>::infinity());
    }
    const Summaries summaries =
        summarise(model, data, series, times, pool, request.guard, request.stop);
    Index column = 0;
    for (std::size_t s = 0; s < series.size(); ++s) {
      const auto count = static_cast<Index>(times[s].size());
      result[s].probabilities = from_summaries(model, summaries.values.middleCols(column, count));
      result[s].probabilities.clipped = summaries.clipped[s];
      column += count;
    }
    return result;
  }
  std::vector<Example> examples;
  if (!model.network->has_distribution()) {
    // Such a model reads a whole series at once: it is asked anew for each time, with what came
    // before.
    for (ClassTrajectory& own : result) {
      std::vector<Timeline<float>> timelines;
      examples.clear();
      if (on_clock) timelines.push_back(encoding_timeline(model.protocol, data, own.series));
      for (const double time : own.times)
        if (!on_clock)
          timelines.push_back(filtering_timeline(model.protocol, data, own.series, {time}));
      for (std::size_t t = 0; t < own.times.size(); ++t)
        examples.push_back(
            on_clock ? Example{timelines.data(), model.protocol.to_model_time(own.times[t])}
                     : Example{&timelines[t]});
      std::vector<std::vector<Clipped>> clips;
      own.probabilities = softmax(infer_classes(model, examples, pool, options, &clips));
      for (const auto& clipped : clips)
        own.probabilities.clipped = std::max(own.probabilities.clipped, clipped.size());
    }
    return result;
  }
  std::vector<Timeline<float>> timelines;
  for (const ClassTrajectory& own : result)
    timelines.push_back(on_clock ? query_timeline(model.protocol, data, own.series, own.times)
                                 : filtering_timeline(model.protocol, data, own.series, own.times));
  options.marginals = InferenceOptions::Marginals::none;
  options.states = true;
  const std::vector<Answer> answers = infer(model, examples_of(timelines), pool, options);
  const Vector<float> classifiers = model.classifiers();
  const Index hidden = model.network->hidden() * static_cast<Index>(model.members.size());
  for (std::size_t s = 0; s < series.size(); ++s) {
    const auto count = static_cast<Index>(result[s].times.size());
    result[s].probabilities = class_probabilities(
        model, Eigen::Map<const Matrix<float>>(answers[s].states.data(), hidden, count),
        classifiers);
    result[s].probabilities.clipped = answers[s].clips.size();
  }
  return result;
}

std::vector<ClassProbabilities> class_probabilities_over_time(
    const Model& model, const Dataset& data, std::span<const std::size_t> series,
    const std::vector<double>& times, ThreadPool& pool, const Guard& guard, StopFlag stop) {
  PredictRequest request{times, {}, guard};
  request.stop = stop;
  std::vector<ClassProbabilities> result;
  for (ClassTrajectory& own : class_trajectories(model, data, request, series, pool))
    result.push_back(std::move(own.probabilities));
  return result;
}

LabelledSeries labelled_series(const Model& model, const Dataset& data,
                               std::span<const std::size_t> series) {
  const std::vector<std::int32_t> labels = model.labels(data);
  LabelledSeries result;
  for (const std::size_t i : series) {
    if (labels[i] == Dataset::kNone) {
      ++result.unlabelled;
      continue;
    }
    result.series.push_back(i);
    result.labels.push_back(labels[i]);
  }
  if (result.series.empty())
    throw Error(fmt::format("none of the {} series has a label to evaluate the classifier on",
                            series.size()));
  return result;
}

}  // namespace edict

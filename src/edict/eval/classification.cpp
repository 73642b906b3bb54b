#include "edict/eval/classification.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "edict/core/error.h"
#include "edict/model/infer.h"
#include "edict/model/state_classifier.h"
#include "edict/protocol/asking_agendas.h"

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

}  // namespace

ClassProbabilities class_probabilities(const Model& model, const Dataset& data,
                                       std::span<const std::size_t> series, ThreadPool& pool,
                                       const Guard& guard) {
  check(model, data, guard);
  if (model.network->has_distribution()) {
    const Encoding encoding = encode(model, data, series, pool, guard);
    ClassProbabilities result =
        class_probabilities(model, encoding.states, model.params.tail(model.classifier_size()));
    result.observations = encoding.observations;
    result.clipped = encoding.clipped;
    return result;
  }
  std::vector<Agenda<float>> agendas;
  std::vector<Example> examples;
  for (const std::size_t i : series) agendas.push_back(encoding_agenda(model.protocol, data, i));
  for (const auto& agenda : agendas) examples.push_back({&agenda});
  std::vector<std::vector<Clipped>> clips;
  ClassProbabilities result =
      softmax(infer_classes(model, examples, pool, model.inference_options(guard), &clips));
  for (const auto& agenda : agendas) result.observations += agenda.feature.size();
  for (const auto& own : clips) result.clipped += own.size();
  return result;
}

ClassProbabilities class_probabilities(const Model& model, const Matrix<float>& states,
                                       const Vector<float>& classifier) {
  return softmax(StateClassifier(model).logits(classifier.data(), states));
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
  std::vector<Example> examples;
  if (!model.network->has_distribution()) {
    // Such a model reads a whole series at once: it is asked anew for each time, with what came
    // before.
    for (ClassTrajectory& own : result) {
      std::vector<Agenda<float>> agendas;
      examples.clear();
      if (on_clock) agendas.push_back(encoding_agenda(model.protocol, data, own.series));
      for (const double time : own.times)
        if (!on_clock)
          agendas.push_back(filtering_agenda(model.protocol, data, own.series, {time}));
      for (std::size_t t = 0; t < own.times.size(); ++t)
        examples.push_back(on_clock
                               ? Example{&agendas[0], model.protocol.to_model_time(own.times[t])}
                               : Example{&agendas[t]});
      std::vector<std::vector<Clipped>> clips;
      own.probabilities = softmax(infer_classes(model, examples, pool, options, &clips));
      for (const auto& clipped : clips)
        own.probabilities.clipped = std::max(own.probabilities.clipped, clipped.size());
    }
    return result;
  }
  std::vector<Agenda<float>> agendas;
  for (const ClassTrajectory& own : result)
    agendas.push_back(on_clock ? query_agenda(model.protocol, data, own.series, own.times)
                               : filtering_agenda(model.protocol, data, own.series, own.times));
  options.marginals = InferenceOptions::Marginals::none;
  options.states = true;
  const std::vector<Answer> answers = infer(model, examples_of(agendas), pool, options);
  const Vector<float> classifier = model.params.tail(model.classifier_size());
  for (std::size_t s = 0; s < series.size(); ++s) {
    const auto count = static_cast<Index>(result[s].times.size());
    result[s].probabilities = class_probabilities(
        model,
        Eigen::Map<const Matrix<float>>(answers[s].states.data(), model.network->hidden(), count),
        classifier);
    result[s].probabilities.clipped = answers[s].clips.size();
  }
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
    throw Error(
        fmt::format("none of the {} series has a label to judge the classifier by", series.size()));
  return result;
}

}  // namespace edict

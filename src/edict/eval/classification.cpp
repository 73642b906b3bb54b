#include "edict/eval/classification.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "edict/core/error.h"
#include "edict/models/ask_all.h"
#include "edict/models/state_classifier.h"

namespace edict {
namespace {

void check(const Model& model, const Dataset& data, const Guard& guard) {
  model.check_data(data);
  if (model.network->classes() == 0)
    throw Error("this model has no classifier; make one with `edict classify`");
  if (guard.kind == Guard::Kind::edgr && !model.network->has_distribution())
    throw Error(
        fmt::format("a {} model predicts no distribution that EDGR could clip to; use the guards "
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

// The population clip for a model that walks no distribution along its observations.
std::size_t clip_to_population(const Asking& asking, Agenda<float>& agenda) {
  if (asking.guard.kind != Guard::Kind::population) return 0;
  std::size_t clipped = 0;
  for (std::size_t k = 0; k < agenda.value.size(); ++k) {
    const auto j = static_cast<std::size_t>(agenda.feature[k]);
    const double raw = static_cast<double>(agenda.value[k]);
    const double used =
        asking.guard.clip(raw, {asking.population_mean[j], asking.population_deviation[j]});
    if (used == raw) continue;
    agenda.value[k] = static_cast<float>(used);
    ++clipped;
  }
  return clipped;
}

// The beginning of an encoding agenda: what comes before `end`, read there.
Agenda<float> until(const Agenda<float>& whole, double end) {
  Agenda<float> agenda;
  agenda.id = whole.id;
  agenda.start = whole.start;
  agenda.covariates = whole.covariates;
  for (const auto& stop : whole.stops) {
    if (stop.time >= end || stop.count == 0) break;
    agenda.stop(stop.time, stop.what);
    for (std::uint32_t k = stop.first; k < stop.first + stop.count; ++k)
      agenda.observe(whole.feature[k], whole.value[k]);
  }
  agenda.stop(std::max(end, agenda.start), Agenda<float>::kQuery);
  return agenda;
}

ClassProbabilities classify_agendas(const Model& model, const std::vector<Agenda<float>>& agendas,
                                    ThreadPool& pool) {
  std::vector<Example> examples;
  for (const auto& agenda : agendas) examples.push_back({&agenda});
  return softmax(classify_all(model, examples, pool));
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
  const Asking asking = model.asking(guard);
  std::vector<Agenda<float>> agendas;
  std::size_t observations = 0, clipped = 0;
  for (const std::size_t i : series) {
    agendas.push_back(encoding_agenda(model, data, i));
    observations += agendas.back().feature.size();
    clipped += clip_to_population(asking, agendas.back());
  }
  ClassProbabilities result = classify_agendas(model, agendas, pool);
  result.observations = observations;
  result.clipped = clipped;
  return result;
}

ClassProbabilities class_probabilities(const Model& model, const Matrix<float>& states,
                                       const Vector<float>& classifier) {
  return softmax(StateClassifier(model).logits(classifier.data(), states));
}

std::vector<ClassProbabilities> class_probabilities_over_time(
    const Model& model, const Dataset& data, std::span<const std::size_t> series,
    const std::vector<double>& times, ThreadPool& pool, const Guard& guard) {
  check(model, data, guard);
  const Asking common = model.asking(guard);
  std::vector<ClassProbabilities> result(series.size());
  if (!model.network->has_distribution()) {
    for (std::size_t s = 0; s < series.size(); ++s) {
      Agenda<float> whole = encoding_agenda(model, data, series[s]);
      const std::size_t clipped = clip_to_population(common, whole);
      std::vector<Agenda<float>> agendas;
      for (const double time : times) agendas.push_back(until(whole, model.to_model_time(time)));
      result[s] = classify_agendas(model, agendas, pool);
      result[s].observations = whole.feature.size();
      result[s].clipped = clipped;
    }
    return result;
  }
  std::vector<Agenda<float>> agendas;
  std::vector<Example> examples;
  for (const std::size_t i : series) agendas.push_back(query_agenda(model, data, i, times));
  for (const auto& agenda : agendas) examples.push_back({&agenda});
  const Index hidden = model.network->hidden();
  // A series' queries come in the order of its times.
  std::vector<std::vector<float>> states(series.size());
  ask_all(model, examples, pool, [&](std::size_t first) {
    Asking asking = common;
    asking.on_query = [&, first](std::size_t slot, std::size_t, std::span<const Marginal>,
                                 std::span<const float> h) {
      states[first + slot].insert(states[first + slot].end(), h.begin(), h.end());
    };
    asking.on_clip = [&, first](std::size_t slot, auto&&...) { ++result[first + slot].clipped; };
    return asking;
  });
  const Vector<float> classifier = model.params.tail(model.classifier_size());
  for (std::size_t s = 0; s < series.size(); ++s) {
    const std::size_t clipped = result[s].clipped;
    result[s] = class_probabilities(
        model,
        Eigen::Map<const Matrix<float>>(states[s].data(), hidden, static_cast<Index>(times.size())),
        classifier);
    result[s].observations = agendas[s].feature.size();
    result[s].clipped = clipped;
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

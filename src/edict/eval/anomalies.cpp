#include "edict/eval/anomalies.h"

#include <algorithm>
#include <cmath>

#include "edict/model/infer.h"
#include "edict/protocol/asking_agendas.h"

namespace edict {
namespace {

bool less_expected(const MostSurprising::Entry& a, const MostSurprising::Entry& b) {
  if (a.tail_probability != b.tail_probability) return a.tail_probability < b.tail_probability;
  const double off_a = std::abs(a.surprise.z()), off_b = std::abs(b.surprise.z());
  if (off_a != off_b) return off_a > off_b;
  if (a.surprise.event != b.surprise.event) return a.surprise.event < b.surprise.event;
  return a.surprise.feature < b.surprise.feature;
}

}  // namespace

double Anomaly::z() const { return (observed - expected.mean) / predictive_deviation(expected); }

std::vector<SeriesAnomalies> anomalies(const Model& model, const Dataset& data,
                                       std::span<const std::size_t> series, ThreadPool& pool,
                                       const Guard& guard, StopFlag stop) {
  std::vector<Agenda<float>> agendas;
  for (const std::size_t i : series) agendas.push_back(expectation_agenda(model.protocol, data, i));
  InferenceOptions options = model.inference_options(guard);
  options.marginals = InferenceOptions::Marginals::observed;
  options.stop = stop;
  const std::vector<Answer> answers = infer(model, examples_of(agendas), pool, options);
  std::vector<SeriesAnomalies> result(series.size());
  for (std::size_t i = 0; i < series.size(); ++i) {
    result[i].series = series[i];
    const std::size_t first_event = data.first_event[series[i]];
    // Every stop is an event; observations keep their order, and so do the raw values.
    std::size_t raw = data.first_observation[first_event];
    each_observation(
        agendas[i], answers[i],
        [&](std::size_t stop_index, std::int32_t feature, const Marginal& expected, double) {
          const auto j = static_cast<std::size_t>(feature);
          result[i].observations.push_back({first_event + stop_index, j, data.value[raw++],
                                            to_raw(model.protocol.standardisation, j, expected)});
        });
    result[i].clips = clips_of(model, data, series[i], agendas[i], answers[i].clips);
  }
  return result;
}

void MostSurprising::add(std::size_t series, const Anomaly& surprise) {
  if (count_ == 0) return;
  entries_.push_back({series, surprise, surprise.tail_probability()});
  if (entries_.size() >= 2 * count_ + 1024) shrink(count_);
}

void MostSurprising::add(const MostSurprising& other) {
  entries_.insert(entries_.end(), other.entries_.begin(), other.entries_.end());
  shrink(count_);
}

void MostSurprising::shrink(std::size_t to) {
  if (entries_.size() <= to) return;
  std::nth_element(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(to),
                   entries_.end(), less_expected);
  entries_.resize(to);
}

std::vector<MostSurprising::Entry> MostSurprising::sorted() const {
  std::vector<Entry> result = entries_;
  std::sort(result.begin(), result.end(), less_expected);
  if (result.size() > count_) result.resize(count_);
  return result;
}

}  // namespace edict

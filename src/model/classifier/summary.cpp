#include "model/classifier/summary.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "model/infer.h"

namespace edict {
namespace {

constexpr float kNothing = std::numeric_limits<float>::quiet_NaN();
constexpr Index kPerFeature = 9;
constexpr int kPooled = 8;        // moments over which h is averaged
constexpr double kRecent = 0.25;  // of the time so far

struct Feature {
  std::vector<double> time, value;
  double sum = 0, squares = 0;
  float lowest = kNothing, highest = kNothing;

  void add(double t, double x) {
    lowest = value.empty() ? static_cast<float>(x) : std::min(lowest, static_cast<float>(x));
    highest = value.empty() ? static_cast<float>(x) : std::max(highest, static_cast<float>(x));
    time.push_back(t);
    value.push_back(x);
    sum += x;
    squares += x * x;
  }

  void write(double start, double now, float* to) const {
    const auto n = static_cast<double>(value.size());
    std::fill_n(to, kPerFeature, kNothing);
    to[kPerFeature - 1] = static_cast<float>(n);
    if (value.empty()) return;
    const double mean = sum / n;
    double recent = 0, recent_count = 0;
    for (std::size_t k = value.size(); k-- > 0 && time[k] >= now - kRecent * (now - start);) {
      recent += value[k];
      ++recent_count;
    }
    to[0] = static_cast<float>(value.front());
    to[1] = static_cast<float>(value.back());
    to[2] = static_cast<float>(mean);
    to[3] = static_cast<float>(std::sqrt(std::max(0.0, squares / n - mean * mean)));
    to[4] = lowest;
    to[5] = highest;
    if (recent_count > 0) to[6] = static_cast<float>(recent / recent_count);
    to[7] = static_cast<float>(now - time.back());
  }
};

// What is asked of one series: at `times`, and at moments spread over the time before the horizon.
struct Questions {
  Timeline<float> timeline;
  std::vector<bool> wanted;  // one a query; the others only add to the average of h
};

Questions questions(const Protocol& protocol, const Dataset& data, std::size_t series,
                    std::vector<double> times) {
  const double begin = protocol.start_of(data, series);
  const double end = std::max(begin, protocol.horizon_of(data, series));
  std::vector<std::pair<double, bool>> all;
  for (const double t : times) all.emplace_back(t, true);
  for (int k = 1; k < kPooled; ++k) all.emplace_back(begin + (end - begin) * k / kPooled, false);
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  Questions result;
  times.clear();
  for (const auto& [t, wanted] : all) {
    times.push_back(t);
    result.wanted.push_back(wanted);
  }
  result.timeline = query_timeline(protocol, data, series, times);
  return result;
}

// One column a wanted query.
void write_columns(const Questions& asked, const Answer& answer, std::span<const double> covariates,
                   Index features, Index hidden, Matrix<float>& values, Index column) {
  std::vector<Feature> seen(static_cast<std::size_t>(features));
  Vector<double> pooled = Vector<double>::Zero(hidden);
  double events = 0, states = 0;
  std::size_t query = 0, clip = 0;
  for (std::size_t s = 0; s < asked.timeline.stops.size(); ++s) {
    const auto& stop = asked.timeline.stops[s];
    if (stop.what & Timeline<float>::kQuery) {
      const Eigen::Map<const Vector<float>> h(
          answer.states.data() + static_cast<Index>(query) * hidden, hidden);
      if (asked.wanted[query]) {
        float* to = values.col(column++).data();
        for (const Feature& feature : seen) {
          feature.write(asked.timeline.start, stop.time, to);
          to += kPerFeature;
        }
        *to++ = static_cast<float>(events);
        for (const double x : covariates) *to++ = static_cast<float>(x);
        for (Index i = 0; i < hidden; ++i) *to++ = h[i];
        for (Index i = 0; i < hidden; ++i)
          *to++ = static_cast<float>((pooled[i] + static_cast<double>(h[i])) / (states + 1));
      } else {
        pooled += h.cast<double>();
        ++states;
      }
      ++query;
      continue;
    }
    ++events;
    for (std::uint32_t k = stop.first; k < stop.first + stop.count; ++k) {
      double used = asked.timeline.value[k];
      if (clip < answer.clips.size() && answer.clips[clip].stop == s &&
          answer.clips[clip].feature == asked.timeline.feature[k])
        used = answer.clips[clip++].used;
      seen[static_cast<std::size_t>(asked.timeline.feature[k])].add(stop.time, used);
    }
  }
}

}  // namespace

Index summary_size(const Model& model) {
  return kPerFeature * static_cast<Index>(model.features.size()) + 1 +
         static_cast<Index>(model.statics.size()) + state_rows(model);
}

Index state_rows(const Model& model) { return 2 * model.network->hidden(); }

Matrix<float> states_of(const Model& model, const Matrix<float>& summaries) {
  const Index hidden = model.network->hidden();
  return summaries.middleRows(summaries.rows() - state_rows(model), hidden);
}

SummaryClassifier summary_classifier(const Model& model, const Readout& readout) {
  return {readout.inputs(), model.config.classify.readout.width,
          static_cast<Index>(model.classes.size())};
}

Summaries summarise(const Model& model, const Dataset& data, std::span<const std::size_t> series,
                    ThreadPool& pool, const Guard& guard, StopFlag stop) {
  std::vector<std::vector<double>> times;
  for (const std::size_t i : series) {
    double end = model.protocol.horizon_of(data, i);
    if (data.events(i) > 0) {
      // A query at an observation's time tells what was expected before it, and T comes after the
      // last.
      const double last = data.times[data.first_event[i + 1] - 1];
      end = std::max(end, std::nextafter(last, std::numeric_limits<double>::infinity()));
    }
    times.push_back({end});
  }
  return summarise(model, data, series, times, pool, guard, stop);
}

Summaries summarise(const Model& model, const Dataset& data, std::span<const std::size_t> series,
                    const std::vector<std::vector<double>>& times, ThreadPool& pool,
                    const Guard& guard, StopFlag stop) {
  model.check_data(data);
  std::vector<Questions> asked(series.size());
  pool.for_each(series.size(), [&](std::size_t i, std::size_t) {
    asked[i] = questions(model.protocol, data, series[i], times[i]);
  });
  std::vector<Example> examples;
  for (const Questions& own : asked) examples.push_back({&own.timeline});
  InferenceOptions options = model.inference_options(guard);
  options.marginals = InferenceOptions::Marginals::none;
  options.states = true;
  options.stop = stop;
  const std::vector<Answer> answers = infer(model, examples, pool, options);
  Summaries result;
  std::vector<Index> column;
  Index columns = 0;
  for (const auto& own : times) {
    column.push_back(columns);
    columns += static_cast<Index>(own.size());
  }
  result.values.resize(summary_size(model), columns);
  const auto features = static_cast<Index>(model.features.size());
  pool.for_each(series.size(), [&](std::size_t i, std::size_t) {
    write_columns(asked[i], answers[i], data.covariates(series[i]), features,
                  model.network->hidden(), result.values, column[i]);
  });
  for (std::size_t i = 0; i < series.size(); ++i) {
    result.observations += asked[i].timeline.feature.size();
    result.clipped.push_back(answers[i].clips.size());
  }
  return result;
}

}  // namespace edict

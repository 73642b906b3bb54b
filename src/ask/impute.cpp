#include "ask/impute.h"

#include <algorithm>
#include <iterator>

#include "ask/distribution.h"
#include "base/error.h"
#include "protocol/filtering_timeline.h"

namespace edict {
namespace {

std::vector<double> times_of(const ImputeRequest& request, const Dataset& data,
                             std::size_t series) {
  if (request.own_times) return request.own_times(series);
  if (!request.grid.empty()) return request.grid;
  const Dataset& table = request.table ? *request.table : data;
  return {table.times.begin() + static_cast<std::ptrdiff_t>(table.first_event[series]),
          table.times.begin() + static_cast<std::ptrdiff_t>(table.first_event[series + 1])};
}

// Both lists of times ascend.
void put_observed(const Dataset& data, ImputedSeries& result) {
  std::size_t e = data.first_event[result.series];
  for (std::size_t t = 0; t < result.times.size(); ++t) {
    while (e < data.first_event[result.series + 1] && data.times[e] < result.times[t]) ++e;
    if (e == data.first_event[result.series + 1]) return;
    if (data.times[e] != result.times[t]) continue;
    for (const Observation& o : data.observed(e)) {
      const std::size_t cell = result.cell(t, static_cast<std::size_t>(o.feature));
      result.value[cell] = o.value;
      result.deviation[cell] = 0;
      result.observed[cell] = 1;
    }
  }
}

}  // namespace

std::vector<ImputedSeries> impute(const Model& model, const Dataset& data,
                                  const ImputeRequest& request, std::span<const std::size_t> series,
                                  ThreadPool& pool) {
  if (request.table && request.table->ids != data.ids)
    throw Error("the table to fill does not hold the series of the data, in their order");
  const std::size_t features = model.features.size();
  InferenceOptions options = model.inference_options(request.guard);
  options.stop = request.stop;
  std::vector<ImputedSeries> result(series.size());
  std::vector<Timeline<float>> timelines;
  std::vector<Timeline<float>> at_start;  // of the series with times before their clock starts
  std::vector<std::size_t> early(series.size(), 0), start_of(series.size(), 0);
  for (std::size_t i = 0; i < series.size(); ++i) {
    result[i].series = series[i];
    result[i].features = features;
    result[i].times = times_of(request, data, series[i]);
    std::vector<double> times = result[i].times;
    if (request.own_times) {
      const double start = model.protocol.start_of(data, series[i]);
      const auto first = std::lower_bound(times.begin(), times.end(), start);
      early[i] = static_cast<std::size_t>(first - times.begin());
      times.erase(times.begin(), first);
      start_of[i] = at_start.size();
      if (early[i] > 0)
        at_start.push_back(query_timeline(model.protocol, data, series[i], {start}));
    }
    // From both sides the other one has seen the rest of the moment, as where the sides were
    // fitted.
    const auto timeline = request.sides == Sides::both ? query_timeline : filtering_timeline;
    timelines.push_back(timeline(model.protocol, data, series[i], times));
  }
  timelines.insert(timelines.end(), std::make_move_iterator(at_start.begin()),
                   std::make_move_iterator(at_start.end()));
  const std::vector<Answer> answers = infer_from(request.sides, model, timelines, pool, options);
  pool.for_each(series.size(), [&](std::size_t i, std::size_t) {
    ImputedSeries& own = result[i];
    const auto add = [&](const Answer& answer) {
      for (std::size_t k = 0; k < answer.marginals.size(); ++k) {
        const Marginal m =
            to_raw(model.protocol.standardisation, k % features, answer.marginals[k]);
        own.value.push_back(m.mean);
        own.deviation.push_back(predictive_deviation(m));
      }
    };
    for (std::size_t t = 0; t < early[i]; ++t) add(answers[series.size() + start_of[i]]);
    add(answers[i]);
    own.observed.assign(own.value.size(), 0);
    put_observed(data, own);
  });
  return result;
}

}  // namespace edict

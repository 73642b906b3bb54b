#include "app/predict/predict.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "app/evaluated_series.h"
#include "app/predict/prediction_interval.h"
#include "ask/adaptive_level.h"
#include "ask/anomalies.h"
#include "ask/classification.h"
#include "ask/trajectory.h"
#include "base/error.h"

namespace edict::app {
namespace {

using When = PredictRequest::When;

Error refused(std::string subject, std::string problem, std::string remedy) {
  return {ErrorCode::unsupported, {std::move(subject), "", std::move(problem), std::move(remedy)}};
}

void check_classes(const PredictRequest& request) {
  if (request.when == When::events)
    throw refused("", option("at", "events") + " is for features",
                  "for classes give times, or " + option("ahead"));
  if (!request.quantiles.empty() || !request.limits.empty() || !request.features.empty() ||
      request.clips)
    throw refused(
        "",
        fmt::format("{}, {}, {}, {} and {} are for features, not for classes", option("quantiles"),
                    option("above"), option("below"), option("features"), option("clips")),
        "leave them out");
  if (request.conformal)
    throw refused("", option("conformal") + " is for intervals of features, not for classes",
                  "leave it out");
}

// What only makes sense at events.
void check_events(const PredictRequest& request) {
  const bool events = request.when == When::events;
  if (request.top > 0 && !events)
    throw refused("", option("top") + " lists the least expected observations",
                  "give " + option("at", "events") + " with it");
  if (request.adapt > 0 && (!events || request.top > 0))
    throw refused("", option("adapt") + " follows the observations of each series in order",
                  "give it with " + option("at", "events") + " and without " + option("top"));
  if (request.together && !events)
    throw refused("", option("together") + " compares the observations of one time with each other",
                  "give it with " + option("at", "events"));
}

void check_together(const PredictRequest& request, const Model& model) {
  if (request.conformal)
    throw refused("",
                  option("conformal") + " intervals are those of each feature by itself, not " +
                      option("together"),
                  "leave one of them out");
  if (model.calibration.correlations.empty())
    throw refused(
        option("together"), request.model_name + " has no correlations between features",
        fmt::format("`edict calibrate {} DATA {}` finds them where enough series have several "
                    "features at the same time",
                    request.model_name, option("out", "FILE")));
}

void check_conformal(const PredictRequest& request, const Model& model) {
  const Calibration& calibration = model.calibration;
  if (calibration.empty())
    throw refused(option("conformal"), request.model_name + " is not calibrated",
                  fmt::format("calibrate it with `edict calibrate {} DATA {}`", request.model_name,
                              option("out", "FILE")));
  if (calibration.conformal_series == 0)
    throw refused(
        option("conformal"),
        fmt::format("{} was calibrated on {} {}, too few for conformal intervals",
                    request.model_name, calibration.fit_series,
                    calibrating(model, calibration.fit_series)),
        fmt::format("calibrate on more with `edict calibrate {} DATA {} {}`", request.model_name,
                    option("out", "FILE"), option("split", "unseen")));
  if (request.guard.kind != Guard::Kind::none)
    throw refused(option("conformal"),
                  "intervals are calibrated without a guard and do not hold with one",
                  "leave " + option("guard") + " or " + option("conformal") + " out");
}

// One run: the request, and what its parts share.
class PredictRun {
 public:
  PredictRun(const Model& model, const Dataset& data, const PredictRequest& request,
             ThreadPool& pool)
      : model_(model),
        data_(data),
        request_(request),
        pool_(pool),
        asked_{.times = request.times,
               .guard = request.guard,
               .own_times = request.own_times,
               .from = request.when == When::ahead ? edict::PredictRequest::From::last_observation
                                                   : edict::PredictRequest::From::clock},
        features_(request.features),
        wanted_(model.features.size(), false) {
    if (features_.empty()) {
      features_.resize(model.features.size());
      std::iota(features_.begin(), features_.end(), std::size_t{0});
    }
    for (const std::size_t j : features_) wanted_[j] = true;
  }

  // What a thread made of some series.
  struct Part {
    std::unique_ptr<PredictedRows> rows;
    std::size_t clipped = 0, without_times = 0, series = 0;
    std::optional<LeastExpected> top = {};
  };

  std::size_t numbers_a_series() const {
    if (request_.when == When::events)
      return data_.observations() / std::max<std::size_t>(1, data_.size());
    return request_.times.size() * (request_.classes ? 1 : model_.features.size());
  }

  // Runs on any thread.
  Part part(std::span<const std::size_t> series, std::unique_ptr<PredictedRows> rows) const {
    Part made{.rows = std::move(rows), .series = series.size()};
    if (request_.when == When::horizon)
      classes_at_horizon(series, made);
    else if (request_.classes)
      classes_at_times(series, made);
    else if (request_.when == When::events)
      events(series, made);
    else
      features_at_times(series, made);
    return made;
  }

  // The least expected of all.
  void add_sorted(const LeastExpected& top, PredictedRows& rows) const {
    PredictionInterval interval(request_, model_);
    for (const LeastExpected::Entry& entry : top.sorted())
      add_event(entry.series, entry.judged, {}, interval, rows);
  }

 private:
  void classes_at_horizon(std::span<const std::size_t> series, Part& made) const {
    const ClassProbabilities p = class_probabilities(model_, data_, series, pool_, request_.guard);
    made.clipped = p.clipped;
    for (std::size_t s = 0; s < series.size(); ++s)
      made.rows->add(PredictedClasses{.series = series[s],
                                      .time = model_.protocol.class_time(data_, series[s]),
                                      .probabilities = p.row(s)});
  }

  void classes_at_times(std::span<const std::size_t> series, Part& made) const {
    for (const ClassTrajectory& own : class_trajectories(model_, data_, asked_, series, pool_)) {
      made.clipped += own.probabilities.clipped;
      made.without_times += own.times.empty();
      for (std::size_t t = 0; t < own.times.size(); ++t)
        made.rows->add(PredictedClasses{own.series, own.times[t], request_.times[t],
                                        own.probabilities.row(t)});
    }
  }

  void features_at_times(std::span<const std::size_t> series, Part& made) const {
    const bool ahead = request_.when == When::ahead;
    PredictionInterval interval(request_, model_);
    for (const Trajectory& own : trajectories(model_, data_, asked_, series, pool_)) {
      made.without_times += own.times.empty();
      for (std::size_t t = 0; t < own.times.size(); ++t) {
        const double since = time_since_event(own.series, own.times[t], ahead);
        for (const std::size_t j : features_) {
          PredictedFeature row{.series = own.series,
                               .feature = j,
                               .time = own.times[t],
                               .ahead = ahead ? request_.times[t] : kNaN,
                               .level = interval.level_at(j, since)};
          interval.fill(own.at(t, j), row);
          made.rows->add(row);
        }
      }
      add_clips(own.series, own.clips, made);
    }
  }

  void events(std::span<const std::size_t> series, Part& made) const {
    if (request_.top > 0) made.top.emplace(request_.top);
    PredictionInterval interval(request_, model_);
    for (const Expectations& own :
         expectations(model_, data_, series, {.guard = request_.guard}, pool_)) {
      std::vector<AdaptiveLevel> levels;
      for (std::size_t j = 0; j < model_.features.size() && request_.adapt > 0; ++j)
        levels.emplace_back(request_.level, interval.level_at(j, 0.0), request_.adapt);
      for (const JudgedEvent& judged : request_.together
                                           ? judged_together(model_.calibration.correlations, own)
                                           : judged_alone(own)) {
        if (!wanted_[judged.feature]) continue;
        if (made.top)
          made.top->add(own.series, judged);
        else
          add_event(own.series, judged, levels, interval, *made.rows);
      }
      add_clips(own.series, own.clips, made);
    }
  }

  // `levels`: of each feature, as the series' earlier observations left it; or empty.
  void add_event(std::size_t series, const JudgedEvent& judged, std::span<AdaptiveLevel> levels,
                 PredictionInterval& interval, PredictedRows& rows) const {
    const double time = data_.times[judged.event];
    PredictedFeature row{.series = series, .feature = judged.feature, .time = time};
    row.level = interval.level_at(judged.feature, time_since_event(series, time, false));
    if (!levels.empty()) {
      AdaptiveLevel& own = levels[judged.feature];
      row.level = own.level();
      own.observe(judged.central_level());
    }
    if (judged.given)
      interval.fill(*judged.given, row);
    else
      interval.fill(judged.expected, row);
    const Surprise surprise = judged.surprise();
    row.observed = judged.observed;
    row.z = surprise.z;
    row.probability_integral = judged.probability_integral();
    row.tail_probability = judged.tail_probability();
    row.log_score = surprise.log_score;
    rows.add(row);
  }

  void add_clips(std::size_t series, const std::vector<Clip>& clips, Part& made) const {
    if (request_.clips) made.rows->add(series, clips);
    made.clipped += clips.size();
  }

  // In the model's time: since the last event before a time, or at it; since the clock's start
  // where there is none.
  double time_since_event(std::size_t series, double time, bool at_it) const {
    const double* const first = data_.times.data() + data_.first_event[series];
    const double* const end = data_.times.data() + data_.first_event[series + 1];
    const double* const after =
        at_it ? std::upper_bound(first, end, time) : std::lower_bound(first, end, time);
    const double since = after == first ? model_.protocol.start_of(data_, series) : after[-1];
    return std::max(0.0, time - since) / model_.protocol.time_unit;
  }

  const Model& model_;
  const Dataset& data_;
  const PredictRequest& request_;
  ThreadPool& pool_;
  const edict::PredictRequest asked_;
  std::vector<std::size_t> features_;
  std::vector<bool> wanted_;  // features
};

// Further ahead than the calibration saw, nothing is known of how the intervals hold.
void note_extrapolation(const Model& model, const PredictRequest& request, PredictResult& result) {
  if (request.when != When::ahead || request.classes || model.calibration.empty()) return;
  double farthest = 0;
  for (const FeatureCalibration& own : model.calibration.features)
    farthest = std::max(farthest, own.farthest * model.protocol.time_unit);
  const double latest = std::ranges::max(request.times);
  if (latest > farthest * (1 + 1e-9))
    result.notes.push_back(
        fmt::format("forecasts were evaluated up to {:.3g} ahead and are requested up to {:.3g}; "
                    "how often intervals hold there is not known",
                    farthest, latest));
}

}  // namespace

void check(const PredictRequest& request, const Model& model) {
  if (request.when == When::ahead && !request.times.empty() && request.times.front() < 0)
    throw Error(ErrorCode::invalid, {.subject = option("ahead"),
                                     .problem = fmt::format("{} lies before the last observation",
                                                            request.times.front()),
                                     .remedy = "give times from 0 on, or use " + option("at")});
  if (request.classes)
    check_classes(request);
  else if (request.when == When::horizon)
    throw refused("", option("at", "horizon") + " is for " + option("classes"),
                  "give times, as START:STEP:END");
  check_events(request);
  if (request.together) check_together(request, model);
  if (request.conformal) check_conformal(request, model);
}

PredictResult predict(const Model& model, const Dataset& data, const PredictRequest& request,
                      ThreadPool& pool, const PredictSink& sink) {
  check(request, model);
  const std::vector<std::size_t> series =
      request.series ? *request.series : listed_or_all(data, {});
  const PredictRun run(model, data, request, pool);
  PredictResult result{.series = series.size()};
  LeastExpected top(request.top);
  std::size_t done = 0;
  for_each_part(
      series, series_at_once(model, run.numbers_a_series()), pool,
      [&](std::span<const std::size_t> some) { return run.part(some, sink.begin()); },
      [&](const PredictRun::Part& made) {
        if (made.top) top.add(*made.top);
        result.clipped += made.clipped;
        result.without_times += made.without_times;
        done += made.series;
        sink.take(*made.rows, static_cast<double>(done) / static_cast<double>(series.size()));
      });
  if (request.top > 0) {
    const std::unique_ptr<PredictedRows> rows = sink.begin();
    run.add_sorted(top, *rows);
    sink.take(*rows, 1.0);
  }
  for (const std::size_t i : series)
    result.observations += data.first_observation[data.first_event[i + 1]] -
                           data.first_observation[data.first_event[i]];
  note_extrapolation(model, request, result);
  return result;
}

}  // namespace edict::app

#include "front/server/live/questions.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "ask/distribution.h"
#include "base/error.h"
#include "base/json/json.h"
#include "base/json/json_text.h"
#include "base/not_finite.h"

namespace edict::server {
namespace {

using nlohmann::json;

constexpr std::size_t kMostPast = 20000;  // values that one chart may show

json number(double value) { return std::isfinite(value) ? json(value) : json(); }

std::string no_observation(const LiveStream& stream) {
  return stream.fault.empty()
             ? fmt::format("stream '{}' has no observation yet; send one first", stream.name)
             : stream.fault;
}

// Distributions of one stream at ascending raw times, those before its newest event as they were
// expected then.
class Expected {
 public:
  Expected(Live::Access access, const LiveStream& stream) : access_(access), stream_(stream) {}

  // `visit` sees each event on the way from the first of the times, with what was expected of it.
  using Visit = std::function<void(double time, std::span<const Observation>,
                                   std::span<const KeptValue>, std::span<const Marginal>)>;
  std::vector<std::vector<Marginal>> at(const std::vector<double>& times, const Visit& visit) {
    const StreamClock& clock = access_.live.clock();
    std::vector<std::vector<Marginal>> answers(times.size());
    std::size_t next = 0;
    const auto ask = [&](const StreamPast& from, double until) {
      questions_.clear();
      const std::size_t begins = next;
      for (; next < times.size() && times[next] <= until; ++next)
        questions_.push_back(
            access_.live.question(from, clock.model_time(times[next], from.first)));
      if (questions_.empty()) return;
      const std::span<const Marginal> all = access_.engine.distribution(questions_);
      const std::size_t features = all.size() / questions_.size();
      for (std::size_t i = begins; i < next; ++i) {
        const auto own = all.subspan((i - begins) * features, features);
        answers[i].assign(own.begin(), own.end());
      }
    };
    if (!times.empty() && times.front() <= stream_.time) {
      StreamPast past;
      past.id = stream_.id;
      past.name = stream_.name;
      past.about = stream_.about;
      past.removed_first = stream_.removed_first;
      access_.live.restore(access_, past, times.front());
      const auto seen = [&](double time, std::span<const Observation> observed,
                            std::span<const KeptValue> values) {
        ask(past, time);
        if (!visit || time < times.front()) return;
        const StreamEngine::Question question{&past.state, clock.model_time(time, past.first)};
        visit(time, observed, values, access_.engine.distribution({&question, 1}));
      };
      // No further than is asked, but to an event, with which the state begins.
      access_.live.replay(access_, past,
                          std::min(stream_.time, std::max(times.back(), stream_.first)), seen);
      if (past.events == 0) access_.live.replay(access_, past, stream_.time, seen);
      if (times.back() < stream_.time && past.events > 0) ask(past, kInfinity);
    }
    ask(stream_, kInfinity);
    return answers;
  }

 private:
  Live::Access access_;
  const LiveStream& stream_;
  std::vector<StreamEngine::Question> questions_;
};

}  // namespace

std::vector<Moment> moments_of(Live::Access access, const LiveStream& stream,
                               const AskedDistribution& asked) {
  if (stream.events == 0) throw Error(no_observation(stream));
  const StreamClock& clock = access.live.clock();
  std::vector<Moment> moments;
  for (const double at : asked.at) {
    const double raw = clock.raw_of_shown(at);
    moments.push_back({raw, (raw - stream.time) / clock.raw_duration(1), {}});
  }
  for (const double ahead : asked.ahead)
    moments.push_back({stream.time + clock.raw_duration(ahead), ahead, {}});
  std::stable_sort(moments.begin(), moments.end(),
                   [](const Moment& a, const Moment& b) { return a.raw < b.raw; });
  // Of the past what was expected then; from the newest observation on what is expected now.
  std::vector<double> past;
  for (const Moment& moment : moments)
    if (moment.raw < stream.time) past.push_back(moment.raw);
  if (!past.empty()) {
    auto expected = Expected(access, stream).at(past, {});
    for (std::size_t i = 0; i < past.size(); ++i) moments[i].marginals = std::move(expected[i]);
  }
  std::vector<StreamEngine::Question> questions;
  for (std::size_t i = past.size(); i < moments.size(); ++i)
    questions.push_back(
        access.live.question(stream, clock.model_time(moments[i].raw, stream.first)));
  if (questions.empty()) return moments;
  const std::span<const Marginal> all = access.engine.distribution(questions);
  const std::size_t features = all.size() / questions.size();
  for (std::size_t i = 0; i < questions.size(); ++i) {
    const auto own = all.subspan(i * features, features);
    moments[past.size() + i].marginals.assign(own.begin(), own.end());
  }
  return moments;
}

json distribution(Live::Access access, const LiveStream& stream, const AskedDistribution& asked) {
  const StreamClock& clock = access.live.clock();
  const Model& model = access.live.model();
  const std::vector<Moment> moments = moments_of(access, stream, asked);
  json at = json::array();
  for (const Moment& moment : moments) {
    json features = json::object();
    for (const std::size_t j : asked.features) {
      const Marginal& m = moment.marginals[j];
      const double half = half_width(m, asked.level);
      json one{{"mean", number(m.mean)},
               {"aleatoric", number(aleatoric_deviation(m))},
               {"epistemic", number(epistemic_deviation(m))},
               {"predictive", number(predictive_deviation(m))},
               {"scale", number(m.scale)},
               {"dof", number(m.dof)},
               {"lower", number(m.mean - half)},
               {"upper", number(m.mean + half)}};
      if (!asked.quantiles.empty()) one["quantiles"] = json::object();
      for (std::size_t q = 0; q < asked.quantiles.size(); ++q)
        one["quantiles"][asked.quantile_texts[q]] =
            number(m.mean + m.scale * standard_quantile(asked.quantiles[q], m.dof));
      for (const Limit& limit : asked.limits)
        if (limit.feature == j)
          one.emplace(limit.above ? "above" : "below", json::object()).first.value()[limit.text] =
              number(limit.probability(m));
      features[model.features[j]] = std::move(one);
    }
    at.push_back({{"time", clock.shown(moment.raw)},
                  {"ahead", moment.ahead},
                  {"features", std::move(features)}});
  }
  json answer{{"stream", stream.name},
              {"level", asked.level},
              {"since", clock.shown(stream.time)},
              {"at", std::move(at)}};
  if (asked.within) {
    std::vector<StreamEngine::Question> ahead;
    for (int k = 1; k <= kCrossingPoints; ++k)
      ahead.push_back(access.live.question(
          stream, stream.state.time() + *asked.within * static_cast<double>(k) / kCrossingPoints));
    const std::span<const Marginal> all = access.engine.distribution(ahead);
    json crossings = json::array();
    for (const Limit& limit : asked.limits) {
      double most = -1, when = 0;
      for (std::size_t k = 0; k < ahead.size(); ++k) {
        const Marginal& m = all[k * model.features.size() + limit.feature];
        const double p = limit.probability(m);
        if (p <= most) continue;
        most = p;
        when = ahead[k].time;
      }
      crossings.push_back({{"feature", model.features[limit.feature]},
                           {limit.above ? "above" : "below", limit.value},
                           {"within", *asked.within},
                           {"probability", most},
                           {"time", clock.shown(clock.raw_of_model_time(when, stream.first))}});
    }
    answer["crossing"] = std::move(crossings);
  }
  return answer;
}

json trajectory(Live::Access access, const LiveStream& stream, const AskedTrajectory& asked) {
  if (stream.events == 0) throw Error(no_observation(stream));
  const StreamClock& clock = access.live.clock();
  const Model& model = access.live.model();
  const double horizon =
      clock.raw_duration(model.protocol.horizon > 0 ? model.protocol.horizon : 1);
  const double from = asked.from ? clock.raw_of_shown(*asked.from)
                                 : std::max(stream.first, stream.time - horizon / 4);
  const double to = asked.to ? clock.raw_of_shown(*asked.to) : stream.time + horizon / 8;
  if (!(from <= to)) throw Error("from lies after to");
  // The grid, and every event within it.
  std::vector<double> times;
  for (const KeptValue& value :
       access.store.values(stream.id, std::nextafter(from, -kInfinity), to, kMostPast))
    if (times.empty() || times.back() != value.time) times.push_back(value.time);
  for (std::size_t k = 0; k < asked.points; ++k)
    times.push_back(from + (to - from) * static_cast<double>(k) /
                               static_cast<double>(std::max<std::size_t>(1, asked.points - 1)));
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());
  times.erase(times.begin(), std::lower_bound(times.begin(), times.end(), stream.first));

  const Guard& guard = access.live.settings().guard;
  const Population population{model.protocol.population.mean, model.protocol.population.scale};
  json observations = json::object();
  for (const std::size_t j : asked.features) observations[model.features[j]] = json::array();
  const auto expected =
      Expected(access, stream)
          .at(times, [&](double time, std::span<const Observation> observed,
                         std::span<const KeptValue> values, std::span<const Marginal> before) {
            if (time > to) return;
            for (const Observation& o : observed) {
              const auto j = static_cast<std::size_t>(o.feature);
              if (std::find(asked.features.begin(), asked.features.end(), j) ==
                  asked.features.end())
                continue;
              const Marginal& m = before[j];
              std::vector<Clipped> clips;
              const double used = guarded(
                  guard, population, o.feature, o.value, [&] { return m; }, 0, &clips);
              bool corrected = false;
              for (const KeptValue& value : values)
                corrected |=
                    value.corrected && access.live.model_feature(value.feature) == o.feature;
              const double half = half_width(m, asked.level);
              observations[model.features[j]].push_back({{"time", clock.shown(time)},
                                                         {"value", o.value},
                                                         {"used", used},
                                                         {"clipped", !clips.empty()},
                                                         {"corrected", corrected},
                                                         {"expected",
                                                          {{"mean", number(m.mean)},
                                                           {"lower", number(m.mean - half)},
                                                           {"upper", number(m.mean + half)}}}});
            }
          });
  json answer{{"stream", stream.name},
              {"level", asked.level},
              {"last", clock.shown(stream.time)},
              {"times", json::array()},
              {"features", json::object()},
              {"observations", std::move(observations)}};
  for (const double time : times) answer["times"].push_back(clock.shown(time));
  for (const std::size_t j : asked.features) {
    json columns = json::object();
    for (const char* name :
         {"mean", "lower", "upper", "epistemic_lower", "epistemic_upper", "aleatoric", "epistemic"})
      columns[name] = json::array();
    for (const std::vector<Marginal>& all : expected) {
      const Marginal& m = all[j];
      const double half = half_width(m, asked.level);
      const double whole = m.aleatoric + m.epistemic;
      const double share = std::isfinite(whole) && whole > 0 ? std::sqrt(m.epistemic / whole) : 1;
      columns["mean"].push_back(number(m.mean));
      columns["lower"].push_back(number(m.mean - half));
      columns["upper"].push_back(number(m.mean + half));
      columns["epistemic_lower"].push_back(number(m.mean - half * share));
      columns["epistemic_upper"].push_back(number(m.mean + half * share));
      columns["aleatoric"].push_back(number(aleatoric_deviation(m)));
      columns["epistemic"].push_back(number(epistemic_deviation(m)));
    }
    answer["features"][model.features[j]] = std::move(columns);
  }
  return answer;
}

std::size_t telling_feature(Live::Access access, const LiveStream& stream) {
  const Alarm* gravest = nullptr;
  for (const Alarm& alarm : stream.alarms)
    if (!alarm.feature.empty() && (!gravest || alarm.priority > gravest->priority))
      gravest = &alarm;
  if (gravest) {
    const std::int32_t j = access.live.intake().feature(gravest->feature);
    if (j >= 0) return static_cast<std::size_t>(j);
  }
  if (stream.crossing_feature >= 0) return static_cast<std::size_t>(stream.crossing_feature);
  std::vector<std::size_t> counts(access.live.model().features.size());
  for (const KeptValue& value : access.store.newest_values(stream.id, kInfinity, 200)) {
    const std::int32_t j = access.live.model_feature(value.feature);
    if (j >= 0) ++counts[static_cast<std::size_t>(j)];
  }
  return static_cast<std::size_t>(std::max_element(counts.begin(), counts.end()) - counts.begin());
}

json described(Live::Access access, const LiveStream& stream, bool whole) {
  const StreamClock& clock = access.live.clock();
  const Model& model = access.live.model();
  const bool any = stream.events > 0;
  json last = json::object();
  constexpr std::size_t kLookedAt = 400;  // values back for the last of each feature
  if (any)
    for (const KeptValue& value : access.store.newest_values(stream.id, kInfinity, kLookedAt)) {
      const std::int32_t j = access.live.model_feature(value.feature);
      if (j < 0) continue;
      const std::string& name = model.features[static_cast<std::size_t>(j)];
      if (!last.contains(name))
        last[name] = {{"time", clock.shown(value.time)}, {"value", value.value}};
    }
  json alarms = json::array();
  for (const Alarm& alarm : stream.alarms) alarms.push_back(to_json(alarm, stream.name));
  // How old the newest measurement is, where there is a now; below zero where its date lies ahead.
  const std::optional<double> here =
      clock.raw_of_wall(1e6 * access.live.now(), stream.origin.load());
  json answer{
      {"id", stream.name},
      {"labels", stream.about ? parse_json(stream.about->labels) : json::object()},
      {"events", stream.events},
      {"first", any ? json(clock.shown(stream.first)) : json()},
      {"time", any ? json(clock.shown(stream.time)) : json()},
      {"received", any ? json(stream.received) : json()},
      {"age", any ? json(std::max(0.0, running_seconds() - stream.received)) : json()},
      {"measured_age", here && any ? json(clock.seconds_of_raw(*here - stream.time)) : json()},
      {"urgency", stream.urgency()},
      {"why",
       stream.crossing_feature < 0
           ? json()
           : json{{"feature", model.features[static_cast<std::size_t>(stream.crossing_feature)]},
                  {"rule", stream.crossing_rule},
                  {"text", stream.crossing_text},
                  {"probability", stream.crossing}}},
      {"last", std::move(last)},
      {"alarms", std::move(alarms)},
      {"fault", stream.fault.empty() ? json() : json(stream.fault)}};
  if (whole) {
    answer["statics"] = json::object();
    if (stream.about)
      for (std::size_t c = 0; c < stream.about->statics.size(); ++c)
        if (std::isfinite(stream.about->statics[c]))
          answer["statics"][model.statics[c]] = stream.about->statics[c];
  }
  return answer;
}

}  // namespace edict::server

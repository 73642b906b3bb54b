#include <fmt/core.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "ask/adaptive_level.h"
#include "ask/anomalies.h"
#include "ask/classification.h"
#include "ask/distribution.h"
#include "ask/joint.h"
#include "ask/trajectory.h"
#include "base/error.h"
#include "base/not_finite.h"
#include "base/text/counted.h"
#include "base/text/number_text.h"
#include "front/cli/asked.h"
#include "front/cli/command.h"
#include "front/cli/given_data.h"
#include "front/cli/rows.h"
#include "front/cli/shard.h"
#include "front/cli/terminal/progress.h"
#include "front/cli/time_grid.h"

namespace edict::cli {
namespace {

struct PredictArguments {
  std::string model, data, at, ahead, clips, quantiles, shard;
  std::vector<std::string> above, below, features;
  RowOutput out;
  bool classes = false, conformal = false, together = false;
  double level = 0.9, adapt = 0.0;
  std::int64_t top = 0;
  GuardOptions guard;
  ReadOptions reading;
  int threads = 0;
};

// Everything that was asked for, understood.
struct Asked {
  PredictRequest request;
  bool events = false;              // --at events
  bool horizon = false;             // --at horizon
  bool horizon_by_default = false;  // nothing was said of times; they are written then
  bool ahead = false;               // --ahead
  std::optional<GivenTimes> at;     // --at, where it gives times
  double level = 0.9, time_unit = 1.0;
  const Calibration* conformal = nullptr;  // whose promise the level is; null: plain intervals
  double adapt = 0.0;     // with --at events: how fast levels follow a series; 0: not
  bool together = false;  // with --at events: given the others of the moment
  std::vector<double> quantiles;
  std::vector<Limit> limits;
  std::vector<std::size_t> features;  // whose rows are written

  // The level to write an interval of, this long after the series was last observed (in the
  // model's time).
  double level_at(std::size_t feature, double since) const {
    if (!conformal) return level;
    const FeatureCalibration& own = conformal->features[feature];
    if (own.ranges.empty() || since <= own.ranges.back().until)
      return conformal_level(own.steps_at(since), level);
    throw Error(fmt::format(
        "--conformal: {:.4g} after the last observation is beyond the {:.4g} up to which intervals "
        "are calibrated; give earlier times, or leave --conformal out",
        since * time_unit, own.ranges.back().until * time_unit));
  }
};

std::vector<std::string> distribution_columns(const Asked& asked) {
  std::vector<std::string> columns;
  if (asked.together)
    columns = {"median", "lower", "upper"};
  else
    columns = {"mean",  "aleatoric_sd", "epistemic_sd", "predictive_sd",
               "scale", "dof",          "lower",        "upper"};
  for (const double p : asked.quantiles) {
    columns.emplace_back("q");
    append_shortest(columns.back(), p);
  }
  for (const Limit& limit : asked.limits) columns.push_back(limit.column);
  return columns;
}

// Writes those columns of one distribution after the other.
class DistributionCells {
 public:
  explicit DistributionCells(const Asked& asked) : asked_(asked), quantiles_(asked.quantiles) {}

  // With an interval of this level.
  void write(const Marginal& m, std::size_t feature, double level, RowText& row) {
    // Quantiles of scale 1 are a root search, and a function of dof and level, which the features
    // of a moment usually share.
    if (!(m.dof == dof_ && level == level_)) {
      dof_ = m.dof;
      level_ = level;
      half_ = level < 1 ? half_width({0, 0, 0, 1, m.dof}, level)
                        : std::numeric_limits<double>::infinity();
      for (std::size_t k = 0; k < quantiles_.size(); ++k)
        quantiles_[k] = standard_quantile(asked_.quantiles[k], m.dof);
    }
    row.number(m.mean);
    row.number(aleatoric_deviation(m));
    row.number(epistemic_deviation(m));
    row.number(predictive_deviation(m));
    row.number(m.scale);
    row.number(m.dof);
    row.number(m.mean - half_ * m.scale);
    row.number(m.mean + half_ * m.scale);
    for (const double z : quantiles_) row.number(m.mean + z * m.scale);
    write_limits(
        feature, [&](double x) { return probability_above(m, x); },
        [&](double x) { return probability_below(m, x); }, row);
  }

  void write(const Conditional& given, std::size_t feature, double level, RowText& row) const {
    row.number(given.median());
    for (const double side : {-1.0, 1.0})
      row.number(level < 1 ? given.at_standard_score(side * normal_half_width(level))
                           : side * kInfinity);
    for (const double p : asked_.quantiles) row.number(given.quantile(p));
    write_limits(
        feature, [&](double x) { return given.probability_above(x); },
        [&](double x) { return given.probability_below(x); }, row);
  }

 private:
  template <class Above, class Below>
  void write_limits(std::size_t feature, const Above& above, const Below& below,
                    RowText& row) const {
    for (const Limit& limit : asked_.limits) {
      if (limit.feature != feature)
        row.none();
      else
        row.number(limit.above ? above(limit.value) : below(limit.value));
    }
  }

  const Asked& asked_;
  std::vector<double> quantiles_;
  double dof_ = kNaN, level_ = kNaN, half_ = 0;
};

// What a thread made of some series.
struct Part {
  std::string rows, clips;
  std::size_t row_count = 0, clipped = 0, series = 0;
  std::size_t without_times = 0;  // series that begin after all of the given times
  std::optional<LeastExpected> top;
};

const std::vector<std::string> kClipColumns{"id", "time", "feature", "raw", "used", "sigmas"};

class Prediction {
 public:
  Prediction(const PredictArguments& options, const Model& model, const Dataset& data, Asked asked)
      : options_(options),
        model_(model),
        data_(data),
        asked_(std::move(asked)),
        pool_(static_cast<std::size_t>(options.threads)),
        progress_("predicting"),
        shard_(parse_shard(options.shard)),
        layout_(options.out.resolved(), columns(), shard_),
        clip_layout_(RowFormat::csv, kClipColumns, shard_),
        all_(series_of(shard_, data)) {
    for (const std::string& name : model.features) {
      names_.push_back(layout_.cell(name));
      clip_names_.push_back(clip_layout_.cell(name));
    }
    wanted_.assign(model.features.size(), false);
    for (const std::size_t j : asked_.features) wanted_[j] = true;
    for (const std::string& name : model.classes) class_names_.push_back(layout_.cell(name));
  }

  void run() {
    progress_.begin();
    RowFile out(options_.out.destination(), layout_);
    std::optional<RowFile> clips;
    if (!options_.clips.empty()) clips.emplace(options_.clips, clip_layout_);
    LeastExpected top(static_cast<std::size_t>(options_.top));
    std::size_t rows = 0, clipped = 0, done = 0, without_times = 0;
    for_each_part(
        all_, series_at_once(model_, numbers_a_series()), pool_,
        [&](std::span<const std::size_t> series) { return part(series); },
        [&](const Part& made) {
          out.write(made.rows);
          if (clips) clips->write(made.clips);
          if (made.top) top.add(*made.top);
          rows += made.row_count;
          clipped += made.clipped;
          done += made.series;
          without_times += made.without_times;
          progress_.update(static_cast<double>(done) / static_cast<double>(all_.size()));
        });
    if (options_.top > 0) {
      RowText text(layout_);
      DistributionCells cells(asked_);
      for (const LeastExpected::Entry& entry : top.sorted())
        event_row(entry.series, entry.judged, {}, cells, text);
      out.write(text.text());
      rows = text.rows();
    }
    if (clips) clips->commit();
    out.commit();
    progress_.end();
    tell(rows, clipped);
    note_without_times(without_times, all_.size());
  }

 private:
  bool classes() const { return options_.classes; }

  std::vector<std::string> columns() const {
    if (classes() && asked_.horizon && !asked_.horizon_by_default)
      return {"id", "class", "probability"};
    std::vector<std::string> columns{"id", "time"};
    if (asked_.ahead) columns.emplace_back("ahead");
    columns.emplace_back(classes() ? "class" : "feature");
    if (classes()) {
      columns.emplace_back("probability");
      return columns;
    }
    if (asked_.events) columns.emplace_back("observed");
    if (asked_.adapt > 0) columns.emplace_back("level");
    for (std::string& name : distribution_columns(asked_)) columns.push_back(std::move(name));
    if (asked_.events) columns.insert(columns.end(), {"z", "pit", "tail_probability", "log_score"});
    return columns;
  }

  std::size_t numbers_a_series() const {
    if (asked_.events) return data_.observations() / std::max<std::size_t>(1, data_.size());
    return asked_.request.times.size() * (classes() ? 1 : model_.features.size());
  }

  // Runs on any thread.
  Part part(std::span<const std::size_t> series) {
    Part made;
    RowText text(layout_), clips(clip_layout_);
    DistributionCells cells(asked_);
    if (classes() && asked_.horizon) {
      const ClassProbabilities p =
          class_probabilities(model_, data_, series, pool_, asked_.request.guard);
      made.clipped = p.clipped;
      for (std::size_t s = 0; s < series.size(); ++s)
        class_rows(series[s], model_.protocol.class_time(data_, series[s]), kNaN, p.row(s), text);
    } else if (classes()) {
      for (const ClassTrajectory& own :
           class_trajectories(model_, data_, asked_.request, series, pool_)) {
        made.clipped += own.probabilities.clipped;
        made.without_times += own.times.empty();
        for (std::size_t t = 0; t < own.times.size(); ++t)
          class_rows(own.series, own.times[t], asked_.request.times[t], own.probabilities.row(t),
                     text);
      }
    } else if (asked_.events) {
      if (options_.top > 0) made.top.emplace(static_cast<std::size_t>(options_.top));
      for (JudgedEvents& own : judged_events(model_, data_, series, pool_, asked_.request.guard)) {
        if (asked_.together) judge_together(model_.calibration.correlations, own);
        std::vector<AdaptiveLevel> levels;
        for (std::size_t j = 0; j < model_.features.size() && asked_.adapt > 0; ++j)
          levels.emplace_back(asked_.level, asked_.level_at(j, 0.0), asked_.adapt);
        for (const JudgedEvent& judged : own.observations) {
          if (!wanted_[judged.feature]) continue;
          if (made.top)
            made.top->add(own.series, judged);
          else
            event_row(own.series, judged, levels, cells, text);
        }
        clip_rows(own.series, own.clips, clips);
        made.clipped += own.clips.size();
      }
    } else {
      for (const Trajectory& own : trajectories(model_, data_, asked_.request, series, pool_)) {
        const std::string id = layout_.cell(data_.ids[own.series]);
        made.without_times += own.times.empty();
        for (std::size_t t = 0; t < own.times.size(); ++t) {
          const double since = time_since_event(own.series, own.times[t], asked_.ahead);
          const std::string time = layout_.time_cell(data_, own.series, own.times[t]);
          for (const std::size_t j : asked_.features) {
            text.begin(own.series);
            text.name(id);
            text.name(time);
            if (asked_.ahead) text.exact(asked_.request.times[t]);
            text.name(names_[j]);
            cells.write(own.at(t, j), j, asked_.level_at(j, since), text);
            text.end();
          }
        }
        clip_rows(own.series, own.clips, clips);
        made.clipped += own.clips.size();
      }
    }
    made.series = series.size();
    made.row_count = text.rows();
    made.rows = text.take();
    made.clips = clips.take();
    return made;
  }

  void class_rows(std::size_t series, double time, double ahead,
                  std::span<const double> probabilities, RowText& text) const {
    const std::string id = layout_.cell(data_.ids[series]);
    for (std::size_t k = 0; k < probabilities.size(); ++k) {
      text.begin(series);
      text.name(id);
      if (!asked_.horizon || asked_.horizon_by_default)
        text.name(layout_.time_cell(data_, series, time));
      if (asked_.ahead) text.exact(ahead);
      text.name(class_names_[k]);
      text.number(probabilities[k]);
      text.end();
    }
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

  // `levels`: of each feature, as the series' earlier observations left it; or empty.
  void event_row(std::size_t series, const JudgedEvent& judged, std::span<AdaptiveLevel> levels,
                 DistributionCells& cells, RowText& text) const {
    text.begin(series);
    text.name(layout_.cell(data_.ids[series]));
    text.name(layout_.time_cell(data_, series, data_.times[judged.event]));
    text.name(names_[judged.feature]);
    text.exact(judged.observed);
    double level =
        asked_.level_at(judged.feature, time_since_event(series, data_.times[judged.event], false));
    if (!levels.empty()) {
      AdaptiveLevel& own = levels[judged.feature];
      level = own.level();
      text.number(level);
      own.observe(judged.central_level());
    }
    if (judged.given)
      cells.write(*judged.given, judged.feature, level, text);
    else
      cells.write(judged.expected, judged.feature, level, text);
    const Surprise surprise = judged.surprise();
    text.number(surprise.z);
    text.number(judged.probability_integral());
    text.number(judged.tail_probability());
    text.number(surprise.log_score);
    text.end();
  }

  void clip_rows(std::size_t series, const std::vector<Clip>& clips, RowText& text) const {
    if (options_.clips.empty()) return;
    const std::string id = clip_layout_.cell(data_.ids[series]);
    for (const Clip& clip : clips) {
      text.begin(series);
      text.name(id);
      text.name(clip_layout_.time_cell(data_, series, clip.time));
      text.name(clip_names_[clip.feature]);
      text.exact(clip.raw);
      text.number(clip.used);
      text.number(clip.sigmas);
      text.end();
    }
  }

  void tell(std::size_t rows, std::size_t clipped) const {
    const std::string path = shown(options_.out.destination());
    std::FILE* const told = text_stream({options_.out.destination(), options_.clips});
    const std::size_t times = asked_.request.times.size();
    if (classes())
      fmt::print(told, "{}: probabilities of {} classes for {} series{}\n", path,
                 model_.classes.size(), all_.size(), when());
    else if (options_.top > 0)
      fmt::print(told, "{}: the {} least expected of {}{}\n", path, rows,
                 counted(data_.observations(), "observation"), given());
    else if (asked_.events)
      fmt::print(told, "{}: {} of {} series, each against what was expected{}\n", path,
                 counted(rows, "observation"), all_.size(), given());
    else
      fmt::print(told, "{}: {}, {} series at {}{}, {} % {}interval\n", path, counted(rows, "row"),
                 all_.size(), counted(times, "time"),
                 asked_.ahead ? " after their last observation" : "", 100 * options_.level,
                 options_.conformal ? "conformal " : "");
    if (options_.guard.kind != "none")
      fmt::print(told, "{}\n", clipped_text(clipped, observations()));
    note_extrapolation(told);
  }

  // Further ahead than the calibration saw, nothing is known of how the intervals hold.
  void note_extrapolation(std::FILE* told) const {
    if (!asked_.ahead || classes() || model_.calibration.empty()) return;
    double farthest = 0;
    for (const FeatureCalibration& own : model_.calibration.features)
      farthest = std::max(farthest, own.farthest * model_.protocol.time_unit);
    const double asked = std::ranges::max(asked_.request.times);
    if (asked > farthest * (1 + 1e-9))
      fmt::print(
          told,
          "note: forecasts were evaluated up to {:.3g} ahead and are asked for up to {:.3g}; "
          "how often intervals hold there is not known\n",
          farthest, asked);
  }

  const char* given() const { return asked_.together ? ", given the others at the same time" : ""; }

  // Of the series that were asked for.
  std::size_t observations() const {
    std::size_t count = 0;
    for (const std::size_t i : all_)
      count += data_.first_observation[data_.first_event[i + 1]] -
               data_.first_observation[data_.first_event[i]];
    return count;
  }

  std::string when() const {
    if (asked_.horizon)
      return fmt::format(" at {:.6g}, or at the end of longer series", model_.protocol.horizon);
    if (asked_.request.from == PredictRequest::From::last_observation && !asked_.ahead)
      return ", each at its last observation";
    return fmt::format(" at {}{}", counted(asked_.request.times.size(), "time"),
                       asked_.ahead ? " after their last observation" : "");
  }

  const PredictArguments& options_;
  const Model& model_;
  const Dataset& data_;
  const Asked asked_;
  ThreadPool pool_;
  Progress progress_;
  const Shard shard_;
  const RowLayout layout_, clip_layout_;
  const std::vector<std::size_t> all_;
  std::vector<std::string> names_, clip_names_, class_names_;  // as cells
  std::vector<bool> wanted_;                                   // features
};

Asked understood(const PredictArguments& options, const Model& model, bool classes) {
  Asked asked;
  asked.request.guard = options.guard.resolve();
  asked.level = options.level;
  if (!options.at.empty() && !options.ahead.empty())
    throw Error("--at and --ahead both say when; give one of them");
  asked.events = options.at == "events";
  asked.horizon = options.at == "horizon";
  if (!options.ahead.empty()) {
    asked.ahead = true;
    asked.request.times = parse_times("--ahead", options.ahead);
    asked.request.from = PredictRequest::From::last_observation;
    if (asked.request.times.front() < 0)
      throw Error(fmt::format(
          "--ahead: {} lies before the last observation; give times from 0 on, or use --at",
          asked.request.times.front()));
  } else if (!asked.events && !asked.horizon && !options.at.empty()) {
    asked.at.emplace("--at", options.at, model.time_axis);
    asked.request.times = asked.at->numbers();
    asked.request.times.resize(asked.at->count());  // dates: each series has its own
  }
  if (classes) {
    if (asked.events)
      throw Error("--at events is for features; for classes give times, or --ahead");
    asked.horizon_by_default = options.at.empty() && options.ahead.empty();
    asked.horizon |= asked.horizon_by_default;
  } else if (asked.horizon) {
    throw Error("--at horizon is for --classes; give times, as START:STEP:END");
  } else if (options.at.empty() && options.ahead.empty()) {
    throw Error(
        "--at is missing: give times as START:STEP:END or t1,t2,…, or --at events; or give --ahead "
        "with times after each series' last observation");
  }
  if (classes && (!options.quantiles.empty() || !options.above.empty() || !options.below.empty() ||
                  !options.features.empty() || !options.clips.empty()))
    throw Error(
        "--quantiles, --above, --below, --features and --clips are for features, not for classes; "
        "leave them out");
  if (options.top > 0 && !options.shard.empty())
    throw Error("--top needs all series, and --shard reads only some; leave one of them out");
  if (options.top > 0 && !asked.events)
    throw Error("--top lists the least expected observations; give --at events with it");
  asked.adapt = options.adapt;
  if (options.adapt > 0 && (!asked.events || options.top > 0))
    throw Error(
        "--adapt follows the observations of each series in order; give it with --at events and "
        "without --top");
  asked.together = options.together;
  if (options.together) {
    if (!asked.events)
      throw Error(
          "--together compares the observations of one time with each other; give it with --at "
          "events");
    if (options.conformal)
      throw Error(
          "--conformal intervals are those of each feature by itself, not --together; leave one of "
          "them out");
    if (model.calibration.correlations.empty())
      throw Error(fmt::format(
          "--together: {} has no correlations between features; `edict calibrate {} DATA --out "
          "FILE` finds them where enough series have several features at the same time",
          options.model, options.model));
  }
  if (options.conformal) {
    if (classes)
      throw Error("--conformal is for intervals of features, not for classes; leave it out");
    if (model.calibration.empty())
      throw Error(
          fmt::format("--conformal: {} is not calibrated; calibrate it with `edict calibrate {} "
                      "DATA --out FILE`",
                      options.model, options.model));
    if (model.calibration.conformal_series == 0)
      throw Error(fmt::format(
          "--conformal: {} was calibrated on {} {}, too few for conformal intervals; calibrate "
          "on more with `edict calibrate {} DATA --out FILE --split unseen`",
          options.model, model.calibration.fit_series,
          calibrating(model, model.calibration.fit_series), options.model));
    if (asked.request.guard.kind != Guard::Kind::none)
      throw Error(
          "--conformal: intervals are calibrated without a guard and do not hold with one; leave "
          "--guard or --conformal out");
    asked.conformal = &model.calibration;
    asked.time_unit = model.protocol.time_unit;
  }
  if (!options.quantiles.empty())
    asked.quantiles = parse_probabilities("--quantiles", options.quantiles);
  for (const std::string& text : options.above)
    asked.limits.push_back(parse_limit(text, true, model));
  for (const std::string& text : options.below)
    asked.limits.push_back(parse_limit(text, false, model));
  for (const std::string& name : options.features)
    asked.features.push_back(feature_of("--features", name, model));
  if (asked.features.empty()) {
    asked.features.resize(model.features.size());
    std::iota(asked.features.begin(), asked.features.end(), std::size_t{0});
  }
  return asked;
}

void run(PredictArguments options) {
  check_files({options.model, options.data}, {options.out.destination(), options.clips});
  const Model model = load_model(options.model);
  options.classes = options.classes || !model.network->has_distribution();
  Asked asked = understood(options, model, options.classes);
  const Dataset data = open_for(model, options.data, options.reading, Series::whole);
  if (asked.at && asked.at->are_moments(data))
    asked.request.own_times = [at = *asked.at, &data](std::size_t series) {
      return at.of(data, series);
    };
  Prediction(options, model, data, std::move(asked)).run();
}

}  // namespace

void add_predict(CLI::App& app) {
  auto options = std::make_shared<PredictArguments>();
  CLI::App* command =
      app.add_subcommand("predict", "Predict distributions, or class probabilities, at any times");
  command->add_option("model", options->model, "a trained model")->required()->type_name("MODEL");
  command->add_option("data", options->data, "the series")->required()->type_name("DATA");
  command
      ->add_option("--at", options->at,
                   "predict at these times, each from what was observed before it; or `events`: at "
                   "every observation, from what came before it; or, for classes, `horizon`: the "
                   "time at which the classifier is trained and evaluated. Dates and Unix time "
                   "are taken as the data have them")
      ->type_name("START:STEP:END|T1,T2,...|DATE,...|events");
  command
      ->add_option("--ahead", options->ahead,
                   "times after each series' own last observation; 0 is that moment")
      ->type_name("START:STEP:END|T1,T2,...");
  options->out.add_to(*command, "FILE");
  add_level(*command, options->level, "of the predictive interval [lower, upper]");
  command->add_flag("--conformal", options->conformal,
                    "a conformal interval: it holds an observation of a new series at least as "
                    "often as --level says, however good the model is; for models of `edict "
                    "calibrate`, infinite where there were too few series to calibrate on");
  command
      ->add_option(
          "--adapt", options->adapt,
          "with --at events: the interval's level adapts to each series and feature, up after "
          "an observation outside of it and down after one inside, so that in the long run it "
          "holds as often as --level says; a column `level` gives it. RATE: how fast, as 0.02")
      ->check(within(1e-6, 1.0))
      ->type_name("RATE");
  command->add_option("--quantiles", options->quantiles, "further columns q0.1, q0.5, …")
      ->type_name("0.1,0.5,0.9");
  command
      ->add_option("--above", options->above,
                   "the probability that a feature is above a limit, as lactate=4, in a column "
                   "P(lactate>4); may be repeated")
      ->type_name("FEATURE=LIMIT")
      ->allow_extra_args(false);
  command->add_option("--below", options->below, "the same below a limit")
      ->type_name("FEATURE=LIMIT")
      ->allow_extra_args(false);
  command->add_option("--features", options->features, "write only the rows of these")
      ->delimiter(',')
      ->type_name("NAME,...");
  command
      ->add_option("--top", options->top,
                   "with --at events: only the N least expected observations, the most surprising "
                   "first")
      ->check(positive())
      ->type_name("N");
  command->add_flag("--together", options->together,
                    "with --at events: every observation against what is expected of it given "
                    "the others at the same time, so that one that contradicts them stands out; "
                    "for models of `edict calibrate`");
  command->add_flag("--classes", options->classes,
                    "class probabilities instead: at the times of --at or --ahead, or at each "
                    "series' last observation");
  add_shard(*command, options->shard);
  add_output(*command, "--clips", options->clips, "write what the guard changed there")
      ->type_name("CLIPS.csv");
  options->guard.add_to(*command);
  add_reading(*command, options->reading);
  add_threads(*command, options->threads);
  command->footer(
      "Columns: mean; aleatoric_sd (noise of the data), epistemic_sd (uncertainty of the model) "
      "and "
      "predictive_sd (both) are standard deviations in the feature's unit, inf (null in JSON) "
      "where dof is 2 or less; the distribution is mean + scale * Student-t(dof), a Gaussian "
      "where dof is inf; lower and upper bound the interval of --level. With --at events also "
      "z = (observed - mean) / predictive_sd, pit = P(X <= observed), tail_probability = P(at "
      "least this far from the mean), by which --top sorts, and log_score, minus the log of the "
      "density. With --together the distribution is no Student-t: its median, lower, upper, "
      "quantiles and probabilities are given, z is the standard normal score of the observation, "
      "and tail_probability the probability of a |z| at least as large.");
  command->callback([options] { run(*options); });
}

}  // namespace edict::cli

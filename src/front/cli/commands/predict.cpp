#include "app/predict/predict.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/text/counted.h"
#include "front/cli/asked.h"
#include "front/cli/command.h"
#include "front/cli/given_data.h"
#include "front/cli/shard.h"
#include "front/cli/tables/predicted_rows.h"
#include "front/cli/terminal/progress.h"
#include "front/cli/time_grid.h"

namespace edict::cli {
namespace {

using When = app::PredictRequest::When;

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

// The times of --at, where it gives some.
std::optional<GivenTimes> read_times(const PredictArguments& options, const Model& model,
                                     app::PredictRequest& request) {
  if (!options.at.empty() && !options.ahead.empty())
    throw Error("--at and --ahead both say when; give one of them");
  if (!options.ahead.empty()) {
    request.when = When::ahead;
    request.times = parse_times("--ahead", options.ahead);
  } else if (options.at == "events") {
    request.when = When::events;
  } else if (options.at == "horizon" || (options.at.empty() && request.classes)) {
    request.when = When::horizon;
  } else if (options.at.empty()) {
    throw Error(
        "--at is missing: give times as START:STEP:END or t1,t2,…, or --at events; or give --ahead "
        "with times after each series' last observation");
  } else {
    GivenTimes at("--at", options.at, model.time_axis);
    request.times = at.numbers();
    request.times.resize(at.count());  // dates: each series has its own
    return at;
  }
  return std::nullopt;
}

app::PredictRequest request_of(const PredictArguments& options, const Model& model) {
  if (options.top > 0 && !options.shard.empty())
    throw Error("--top needs all series, and --shard reads only some; leave one of them out");
  app::PredictRequest request{.classes = options.classes || !model.network->has_distribution(),
                              .level = options.level,
                              .conformal = options.conformal,
                              .adapt = options.adapt,
                              .together = options.together,
                              .top = static_cast<std::size_t>(options.top),
                              .clips = !options.clips.empty(),
                              .guard = options.guard.resolve(),
                              .model_name = options.model};
  if (!options.quantiles.empty())
    request.quantiles = parse_probabilities("--quantiles", options.quantiles);
  for (const std::string& text : options.above)
    request.limits.push_back(parse_limit(text, true, model));
  for (const std::string& text : options.below)
    request.limits.push_back(parse_limit(text, false, model));
  for (const std::string& name : options.features)
    request.features.push_back(feature_of("features", name, model));
  return request;
}

// When the answer is for, in the sentence that says what was written.
std::string when_text(const app::PredictRequest& request, const Model& model) {
  if (request.when == When::horizon)
    return fmt::format(" at {:.6g}, or at the end of longer series", model.protocol.horizon);
  return fmt::format(" at {}{}", counted(request.times.size(), "time"),
                     request.when == When::ahead ? " after their last observation" : "");
}

void print(const PredictArguments& options, const app::PredictRequest& request, const Model& model,
           const Dataset& data, const app::PredictResult& result, std::size_t rows) {
  const std::string path = shown(options.out.destination());
  std::FILE* const to = text_stream({options.out.destination(), options.clips});
  const char* const given = request.together ? ", given the others at the same time" : "";
  if (request.classes)
    fmt::print(to, "{}: probabilities of {} classes for {} series{}\n", path, model.classes.size(),
               result.series, when_text(request, model));
  else if (request.top > 0)
    fmt::print(to, "{}: the {} least expected of {}{}\n", path, rows,
               counted(data.observations(), "observation"), given);
  else if (request.when == When::events)
    fmt::print(to, "{}: {} of {} series, each against what was expected{}\n", path,
               counted(rows, "observation"), result.series, given);
  else
    fmt::print(to, "{}: {}, {} series{}, {} % {}interval\n", path, counted(rows, "row"),
               result.series, when_text(request, model), 100 * options.level,
               options.conformal ? "conformal " : "");
  if (options.guard.kind != "none")
    fmt::print(to, "{}\n", clipped_text(result.clipped, result.observations));
  for (const std::string& note : result.notes) fmt::print(to, "{}\n", note_line(note));
  note_without_times(result.without_times, result.series);
}

void run(const PredictArguments& options) {
  check_files({options.model, options.data}, {options.out.destination(), options.clips});
  const Model model = load_model(options.model);
  app::PredictRequest request = request_of(options, model);
  const std::optional<GivenTimes> at = read_times(options, model, request);
  app::check(request, model);
  const Dataset data = open_for(model, options.data, options.reading, Series::whole);
  if (at && at->are_moments(data))
    request.own_times = [&](std::size_t series) { return at->of(data, series); };
  const Shard shard = parse_shard(options.shard);
  request.series = series_of(shard, data);
  ThreadPool pool(static_cast<std::size_t>(options.threads));
  Progress progress("predicting");
  const PredictedTable table(request, model, data, options.out.resolved(), shard,
                             !options.at.empty());
  progress.begin();
  RowFile out(options.out.destination(), table.layout());
  std::optional<RowFile> clips;
  if (!options.clips.empty()) clips.emplace(options.clips, table.clip_layout());
  std::size_t rows = 0;
  const app::PredictResult result =
      app::predict(model, data, request, pool,
                   {.begin = [&] { return std::make_unique<PredictedTexts>(table); },
                    .take =
                        [&](app::PredictedRows& made, double share) {
                          const auto& texts = static_cast<PredictedTexts&>(made);
                          out.write(texts.rows());
                          if (clips) clips->write(texts.clips());
                          rows += texts.row_count();
                          progress.update(share);
                        }});
  if (clips) clips->commit();
  out.commit();
  progress.end();
  print(options, request, model, data, result, rows);
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

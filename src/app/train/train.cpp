#include "app/train/train.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/files/atomic_file.h"
#include "base/text/counted.h"
#include "data/name_listing.h"
#include "learn/ensemble_training.h"
#include "learn/warm_start.h"
#include "protocol/standardise.h"

namespace edict::app {
namespace {

// Of a budget, for training; the rest is left to what follows the last epoch.
constexpr double kBudgetShare = 0.9;

// Where a run finds what it had reached.
std::filesystem::path state_path(const TrainRequest& request) {
  return request.members > 1 ? members_path(request.out) : checkpoint_path(request.out);
}

void check_output(const TrainRequest& request) {
  const std::string out = request.out.string();
  if (destination_of(out).kind != Destination::Kind::file)
    throw Error(ErrorCode::unsupported,
                {.subject = out,
                 .problem = "a model needs a file, beside which its checkpoint and metrics stand",
                 .remedy = "give its name"});
  if (request.replace || !std::filesystem::exists(request.out)) return;
  const std::string instead = option("force") + " to train anew and replace it, or another name";
  if (!request.resume && !request.claim)
    throw Error(ErrorCode::exists,
                {.subject = out,
                 .problem = "already exists",
                 .remedy = "give " + option("resume") + " to continue its training, " + instead});
  if (request.resume && !std::filesystem::exists(state_path(request)))
    throw Error(ErrorCode::not_found,
                {.subject = out,
                 .problem = fmt::format("its checkpoint {} is missing, so its training cannot be "
                                        "continued",
                                        state_path(request).string()),
                 .remedy = "give " + instead});
}

TrainPlan fresh_plan(const Dataset& data, const TrainRequest& request) {
  ChosenSettings chosen = choose_settings(request.settings, data);
  Split parts = split(data, chosen.config.data);
  check_trainable(parts, chosen.config.data);
  Model model = Model::create(chosen.config, data, parts);
  return {std::move(model), std::move(parts), std::move(chosen.fitted)};
}

TrainPlan warm_plan(const Dataset& data, const TrainRequest& request) {
  Model model = warm_start(*request.from, request.settings.assignments, request.from_name);
  Split parts = split_for_more_training(model, data);
  return {std::move(model), std::move(parts)};
}

// Features from which nothing is learnt.
void note_features(const Dataset& data, TrainPlan& plan) {
  const Model& model = plan.model;
  const auto note = [&](const std::vector<std::size_t>& features, const char* one,
                        const char* several) {
    if (features.empty()) return;
    std::vector<std::string> names;
    for (const std::size_t j : features) names.push_back(model.features[j]);
    plan.notes.push_back(fmt::format("feature{} {} {}", names.size() == 1 ? "" : "s",
                                     name_listing(names), names.size() == 1 ? one : several));
  };
  note(never_observed(data, plan.parts.train,
                      [&](std::size_t i) { return model.protocol.cut_of(data, i); }),
       "is never observed in the training split", "are never observed in the training split");
  note(model.config.model.unchanging,
       "hardly ever changes: the forecast is its last value, nothing else is learnt of it",
       "hardly ever change: the forecast is their last value, nothing else is learnt of them");
  note(model.config.model.sporadic,
       "is nearly always the same: the forecast is its mean, nothing else is learnt of it",
       "are nearly always the same: the forecast is their mean, nothing else is learnt of them");
}

// A gap of very few or very many solver steps. A step costs the same whether or not anything
// happens in it.
void note_steps(const Dataset& data, TrainPlan& plan) {
  const Model& model = plan.model;
  if (model.config.model.propagator != Propagation::gru_ode) return;  // has no steps
  std::vector<double> gaps;
  for (std::size_t i = 0; i < data.size(); ++i)
    for (std::size_t e = data.first_event[i] + 1; e < data.first_event[i + 1]; ++e)
      gaps.push_back(data.times[e] - data.times[e - 1]);
  if (gaps.empty()) return;
  std::nth_element(gaps.begin(), gaps.begin() + gaps.size() / 2, gaps.end());
  const double gap = gaps[gaps.size() / 2];
  const double steps = gap / model.protocol.time_unit / model.config.model.step;
  if (steps >= 1e-3 && steps <= 100) return;
  plan.notes.push_back(fmt::format(
      "the median gap between events is {:.3g} solver steps; data.time_unit={:.3g} would make it "
      "about ten{}",
      steps, gap / (10 * model.config.model.step),
      steps > 100 ? ", and training faster by as much" : ""));
}

// The trainer's options, without those of a single member.
TrainOptions options_of(const TrainRequest& request) {
  TrainOptions options;
  options.out = request.out;
  options.resume = request.resume;
  options.stop = request.stop;
  options.start_counts = request.from != nullptr;
  if (request.budget > 0)
    options.deadline =
        request.begin + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                            std::chrono::duration<double>(kBudgetShare * request.budget));
  options.on_start = request.progress.on_start;
  options.on_batch = request.progress.on_batch;
  options.on_epoch = request.progress.on_epoch;
  return options;
}

void note_run(const TrainResult& run, const Config& config, std::vector<std::string>& notes) {
  if (run.out_of_time) {
    if (run.rows.empty())
      throw Error(ErrorCode::invalid, {.subject = option("budget"),
                                       .problem = "it ended before the first epoch did",
                                       .remedy = "give more time"});
    notes.push_back(fmt::format("stopped by {} after {} of {} epochs; {}", option("budget"),
                                run.rows.back().epoch, config.train.epochs,
                                run.rows.back().best
                                    ? "it was still improving: more time would help"
                                    : "the best is kept"));
  }
  if (run.skipped_batches > 0)
    notes.push_back(fmt::format(
        "{} batch{} had no finite gradient and {} skipped; the learning rate was lowered",
        run.skipped_batches, run.skipped_batches == 1 ? "" : "es",
        run.skipped_batches == 1 ? "was" : "were"));
  if (!run.validated)
    notes.push_back("the validation split has no observation; the last epoch is kept");
}

}  // namespace

void check(const TrainRequest& request) {
  if (!(request.budget >= 0) || std::isinf(request.budget))
    throw Error(ErrorCode::invalid,
                {.subject = option("budget"), .problem = "give seconds, or 0 for no limit"});
  if (request.from && (request.settings.base || request.members != 1))
    throw Error(ErrorCode::invalid,
                {.subject = option("from"),
                 .problem = "a model to start from has its settings, and is a single one",
                 .remedy = "leave " + option("config") + " and " + option("members") + " out"});
  if (request.claim && request.members < 2)
    throw Error(ErrorCode::invalid,
                {.subject = option("claim"),
                 .problem = "shares the members of an ensemble or the folds of a cross-validation "
                            "among workers",
                 .remedy = "give " + option("members") + " or " + option("folds") + " with it"});
  if (request.claim && request.budget > 0)
    throw Error(ErrorCode::invalid,
                {.problem = option("claim") + " and " + option("budget") + " cannot be combined",
                 .remedy = "leave one of them out"});
  if (!request.out.empty()) check_output(request);
  if (request.from)
    warm_start(*request.from, request.settings.assignments, request.from_name);
  else
    check(request.settings);
}

TrainPlan plan_training(const Dataset& data, const TrainRequest& request) {
  TrainPlan plan = request.from ? warm_plan(data, request) : fresh_plan(data, request);
  note_features(data, plan);
  const std::vector<std::string>& given = request.settings.assignments;
  if (!plan.fitted || assigns(given, "data.time_unit") || assigns(given, "model.step"))
    note_steps(data, plan);
  return plan;
}

bool TrainedModel::is_usable() const {
  return !interrupted || (members.size() == 1 && !members.front().rows.empty());
}

TrainedModel train(TrainPlan plan, const Dataset& data, const TrainRequest& request,
                   ThreadPool& pool) {
  const Config config = plan.model.config;
  TrainOptions options = options_of(request);
  TrainingRun run;
  const auto begin_run = [&](std::size_t member, bool backward) {
    run = {.member = member, .backward = backward};
    if (request.progress.on_run) request.progress.on_run(run);
  };
  options.on_backward = [&] { begin_run(run.member, true); };
  TrainedModel trained;
  if (request.members == 1) {
    begin_run(0, false);
    trained.model = std::move(plan.model);
    trained.members.push_back(edict::train(trained.model, data, plan.parts, pool, options));
    trained.interrupted = trained.members.front().interrupted;
  } else {
    EnsembleOptions ensemble;
    ensemble.members = request.members;
    ensemble.training = options;
    ensemble.claim = request.claim;
    ensemble.on_member = [&](std::size_t member) { begin_run(member, false); };
    EnsembleResult result = train_ensemble(config, data, plan.parts, pool, ensemble);
    trained = {std::move(result.model), std::move(result.members), result.interrupted};
  }
  if (trained.interrupted) return trained;
  for (const TrainResult& own : trained.members) note_run(own, config, trained.notes);
  if (config.train.smooth && trained.model.fusion.empty())
    trained.notes.push_back(
        "the validation split has too few hidden values to weight the two sides; the model uses "
        "the past alone");
  return trained;
}

}  // namespace edict::app

#include "research/search/search.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>

#include "base/error.h"
#include "base/files/claims.h"
#include "base/hash.h"
#include "judge/evaluate.h"
#include "judge/judged_observation.h"
#include "learn/posthoc/calibrate.h"
#include "research/search/search_folder.h"

namespace edict::study {
namespace {

// Each half of the series judged with the calibration that `settings` make of the other half: none
// judges the width of intervals that were fitted to it. The model itself is not calibrated.
Evaluation judged_by_halves(const Model& model, const TrainSettings& settings, const Dataset& data,
                            std::span<const std::size_t> series, ThreadPool& pool, StopFlag stop) {
  std::vector<std::size_t> halves[2];
  for (const std::size_t i : series)
    halves[Hash().text("judge").text(data.ids[i]).value() & 1].push_back(i);
  EvaluationSums sums;
  for (const std::size_t half : {0, 1}) {
    Model calibrated = model.member(0);
    calibrated.config.train = settings;
    calibrate_trained(calibrated, data, halves[1 - half], pool, stop);
    add_up(calibrated, data, halves[half], pool, {}, stop, Sides::past, sums);
  }
  return sums.result({});
}

}  // namespace

SearchBudget parse_budget(const std::string& text) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [unit, error] = std::from_chars(text.data(), end, number);
  const std::string_view rest(unit, static_cast<std::size_t>(end - unit));
  const double seconds = rest == "s" ? 1 : rest == "m" ? 60 : rest == "h" ? 3600 : 0;
  SearchBudget budget;
  if (error == std::errc() && number > 0 && number <= 1e9) {
    if (seconds > 0) {
      budget.seconds = number * seconds;
      return budget;
    }
    if (rest.empty() && number == std::floor(number)) {
      budget.trials = static_cast<std::size_t>(number);
      return budget;
    }
  }
  throw Error(ErrorCode::invalid,
              {.subject = option("budget", text),
               .problem = "give a number of trials, as 20, or a time, as 90s, 30m or 2h"});
}

SearchResult search(const Config& base, std::uint64_t subject, const Trial& trial,
                    const SearchOptions& options) {
  if (options.ranges.empty()) throw Error("a search needs at least one range");
  const auto epochs = rung_epochs(base.train.epochs, options.rungs, options.fewest_epochs);
  const SearchFolder folder(options.out, {subject, base, options.ranges, options.seed, epochs},
                            options.claim);
  std::optional<Claims> claims;
  if (options.claim) claims.emplace(options.out / "claims", options.stale_claim);
  const auto settings = [&](std::size_t number) {
    return draw_settings(base, options.ranges, options.seed, number);
  };

  SearchResult result;
  std::optional<Claim> claim;
  const auto next = [&]() -> std::optional<Step> {
    claim.reset();
    for (;;) {
      result.outcomes = folder.read_outcomes();
      if (!claims) return next_step(result.outcomes, options.budget.trials, epochs.size());
      bool waiting = false;
      const auto step = free_step(
          result.outcomes, options.budget.trials, epochs.size(),
          [&](const Step& wanted) {
            claim = claims->take(fmt::format("trial-{:04}-rung-{}", wanted.trial, wanted.rung));
            // Another may have finished it since the outcomes were read.
            if (claim && folder.finished(wanted)) claim.reset();
            return claim.has_value();
          },
          waiting);
      if (step || !waiting) return step;
      wait_for_others(options.stop);
    }
  };
  while (const auto step = next()) {
    double used = 0;
    for (const Outcome& outcome : result.outcomes) used += outcome.seconds;
    if (used >= options.budget.seconds) {
      result.out_of_time = true;
      break;
    }
    Config config = settings(step->trial);
    folder.begin(*step, config);
    // A short run is a whole one with a schedule of its own, not the start of a long one.
    config.train.epochs = epochs[step->rung];
    if (options.on_start) options.on_start(*step, config);
    Outcome outcome{step->trial, step->rung, config.train.epochs};
    const auto start = std::chrono::steady_clock::now();
    try {
      if (!trial(config, folder.model_path(*step), outcome)) {
        result.interrupted = true;
        break;
      }
      if (!std::isfinite(outcome.nll) || !std::isfinite(outcome.mse))
        throw Error("the validation score is not finite");
    } catch (const MachineError&) {
      throw;  // says nothing about the settings
    } catch (const Error& e) {
      outcome.failure = e.what();
    }
    outcome.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    folder.finish(outcome);
    result.outcomes = folder.read_outcomes();
    folder.summarise(result.outcomes, options.ranges, settings);
    if (options.on_outcome) options.on_outcome(outcome);
    if (result.outcomes.size() >= 3 && !best_outcome(result.outcomes))
      throw Error(fmt::format("{}: every trial failed, the last by: {}", options.out.string(),
                              outcome.failure));
  }
  folder.summarise(result.outcomes, options.ranges, settings);
  return result;
}

Trial training_trial(const Dataset& data, ThreadPool& pool, const TrainOptions& training) {
  return [&data, &pool, training](const Config& config, const std::filesystem::path& path,
                                  Outcome& outcome) {
    const Split parts = split(data, config.data);
    Config uncalibrated = config;
    uncalibrated.train.calibrate = false;
    Model model = Model::create(uncalibrated, data, parts);
    if (!model.network->has_distribution())
      throw Error(fmt::format("model.kind = {} predicts no distribution to be judged by",
                              config.model.kind));
    TrainOptions options = training;
    options.out = path;
    options.resume = true;
    if (train(model, data, parts, pool, options).interrupted) return false;
    Evaluation judged;
    try {
      if (config.train.calibrate) {
        judged = judged_by_halves(model, config.train, data, parts.validation, pool, options.stop);
        model.config.train = config.train;
        calibrate_trained(model, data, parts.validation, pool, options.stop);
        save_model(model, path);
      } else {
        judged = evaluate(model, data, parts.validation, pool, {}, options.stop);
      }
    } catch (const Interrupted&) {
      return false;
    }
    if (!judged.interpolation)
      throw Error("the validation split holds nothing to interpolate; set data.holdout or t_cut");
    outcome.nll = judged.interpolation->nll.mean;
    outcome.mse = judged.interpolation->mse.mean;
    outcome.ece = judged.interpolation->ece;
    const double none = std::nan("");
    outcome.extrapolation_nll = judged.extrapolation ? judged.extrapolation->nll.mean : none;
    outcome.extrapolation_mse = judged.extrapolation ? judged.extrapolation->mse.mean : none;
    return true;
  };
}

}  // namespace edict::study

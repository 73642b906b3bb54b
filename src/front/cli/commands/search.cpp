#include "research/search/search.h"

#include <fmt/core.h>

#include "base/error.h"
#include "base/json/json.h"
#include "base/text/counted.h"
#include "base/threads/interrupted.h"
#include "data/fingerprint.h"
#include "front/cli/command.h"
#include "front/cli/given_data.h"
#include "front/cli/terminal/progress.h"

namespace edict::cli {
namespace {

struct SearchArguments {
  std::string data, out, budget, json;
  ConfigOptions config;
  std::vector<std::string> ranges;
  std::uint64_t seed = 0;
  std::size_t rungs = 3;
  bool claim = false;
  ReadOptions reading;
  int threads = 0;
};

std::string settings_text(const Config& config, const std::vector<study::SearchRange>& ranges) {
  std::string text;
  for (const study::SearchRange& range : ranges)
    text += fmt::format(" {}={}", range.key, study::setting_text(config, range.key));
  return text;
}

nlohmann::json to_json(const study::Outcome& o) {
  return {{"trial", o.trial}, {"rung", o.rung}, {"failure", o.failure}, {"seconds", o.seconds},
          {"nll", o.nll},     {"mse", o.mse},   {"ece", o.ece}};
}

study::SearchOptions search_of(const SearchArguments& options) {
  study::SearchOptions search;
  search.out = options.out;
  search.budget = study::parse_budget(options.budget);
  search.seed = options.seed;
  search.rungs = options.rungs;
  search.claim = options.claim;
  if (!options.ranges.empty()) {
    search.ranges.clear();
    for (const std::string& text : options.ranges)
      search.ranges.push_back(study::parse_range(text));
  }
  return search;
}

void print(const SearchArguments& options, const study::SearchResult& result,
           const study::Outcome& best) {
  const std::filesystem::path out = options.out;
  fmt::print(text_stream({options.json}),
             "{}: {}{}; best is trial {}, rung {}: nll {:.4f}, mse {:.4f}, in {}\n",
             (out / "trials.csv").string(), counted(result.outcomes.size(), "run"),
             result.out_of_time ? " in the time given" : "", best.trial, best.rung, best.nll,
             best.mse, (out / "best.toml").string());
  nlohmann::json json{{"out_of_time", result.out_of_time},
                      {"best", to_json(best)},
                      {"settings", (out / "best.toml").string()},
                      {"runs", nlohmann::json::array()}};
  for (const study::Outcome& outcome : result.outcomes) json["runs"].push_back(to_json(outcome));
  write_json(options.json, json);
}

void run(const SearchArguments& options) {
  const Config base = options.config.resolve();
  check_files({options.data, options.config.file}, {options.json});
  study::SearchOptions search = search_of(options);
  Progress progress("searching");
  const Dataset data = open_to_train(options.data, options.reading);
  ThreadPool pool(static_cast<std::size_t>(options.threads));

  std::string running;
  std::int64_t epochs = 1;
  TrainOptions training;
  training.stop = &interrupt_flag("edict: stopped; the same command continues\n");
  search.stop = training.stop;
  training.on_batch = [&](std::int64_t epoch, std::int64_t batch, std::int64_t batches,
                          const LossSums&) {
    progress.update((static_cast<double>(epoch - 1) +
                     static_cast<double>(batch) / static_cast<double>(batches)) /
                        static_cast<double>(epochs),
                    running);
  };
  search.on_start = [&](const study::Step& step, const Config& config) {
    running = fmt::format("trial {}, rung {}", step.trial, step.rung);
    epochs = config.train.epochs;
    progress.begin(running);
    progress.line(
        fmt::format("{}, {} epochs:{}", running, epochs, settings_text(config, search.ranges)));
  };
  search.on_outcome = [&](const study::Outcome& o) {
    progress.line(o.failure.empty()
                      ? fmt::format("  validation interpolation nll {:.4f}  mse {:.4f}  ece {:.4f} "
                                    "({})",
                                    o.nll, o.mse, o.ece, duration(o.seconds))
                      : fmt::format("  failed: {}", o.failure));
  };
  const study::SearchResult result =
      study::search(base, fingerprint(data), study::training_trial(data, pool, training), search);
  if (result.interrupted) throw Interrupted();
  progress.end();
  const study::Outcome* best = study::best_outcome(result.outcomes);
  if (!best) throw Error(fmt::format("{}: every trial failed; see trials.csv", options.out));
  print(options, result, *best);
}

}  // namespace

void add_search(CLI::App& app) {
  auto options = std::make_shared<SearchArguments>();
  CLI::App* command = app.add_subcommand(
      "search",
      "Search for good settings on the validation split: random draws, successive halving");
  command->add_option("data", options->data, "the data")->required()->type_name("DATA.csv");
  command
      ->add_option("--out", options->out, "folder of the trials; an earlier search in it continues")
      ->required()
      ->type_name("DIR");
  command->add_option("--budget", options->budget, "trials, as 20, or time, as 30m or 2h")
      ->required()
      ->type_name("N|TIME");
  command
      ->add_option("--range", options->ranges,
                   "what to draw: key=low:high, key=low:high:log or key=a,b,c; may be repeated")
      ->type_name("KEY=RANGE")
      ->allow_extra_args(false);
  options->config.add_to(*command);
  command->add_option("--seed", options->seed, "of the draws")->capture_default_str();
  command
      ->add_option("--rungs", options->rungs,
                   "lengths of a run, each a third of the next; the best third climbs")
      ->check(within(1, 8))
      ->capture_default_str();
  add_json(*command, options->json);
  add_reading(*command, options->reading);
  command->add_flag("--claim", options->claim,
                    "search together with other workers: every one runs this command with the same "
                    "--out, on any machine that sees it (docs/how-to/scale.md)");
  add_threads(*command, options->threads);
  command->callback([options] { run(*options); });
}

}  // namespace edict::cli

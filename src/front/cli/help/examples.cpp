#include "front/cli/help/examples.h"

#include <string>
#include <string_view>
#include <vector>

namespace edict::cli {
namespace {

struct About {
  std::string_view command, group, examples;
};

constexpr std::string_view kData = "Data", kModels = "Models", kAnswers = "Answers",
                           kExperiments = "Experiments", kPrompt = "At the prompt";

constexpr About kCommands[] = {
    {"generate", kData, R"(
  # five hundred series to try things with
  edict generate synthetic --out waves.csv --series 500
)"},
    {"import", kData, R"(
  # from the folder with the downloaded archives
  edict import physionet --from downloads --out physionet.csv
)"},
    {"pack", kData, R"(
  # a table in a form that opens at once and may be larger than memory
  edict pack waves.csv --out waves.edict
  edict info waves.edict
)"},
    {"info", kData, R"(
  # what is in a table: features, gaps, labels
  edict info waves.csv
  # what a model was trained on, and with which settings
  edict info waves.model
)"},
    {"init", kData, R"(
  # the settings that train would choose for this table, each with its reason
  edict init waves.csv --out waves.toml
)"},
    {"settings", kData, R"(
  # every setting, or one
  edict settings
  edict settings train.epochs
)"},
    {"train", kModels, R"(
  # one file, beside it a checkpoint and the metrics of every epoch
  edict train waves.csv --out waves.model
  # another kind of model, or other settings
  edict train waves.csv --out gru-d.model --model gru-d --set model.hidden=32
  # five models in one file, whose disagreement is part of the uncertainty
  edict train waves.csv --out five.model --members 5
  # how good such a model is on series it has not seen, five times over
  edict train waves.csv --folds 5 --json folds.json
)"},
    {"search", kModels, R"(
  # ten trials; the same command goes on where it stopped
  edict search waves.csv --out trials --budget 10 --range model.hidden=16,32
)"},
    {"classify", kModels, R"(
  # a classifier on a trained model
  edict classify waves.model waves.csv --out waves.clf
)"},
    {"calibrate", kModels, R"(
  # intervals that hold what they say, by the series that chose the model
  edict calibrate waves.model waves.csv --out calibrated.model
  # and what they then promise of series never seen
  edict predict calibrated.model waves.csv --ahead 1,2 --conformal --out ahead.csv
)"},
    {"predict", kAnswers, R"(
  # distributions at times of your choice
  edict predict waves.model waves.csv --at 0:0.5:12 --out predictions.csv
  # what comes after each series' last observation, and the chance of a limit
  edict predict waves.model waves.csv --ahead 1,2 --above x1=0.5 --out ahead.csv
  # the twenty least expected observations
  edict predict waves.model waves.csv --at events --top 20 --out surprises.csv
  # class probabilities
  edict predict waves.clf waves.csv --classes --out classes.csv
)"},
    {"impute", kAnswers, R"(
  # the table with its gaps filled, and how sure that is
  edict impute waves.model waves.csv --out filled.csv --deviations
)"},
    {"join", kAnswers, R"(
  # half of the series each, on two machines, and then one file
  edict predict waves.model waves.csv --ahead 1 --shard 1/2 --out half-1.csv
  edict predict waves.model waves.csv --ahead 1 --shard 2/2 --out half-2.csv
  edict join half-1.csv half-2.csv --out both.csv
)"},
    {"evaluate", kAnswers, R"(
  # on the series that the model has not seen
  edict evaluate waves.model waves.csv --json evaluation.json
  # of each feature, and by how long ago the series was last observed
  edict evaluate waves.model waves.csv --by feature,horizon
  # calibration, errors, classes and learning as a page to open in a browser
  edict evaluate waves.model waves.csv --html evaluation.html
)"},
    {"explore", kAnswers, R"(
  # every series in one page: search, zoom, and what surprised the model most
  edict explore waves.model waves.csv --out explore.html
  # with what a guard would change
  edict explore waves.model waves.csv --guard edgr --out guarded.html
)"},
    {"serve", kAnswers, R"(
  # observations in and distributions out, at http://127.0.0.1:8080
  edict serve waves.model --store waves.db
  # every option
  edict serve --help
)"},
    {"demo", kAnswers, R"(
  # a ward of invented patients, at the address that it prints
  edict demo
  # a larger one, at http://127.0.0.1:8080
  edict demo --streams 200 --port 8080
)"},
    {"stress", kAnswers, R"(
  # how accuracy falls as noise rises, with and without a guard
  edict stress waves.clf waves.csv --guard none,edgr --levels 0,5,9
)"},
    {"reproduce", kExperiments, R"(
  # the Synthetic half of the paper, in a few minutes
  edict reproduce --quick --out results
)"},
    {"benchmark", kExperiments, R"(
  # how far from the best there is, on a process whose exact predictor is known
  edict benchmark --tasks ornstein-uhlenbeck --out field
  # forecasts by the rules of others, on a tenth of the stays
  edict benchmark --tasks forecast --from downloads --series 800 --out field
)"},
    {"help", kPrompt, R"(
  # the same as edict train --help
  edict help train
)"},
    {"man", kPrompt, R"(
  # read it
  edict man train | man -l -
)"},
    {"completion", kPrompt, R"(
  # in ~/.bashrc; for zsh and fish the first line of the script says how
  source <(edict completion bash)
)"},
};

}  // namespace

void add_examples(CLI::App& app) {
  for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; }))
    for (CLI::App* below : command->get_subcommands([](CLI::App*) { return true; }))
      below->group("Commands");
  for (const About& about : kCommands) {
    const auto found = app.get_subcommands(
        [&](CLI::App* command) { return command->get_name() == about.command; });
    for (CLI::App* command : found) {
      command->group(std::string(about.group));
      if (!about.examples.empty()) command->footer("Examples:" + std::string(about.examples));
    }
  }
  app.footer("edict help COMMAND explains a command.\n");
}

}  // namespace edict::cli

#include "app/train/classify.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "base/files/atomic_file.h"
#include "base/json/json.h"
#include "base/json/json_text.h"
#include "base/json/json_values.h"
#include "base/text/counted.h"
#include "base/threads/interrupted.h"
#include "front/cli/command.h"
#include "front/cli/given_data.h"
#include "front/cli/processes.h"
#include "front/cli/terminal/progress.h"
#include "learn/checkpoint.h"
#include "render/json/classes_json.h"

namespace edict::cli {
namespace {

struct ClassifyArguments {
  std::string model, data, out, config_file, json;
  std::vector<std::string> assignments;
  std::vector<std::int64_t> seeds;
  std::int64_t fine_tune = -1;
  ReadOptions reading;
  int threads = 0;
};

constexpr const char* kNothingWritten = "edict: stopped; nothing was written\n";

app::ClassifyRequest request_of(const ClassifyArguments& options) {
  app::ClassifyRequest request;
  if (!options.config_file.empty()) {
    Config given;
    read_toml(options.config_file, given);
    request.base = given.classify;
  }
  request.assignments = options.assignments;
  if (options.fine_tune >= 0)
    request.assignments.push_back(fmt::format("classify.fine_tune={}", options.fine_tune));
  request.seeds = options.seeds;
  request.evaluate = true;
  return request;
}

nlohmann::json to_json(const ClassifierResult& result, const std::string& out) {
  nlohmann::json json{{"model", out},
                      {"classes", result.model.classes},
                      {"train", result.train},
                      {"validation_series", result.validation},
                      {"unlabelled", result.unlabelled},
                      {"never_seen", result.never_seen},
                      {"runs", nlohmann::json::array()},
                      {"fine_tuning", nlohmann::json::array()}};
  for (const ClassifierRun& r : result.runs)
    json["runs"].push_back({{"member", r.member + 1},
                            {"seed", r.seed},
                            {"epoch", r.epoch},
                            {"validation_accuracy", r.validation_accuracy},
                            {"validation_cross_entropy", r.validation_cross_entropy},
                            {"chosen", r.chosen}});
  for (const EpochRow& row : result.fine_tuning)
    json["fine_tuning"].push_back({{"epoch", row.epoch},
                                   {"validation_accuracy", row.validation_accuracy},
                                   {"validation_cross_entropy", row.validation_cross_entropy},
                                   {"best", row.best}});
  return json;
}

std::string readers(const Readout& readout) {
  const std::string networks = counted(readout.members.size(), "network"),
                    trees = counted(readout.trees.roots.size(), "tree");
  if (readout.trees.empty()) return networks;
  if (readout.members.empty()) return trees;
  return fmt::format("{} and {} (weight {:.2f} of the trees)", networks, trees, readout.tree_share);
}

// Shows fine-tuning, of an ensemble member by member. `member` stands at the start of its lines.
void follow(app::ClassifyRequest& request, const ClassifySettings& settings, std::size_t members,
            Progress& progress, std::string& member) {
  const auto epochs = static_cast<double>(settings.fine_tune);
  request.on_batch = [&, epochs](std::int64_t epoch, std::int64_t batch, std::int64_t batches) {
    progress.update((static_cast<double>(epoch - 1) +
                     static_cast<double>(batch) / static_cast<double>(batches)) /
                        epochs,
                    fmt::format("{}fine-tuning epoch {}", member, epoch));
  };
  request.on_epoch = [&](const EpochRow& row) {
    const std::string learnt = row.epoch == 0
                                   ? "before it"
                                   : fmt::format("epoch {:3}  cross-entropy {:.4f}  nll {:8.4f}",
                                                 row.epoch, row.cross_entropy, row.nll);
    progress.line(fmt::format(
        "{}fine-tuning: {}  | validation accuracy {:.4f}  cross-entropy {:.4f}{}", member, learnt,
        row.validation_accuracy, row.validation_cross_entropy, row.best ? "  best" : ""));
  };
  request.on_member = [&, members](std::size_t m) {
    member = fmt::format("member {} of {}: ", m + 1, members);
    progress.begin(member + "encoding the series");
  };
}

void print_runs(std::FILE* text, const ClassifierResult& result) {
  const bool several = result.model.members.size() > 1;
  for (const ClassifierRun& r : result.runs)
    fmt::print(text, "{}seed {}: validation accuracy {:.4f}, cross-entropy {:.4f} (epoch {}){}\n",
               several ? fmt::format("member {}, ", r.member + 1) : "", r.seed,
               r.validation_accuracy, r.validation_cross_entropy, r.epoch,
               r.chosen ? "  chosen" : "");
  for (std::size_t m = 0; m < result.readouts.size(); ++m) {
    const Readout& readout = result.model.members[m].readout;
    fmt::print(
        text,
        "{}readout: {} on summaries, weight {:.2f}, power {:.2f}: validation accuracy {:.4f}, "
        "cross-entropy {:.4f} ({:.4f} from h(T) alone)\n",
        several ? fmt::format("member {}, ", m + 1) : "", readers(readout), readout.share,
        readout.power, result.readouts[m].readout.accuracy(),
        result.readouts[m].readout.mean_cross_entropy(),
        result.readouts[m].state.mean_cross_entropy());
  }
}

void print(std::FILE* text, const ClassifierEvaluation& validation) {
  const ClassificationResult& r = validation.result;
  // A single class has no ranking.
  const std::string auroc = std::isnan(r.auroc.value) ? "–" : fmt::format("{:.4f}", r.auroc.value);
  fmt::print(text,
             "validation: AUROC {}, Brier {:.4f}, log loss {:.4f}; of the class shares alone: "
             "AUROC 0.5, Brier {:.4f}, log loss {:.4f}\n",
             auroc, r.brier, r.log_loss, validation.prior.brier, validation.prior.log_loss);
}

void run(const ClassifyArguments& options) {
  check_files({options.model, options.data, options.config_file}, {options.out, options.json});
  Progress progress("classifying");
  app::ClassifyRequest request = request_of(options);
  const Model frozen = load_model(options.model);
  const ClassifySettings settings = settings_of(request, frozen);
  const Dataset data = open_for(frozen, options.data, options.reading);
  request.stop = &interrupt_flag(kNothingWritten);
  WorkPool pool(options.threads);
  std::string member;
  follow(request, settings, frozen.members.size(), progress, member);
  progress.begin("encoding the series");
  const app::ClassifyResult classified = app::classify(frozen, data, request, pool);
  for (const std::string& note : classified.notes) progress.line(note_line(note));
  progress.end();
  const ClassifierResult& result = classified.classifier;
  if (result.interrupted) throw Interrupted();
  save_model(result.model, options.out);
  if (!result.fine_tuning.empty()) write_metrics(result.fine_tuning, metrics_path(options.out));
  std::FILE* const text = text_stream({options.out, options.json});
  print_runs(text, result);
  if (classified.validation) print(text, *classified.validation);
  fmt::print(text, "{}: {} classes from {} training and {} validation series ({})\n", options.out,
             result.model.classes.size(), result.train, result.validation,
             duration(progress.seconds()));
  nlohmann::json json = to_json(result, options.out);
  json["validation"] = json_or_null(classified.validation);
  write_json(options.json, json);
}

}  // namespace

void add_classify(CLI::App& app) {
  auto options = std::make_shared<ClassifyArguments>();
  CLI::App* command =
      app.add_subcommand("classify", "Train a classifier on the states h(T) of a trained model");
  command->add_option("model", options->model, "a model from `edict train`")
      ->required()
      ->type_name("MODEL");
  command->add_option("data", options->data, "labelled data")->required()->type_name("DATA.csv");
  add_output(*command, "--out", options->out, "model and classifier in one file")
      ->required()
      ->type_name("CLF");
  command->add_option("--config", options->config_file, "TOML file; its [classify] table is read")
      ->check(CLI::ExistingFile);
  command->add_option("--set", options->assignments, "one setting, as classify.layers=2")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command->add_option("--seeds", options->seeds, "of the classifiers; default 0,1,2")
      ->delimiter(',')
      ->type_name("N,...")
      ->check(within(std::int64_t{0}, std::int64_t{9000000000000000}));
  command
      ->add_option("--fine-tune", options->fine_tune,
                   "epochs in which the whole model is trained on the classes too")
      ->type_name("EPOCHS")
      ->check(within(std::int64_t{0}, std::int64_t{1000000}));
  add_json(*command, options->json);
  add_reading(*command, options->reading);
  add_threads(*command, options->threads);
  command->callback([options] { run(*options); });
}

}  // namespace edict::cli

#include "research/run.h"

#include <fmt/format.h>

#include <ctime>
#include <fstream>

#include "app/train/train.h"
#include "base/error.h"
#include "base/files/atomic_file.h"
#include "base/files/read_file.h"
#include "base/hash.h"
#include "base/json/json.h"
#include "base/json/json_text.h"
#include "learn/classifier/classifier_training.h"
#include "render/json/scores_json.h"
#include "render/json/stress_json.h"

namespace edict::study {
namespace {

using nlohmann::json;

constexpr std::size_t kBrowsed = 24;  // series

std::string slug(const std::string& text) {
  std::string result;
  for (const char c : text)
    if (std::isalnum(static_cast<unsigned char>(c)))
      result += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    else if (!result.empty() && result.back() != '-')
      result += '-';
  while (result.ends_with('-')) result.pop_back();
  return result;
}

std::vector<std::string> names_of(const std::vector<Guard>& guards) {
  std::vector<std::string> names;
  for (const Guard& guard : guards) names.emplace_back(name_of(guard.kind));
  return names;
}

std::string hash_text(std::string_view text) { return Hash().text(text).hex(); }

// Nothing where the file is missing, was made from other inputs, or lacks anything.
template <class Result>
std::optional<Result> read_stage(const std::filesystem::path& file, const std::string& key) {
  if (!std::filesystem::exists(file)) return std::nullopt;
  const json found = parse_json(read_file(file));
  try {
    if (found.is_object() && found.at("inputs") == key) return found.get<Result>();
  } catch (const json::exception&) {  // a field is missing or of another type
  } catch (const Error&) {            // fields that contradict each other
  }
  return std::nullopt;
}

}  // namespace

Run::Run(RunSpec spec, const Dataset& data, std::uint64_t data_fingerprint,
         const std::filesystem::path& runs)
    : spec_(std::move(spec)), data_(data), split_(split(data, spec_.config.data)) {
  has_distribution_ = Model::create(spec_.config, data_, split_).network->has_distribution();
  labelled_ = data_.labelled();
  json settings = to_json(spec_.config);
  settings.erase("classify");
  key_ = hash_text(fmt::format("{}\n{}\n{}", spec_.sources, data_fingerprint, json_text(settings)));
  name_ = fmt::format("{}-{}-{}", spec_.data.name, slug(spec_.method), key_.substr(0, 8));
  folder_ = runs / name_;
}

// `done` reads the file of the stage; `perform` works and writes it.
struct Run::Stage {
  std::string name;
  double cost;
  std::function<bool(RunResults&)> done;
  std::function<void(ThreadPool&, const RunHooks&, const Tell&)> perform;
};

template <class Result>
Run::Stage Run::stage(const char* name, std::string key, double cost,
                      Result (Run::*work)(ThreadPool&, const RunHooks&, const Tell&) const,
                      std::optional<Result> RunResults::*place) const {
  const std::filesystem::path file = folder_ / fmt::format("{}.json", name);
  return {name, cost,
          [=](RunResults& results) {
            results.*place = read_stage<Result>(file, key);
            return (results.*place).has_value();
          },
          [=, this](ThreadPool& pool, const RunHooks& hooks, const Tell& tell) {
            json output = to_json((this->*work)(pool, hooks, tell));
            output["inputs"] = key;
            write_atomically(file, json_text(output, 1) + "\n");
          }};
}

std::vector<Run::Stage> Run::stages() const {
  const auto thousands = [](std::size_t n) { return static_cast<double>(n) / 1000; };
  const double test = thousands(split_.test.size()), all = thousands(data_.size());
  std::vector<Stage> stages;
  // A training step goes forward and backward; models without a solver are several times cheaper.
  stages.push_back(stage("train", key_,
                         static_cast<double>(spec_.config.train.epochs) *
                             thousands(split_.train.size()) * (has_distribution_ ? 3.0 : 1.5),
                         &Run::train_model, &RunResults::training));
  if (has_distribution_)
    stages.push_back(stage("evaluate", key_, test, &Run::evaluate_model, &RunResults::evaluation));
  const json classifier{to_json(spec_.config)["classify"], spec_.seeds};
  const std::string classifier_key =
      has_distribution_ ? hash_text(key_ + json_text(classifier)) : key_;
  if (labelled_) {
    if (has_distribution_)
      stages.push_back(stage("classify", classifier_key, all, &Run::train_classifiers,
                             &RunResults::classifiers));
    const json sweep{spec_.levels, spec_.seeds, names_of(spec_.guards), spec_.data.rate,
                     spec_.data.rate_unit};
    const auto encodings =
        static_cast<double>(spec_.guards.size() * (1 + spec_.levels.size() * spec_.seeds.size()));
    stages.push_back(stage("stress", hash_text(classifier_key + json_text(sweep)), test * encodings,
                           &Run::stress_model, &RunResults::stress));
  }
  if (has_distribution_) {
    const json noise{spec_.levels, spec_.data.rate, spec_.data.rate_unit};
    stages.push_back(stage("browse", hash_text(classifier_key + json_text(noise)), 0.1,
                           &Run::browse_series, &RunResults::browse));
  }
  return stages;
}

RunResults Run::results() const {
  RunResults results;
  for (const Stage& stage : stages()) stage.done(results);
  return results;
}

double Run::pending() const {
  double cost = 0;
  RunResults results;
  for (const Stage& stage : stages())
    if (!stage.done(results)) cost += stage.cost;
  return cost;
}

void Run::conduct(ThreadPool& pool, const RunHooks& hooks) const {
  const double all = pending();
  const auto checkpoint = checkpoint_path(folder_ / "model");
  // One that is not needed any more is left where a run ended before it could remove it.
  if (results().training) std::filesystem::remove(checkpoint);
  if (all == 0) return;
  make_folder(folder_);
  write_atomically(folder_ / "config.toml", to_toml(spec_.config));
  write_atomically(folder_ / "command.txt", commands());
  double done = 0;
  RunResults results;
  for (const Stage& stage : stages()) {
    if (stage.done(results)) continue;
    leave_if_stopped(hooks.stop);
    log(stage.name + " …");
    const auto tell = [&](double share, const std::string& note) {
      if (hooks.progress) hooks.progress((done + share * stage.cost) / all, note);
    };
    try {
      stage.perform(pool, hooks, tell);
    } catch (const Interrupted&) {
      throw;
    } catch (const std::exception& e) {
      log(fmt::format("{} failed: {}", stage.name, e.what()));
      throw;
    }
    if (stage.name == "train") std::filesystem::remove(checkpoint);
    log(stage.name + " done");
    tell(1.0, stage.name);
    done += stage.cost;
  }
}

TrainingSummary Run::train_model(ThreadPool& pool, const RunHooks& hooks, const Tell& tell) const {
  app::TrainRequest request;
  request.out = folder_ / "model";
  request.resume = true;
  request.stop = hooks.stop;
  const auto epochs = static_cast<double>(spec_.config.train.epochs);
  request.progress.on_batch = [&](std::int64_t epoch, std::int64_t batch, std::int64_t batches,
                                  const LossSums&) {
    const double done =
        static_cast<double>(epoch - 1) + static_cast<double>(batch) / static_cast<double>(batches);
    tell(done / epochs, fmt::format("epoch {} of {:g}", epoch, epochs));
  };
  request.progress.on_epoch = [&](const EpochRow& row) {
    log(has_distribution_
            ? fmt::format("epoch {}: nll {:.4f}, validation nll {:.4f}, mse {:.5f}", row.epoch,
                          row.nll, row.validation_nll, row.validation_mse)
            : fmt::format("epoch {}: cross-entropy {:.4f}, validation {:.4f}, accuracy {:.4f}",
                          row.epoch, row.cross_entropy, row.validation_cross_entropy,
                          row.validation_accuracy));
  };
  const app::TrainedModel trained =
      train({Model::create(spec_.config, data_, split_), split_}, data_, request, pool);
  if (trained.interrupted) throw Interrupted();
  const std::vector<EpochRow>& rows = trained.members.front().rows;
  TrainingSummary summary;
  summary.epochs = std::ssize(rows);
  summary.parameters = trained.model.first().params.size();
  for (const EpochRow& row : rows) {
    if (row.best) summary.best_epoch = row.epoch;
    summary.validation.push_back(has_distribution_ ? row.validation_nll
                                                   : row.validation_cross_entropy);
  }
  return summary;
}

Evaluation Run::evaluate_model(ThreadPool& pool, const RunHooks&, const Tell&) const {
  return evaluate(load_model(folder_ / "model"), data_, split_.test, pool);
}

ClassifierScores Run::train_classifiers(ThreadPool& pool, const RunHooks& hooks,
                                        const Tell& tell) const {
  ClassifierOptions options;
  options.settings = spec_.config.classify;
  options.seeds = spec_.seeds;
  options.stop = hooks.stop;
  const auto epochs = static_cast<double>(std::max<std::int64_t>(1, options.settings.fine_tune));
  options.on_batch = [&](std::int64_t epoch, std::int64_t, std::int64_t) {
    tell(static_cast<double>(epoch - 1) / epochs, fmt::format("fine-tuning epoch {}", epoch));
  };
  const ClassifierResult result =
      train_classifier(load_model(folder_ / "model"), data_, split_, pool, options);
  if (result.interrupted) throw Interrupted();
  save_model(result.model, folder_ / "classifier");
  ClassifierScores scores;
  for (const ClassifierRun& run : result.runs)
    scores.seeds.push_back(
        {run.seed, run.epoch, run.validation_accuracy, run.validation_cross_entropy});
  return scores;
}

StressResult Run::stress_model(ThreadPool& pool, const RunHooks& hooks, const Tell& tell) const {
  StressOptions options;
  options.guards = spec_.guards;
  options.levels = spec_.levels;
  options.seeds = spec_.seeds;
  options.noise.unit = spec_.data.rate_unit;
  options.largest = spec_.data.rate;
  options.stop = hooks.stop;
  options.progress = [&](std::size_t done, std::size_t all) {
    tell(static_cast<double>(done) / static_cast<double>(all),
         fmt::format("noise {} of {}", done, all));
  };
  const Model model = load_model(folder_ / (has_distribution_ ? "classifier" : "model"));
  return stress(model, data_, split_.test, pool, options);
}

Browse Run::browse_series(ThreadPool& pool, const RunHooks&, const Tell&) const {
  BrowseOptions options;
  options.noise_level = spec_.levels[spec_.levels.size() / 2];
  options.noise.unit = spec_.data.rate_unit;
  options.noise = noise_at(options.noise, options.noise_level, spec_.data.rate);
  return browse(load_model(folder_ / (labelled_ ? "classifier" : "model")), data_,
                spread(split_.test, kBrowsed), pool, options);
}

std::string Run::commands() const {
  const std::string& data = spec_.data_path;
  std::string text =
      "# Redoes this run by hand, inside this folder; files of the same name are replaced.\n";
  const auto add = [&](std::string line,
                       const std::vector<std::pair<const char*, std::string>>& options) {
    for (const auto& [name, value] : options) line += " " + command_line_option(name, value);
    text += line + "\n";
  };
  const std::string seeds = fmt::format("{}", fmt::join(spec_.seeds, ","));
  if (spec_.data.file.empty())
    add("edict generate synthetic", {{"series", fmt::format("{}", spec_.data.series)},
                                     {"seed", fmt::format("{}", spec_.data.seed)},
                                     {"out", data}});
  add("edict train " + data, {{"config", "config.toml"}, {"out", "model"}, {"force", ""}});
  if (has_distribution_) add("edict evaluate model " + data, {{"json", "evaluate.json"}});
  if (!labelled_) return text;
  if (has_distribution_)
    add("edict classify model " + data,
        {{"config", "config.toml"}, {"seeds", seeds}, {"out", "classifier"}});
  add(fmt::format("edict stress {} {}", has_distribution_ ? "classifier" : "model", data),
      {{"guard", fmt::format("{}", fmt::join(names_of(spec_.guards), ","))},
       {"levels", fmt::format("{}", fmt::join(spec_.levels, ","))},
       {"seeds", seeds},
       {"rate", fmt::format("{}", spec_.data.rate)},
       {"unit", fmt::format("{}", spec_.data.rate_unit)},
       {"json", "stress.json"}});
  return text;
}

void Run::log(const std::string& line) const {
  const std::time_t now = std::time(nullptr);
  char stamp[32];
  std::strftime(stamp, sizeof stamp, "%Y-%m-%d %H:%M:%S", std::gmtime(&now));
  std::ofstream(folder_ / "log.txt", std::ios::app) << stamp << "  " << line << "\n";
}

}  // namespace edict::study

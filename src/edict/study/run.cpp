#include "edict/study/run.h"

#include <fmt/format.h>

#include <ctime>
#include <fstream>
#include <iterator>

#include "edict/core/atomic_file.h"
#include "edict/core/error.h"
#include "edict/core/hash.h"
#include "edict/core/json_text.h"
#include "edict/eval/evaluate.h"
#include "edict/eval/stress.h"
#include "edict/study/browse.h"
#include "edict/train/classifier_training.h"

namespace edict {
namespace {

using nlohmann::json;

// Results of other programs are not reused. The counter rises when the same settings come to mean
// something else.
constexpr const char* kCode = "edict " EDICT_VERSION " results 2";
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

void check(const RunHooks& hooks) { leave_if_stopped(hooks.stop); }

void tell(const RunHooks& hooks, double share, const std::string& note) {
  if (hooks.progress) hooks.progress(share, note);
}

std::string hash_text(std::string_view text) { return Hash().text(text).hex(); }

}  // namespace

Run::Run(RunSpec spec, const Dataset& data, std::uint64_t data_fingerprint,
         const std::filesystem::path& runs)
    : spec_(std::move(spec)), data_(data), split_(split(data, spec_.config.data)) {
  has_distribution_ = Model::create(spec_.config, data_, split_).network->has_distribution();
  labelled_ = data_.labelled();
  json settings = to_json(spec_.config);
  settings.erase("classify");
  key_ = hash_text(fmt::format("{}\n{}\n{}", kCode, data_fingerprint, json_text(settings)));
  name_ = fmt::format("{}-{}-{}", spec_.data.name, slug(spec_.method), key_.substr(0, 8));
  folder_ = runs / name_;
}

std::vector<Run::Stage> Run::stages() const {
  const auto thousands = [](std::size_t n) { return static_cast<double>(n) / 1000; };
  const double test = thousands(split_.test.size()), all = thousands(data_.size());
  std::vector<Stage> stages;
  // A training step walks forth and back; models without a solver are several times cheaper.
  stages.push_back({"train", key_,
                    static_cast<double>(spec_.config.train.epochs) *
                        thousands(split_.train.size()) * (has_distribution_ ? 3.0 : 1.5),
                    &Run::train_model});
  if (has_distribution_) stages.push_back({"evaluate", key_, test, &Run::evaluate_model});
  const json classifier{to_json(spec_.config)["classify"], spec_.seeds};
  const std::string classifier_key =
      has_distribution_ ? hash_text(key_ + json_text(classifier)) : key_;
  if (labelled_) {
    if (has_distribution_) stages.push_back({"classify", classifier_key, all, &Run::classify});
    const json sweep{spec_.levels, spec_.seeds, names_of(spec_.guards), spec_.data.rate,
                     spec_.data.rate_unit};
    stages.push_back({"stress", hash_text(classifier_key + json_text(sweep)),
                      test * static_cast<double>(spec_.guards.size() *
                                                 (1 + spec_.levels.size() * spec_.seeds.size())),
                      &Run::stress_model});
  }
  if (has_distribution_)
    stages.push_back({"browse",
                      hash_text(classifier_key + json_text(json{spec_.levels, spec_.data.rate,
                                                                spec_.data.rate_unit})),
                      0.1, &Run::browse_series});
  return stages;
}

json Run::read(const Stage& stage) const {
  std::ifstream in(folder_ / (stage.name + ".json"));
  if (!in) return {};
  const json found = parse_json(std::string(std::istreambuf_iterator<char>(in), {}));
  return found.is_object() && found.value("inputs", "") == stage.key ? found : json();
}

json Run::result(std::string_view name) const {
  for (const Stage& stage : stages())
    if (stage.name == name) return read(stage);
  return {};
}

double Run::pending() const {
  double cost = 0;
  for (const Stage& stage : stages())
    if (!done(stage)) cost += stage.cost;
  return cost;
}

void Run::conduct(ThreadPool& pool, const RunHooks& hooks) const {
  const double all = pending();
  if (all == 0) return;
  std::filesystem::create_directories(folder_);
  write_atomically(folder_ / "config.toml", to_toml(spec_.config));
  write_atomically(folder_ / "command.txt", commands());
  double share = 0;
  for (const Stage& stage : stages()) {
    if (done(stage)) continue;
    check(hooks);
    log(stage.name + " …");
    json output;
    try {
      (this->*stage.work)(pool, hooks, share / all, stage.cost / all, output);
    } catch (const Interrupted&) {
      throw;
    } catch (const std::exception& e) {
      log(fmt::format("{} failed: {}", stage.name, e.what()));
      throw;
    }
    output["inputs"] = stage.key;
    write_atomically(folder_ / (stage.name + ".json"), json_text(output, 1) + "\n");
    if (stage.name == "train") std::filesystem::remove(checkpoint_path(folder_ / "model"));
    log(stage.name + " done");
    share += stage.cost;
    tell(hooks, share / all, stage.name);
  }
}

void Run::train_model(ThreadPool& pool, const RunHooks& hooks, double from, double cost,
                      json& output) const {
  Model model = Model::create(spec_.config, data_, split_);
  TrainOptions options;
  options.out = folder_ / "model";
  options.resume = true;
  options.stop = hooks.stop;
  const auto epochs = static_cast<double>(spec_.config.train.epochs);
  options.on_batch = [&](std::int64_t epoch, std::int64_t batch, std::int64_t batches,
                         const LossSums&) {
    const double done =
        static_cast<double>(epoch - 1) + static_cast<double>(batch) / static_cast<double>(batches);
    tell(hooks, from + cost * done / epochs, fmt::format("epoch {} of {:g}", epoch, epochs));
  };
  options.on_epoch = [&](const EpochRow& row) {
    log(has_distribution_
            ? fmt::format("epoch {}: nll {:.4f}, validation nll {:.4f}, mse {:.5f}", row.epoch,
                          row.nll, row.validation_nll, row.validation_mse)
            : fmt::format("epoch {}: cross-entropy {:.4f}, validation {:.4f}, accuracy {:.4f}",
                          row.epoch, row.cross_entropy, row.validation_cross_entropy,
                          row.validation_accuracy));
  };
  const TrainResult result = train(model, data_, split_, pool, options);
  if (result.interrupted) throw Interrupted();
  output["epochs"] = result.rows.size();
  output["parameters"] = model.params.size();
  for (const EpochRow& row : result.rows) {
    if (row.best) output["best_epoch"] = row.epoch;
    output["validation"].push_back(has_distribution_ ? row.validation_nll
                                                     : row.validation_cross_entropy);
  }
}

void Run::evaluate_model(ThreadPool& pool, const RunHooks&, double, double, json& output) const {
  output = to_json(evaluate(load_model(folder_ / "model"), data_, split_.test, pool));
}

void Run::classify(ThreadPool& pool, const RunHooks& hooks, double from, double cost,
                   json& output) const {
  ClassifierOptions options;
  options.settings = spec_.config.classify;
  options.seeds = spec_.seeds;
  options.stop = hooks.stop;
  const auto epochs = static_cast<double>(std::max<std::int64_t>(1, options.settings.fine_tune));
  options.on_batch = [&](std::int64_t epoch, std::int64_t, std::int64_t) {
    tell(hooks, from + cost * static_cast<double>(epoch - 1) / epochs,
         fmt::format("fine-tuning epoch {}", epoch));
  };
  const ClassifierResult result =
      train_classifier(load_model(folder_ / "model"), data_, split_, pool, options);
  if (result.interrupted) throw Interrupted();
  save_model(result.model, folder_ / "classifier");
  for (const ClassifierRun& run : result.runs)
    output["seeds"].push_back({{"seed", run.seed},
                               {"epoch", run.epoch},
                               {"validation_accuracy", run.validation_accuracy},
                               {"validation_cross_entropy", run.validation_cross_entropy}});
}

void Run::stress_model(ThreadPool& pool, const RunHooks& hooks, double from, double cost,
                       json& output) const {
  StressOptions options;
  options.guards = spec_.guards;
  options.levels = spec_.levels;
  options.seeds = spec_.seeds;
  options.noise.unit = spec_.data.rate_unit;
  options.largest = spec_.data.rate;
  options.stop = hooks.stop;
  options.progress = [&](std::size_t done, std::size_t all) {
    tell(hooks, from + cost * static_cast<double>(done) / static_cast<double>(all),
         fmt::format("noise {} of {}", done, all));
  };
  const Model model = load_model(folder_ / (has_distribution_ ? "classifier" : "model"));
  output = to_json(stress(model, data_, split_.test, pool, options));
}

void Run::browse_series(ThreadPool& pool, const RunHooks&, double, double, json& output) const {
  BrowseOptions options;
  options.noise_level = spec_.levels[spec_.levels.size() / 2];
  options.noise.unit = spec_.data.rate_unit;
  options.noise = noise_at(options.noise, options.noise_level, spec_.data.rate);
  output = browse(load_model(folder_ / (labelled_ ? "classifier" : "model")), data_,
                  spread(split_.test, kBrowsed), pool, options);
}

std::string Run::commands() const {
  const std::string& data = spec_.data_path;
  std::string text =
      "# Redoes this run by hand, inside this folder; files of the same name are replaced.\n";
  if (spec_.data.file.empty())
    text += fmt::format("edict generate synthetic --series {} --seed {} --out {}\n",
                        spec_.data.series, spec_.data.seed, data);
  text += fmt::format("edict train {} --config config.toml --out model --force\n", data);
  if (has_distribution_)
    text += fmt::format("edict evaluate model {} --json evaluate.json\n", data);
  if (!labelled_) return text;
  if (has_distribution_)
    text +=
        fmt::format("edict classify model {} --config config.toml --seeds {} --out classifier\n",
                    data, fmt::join(spec_.seeds, ","));
  text += fmt::format(
      "edict stress {} {} --guard {} --levels {} --seeds {} --rate {} --unit {} --json "
      "stress.json\n",
      has_distribution_ ? "classifier" : "model", data, fmt::join(names_of(spec_.guards), ","),
      fmt::join(spec_.levels, ","), fmt::join(spec_.seeds, ","), spec_.data.rate,
      spec_.data.rate_unit);
  return text;
}

void Run::log(const std::string& line) const {
  const std::time_t now = std::time(nullptr);
  char stamp[32];
  std::strftime(stamp, sizeof stamp, "%Y-%m-%d %H:%M:%S", std::gmtime(&now));
  std::ofstream(folder_ / "log.txt", std::ios::app) << stamp << "  " << line << "\n";
}

}  // namespace edict

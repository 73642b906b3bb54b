#include "research/search/search_folder.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "base/error.h"
#include "base/files/atomic_file.h"
#include "base/files/claims.h"
#include "base/files/folder.h"
#include "base/files/read_file.h"
#include "base/json/json.h"
#include "base/json/json_text.h"
#include "data/read/csv/csv.h"
#include "learn/trainer.h"

namespace edict::study {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

json read(const fs::path& path) {
  json found = parse_json(read_file(path));
  if (found.is_discarded())
    throw Error(fmt::format("{}: not a file of a search; remove it or search in another folder",
                            path.string()));
  return found;
}

// JSON has no NaN; it is null there.
double number(const json& value) { return value.is_null() ? std::nan("") : value.get<double>(); }

json to_json(const SearchPlan& plan) {
  json ranges = json::array();
  for (const SearchRange& r : plan.ranges)
    ranges.push_back({{"key", r.key},
                      {"low", r.low},
                      {"high", r.high},
                      {"log", r.logarithmic},
                      {"choices", r.choices}});
  return {{"data", fmt::format("{:016x}", plan.subject)},
          {"config", to_json(plan.base)},
          {"ranges", ranges},
          {"seed", plan.seed},
          {"epochs", plan.epochs}};
}

json to_json(const Outcome& o) {
  if (!o.failure.empty())
    return {{"trial", o.trial},
            {"rung", o.rung},
            {"epochs", o.epochs},
            {"seconds", o.seconds},
            {"failure", o.failure}};
  return {{"trial", o.trial},
          {"rung", o.rung},
          {"epochs", o.epochs},
          {"seconds", o.seconds},
          {"interpolation", {{"nll", o.nll}, {"mse", o.mse}, {"ece", o.ece}}},
          {"extrapolation", {{"nll", o.extrapolation_nll}, {"mse", o.extrapolation_mse}}}};
}

Outcome from_json(const json& j, const fs::path& path) {
  try {
    Outcome o;
    o.trial = j.at("trial");
    o.rung = j.at("rung");
    o.epochs = j.at("epochs");
    o.seconds = j.at("seconds");
    if (j.contains("failure")) {
      o.failure = j.at("failure");
      return o;
    }
    const json &inside = j.at("interpolation"), &after = j.at("extrapolation");
    o.nll = number(inside.at("nll"));
    o.mse = number(inside.at("mse"));
    o.ece = number(inside.at("ece"));
    o.extrapolation_nll = number(after.at("nll"));
    o.extrapolation_mse = number(after.at("mse"));
    return o;
  } catch (const json::exception&) {
    throw Error(
        fmt::format("{}: a result is incomplete; remove the file to run it again", path.string()));
  }
}

// Nothing is there but what a search left that was killed, or that others are at, while it wrote
// down what is searched.
bool unused(const fs::path& folder) {
  return std::ranges::all_of(entries_of(folder), [](const fs::path& path) {
    const std::string name = path.filename().string();
    return name.starts_with("search.json.") && name.ends_with(".tmp");
  });
}

}  // namespace

SearchFolder::SearchFolder(fs::path folder, const SearchPlan& searched, bool shared)
    : folder_(std::move(folder)) {
  const json plan = to_json(searched);
  make_folder(folder_);
  const fs::path file = folder_ / "search.json";
  for (int i = 0; shared && i < 20 && !fs::exists(file) && !unused(folder_); ++i)
    wait_for_others(nullptr);
  if (!fs::exists(file)) {
    if (!unused(folder_))
      throw Error(ErrorCode::exists, {.subject = folder_.string(),
                                      .problem = "is not empty and holds no search",
                                      .remedy = "give another " + option("out")});
    write_atomically(file, json_text(plan, 2) + "\n");
    return;
  }
  const json before = read(file);
  for (const auto& [name, value] : plan.items())
    if (!before.contains(name) || before[name] != value)
      throw Error(ErrorCode::mismatch, {.subject = folder_.string(),
                                        .problem = "was searched with another " + name,
                                        .remedy = "give the same, or another " + option("out")});
}

fs::path SearchFolder::trial_folder(std::size_t trial) const {
  return folder_ / fmt::format("trial-{:04}", trial);
}

bool SearchFolder::finished(const Step& step) const {
  return fs::exists(trial_folder(step.trial) / fmt::format("rung-{}.json", step.rung));
}

fs::path SearchFolder::model_path(const Step& step) const {
  return trial_folder(step.trial) / fmt::format("rung-{}.model", step.rung);
}

std::vector<Outcome> SearchFolder::read_outcomes() const {
  std::vector<Outcome> outcomes;
  for (const fs::path& trial : entries_of(folder_)) {
    if (!fs::is_directory(trial) || !trial.filename().string().starts_with("trial-")) continue;
    for (const fs::path& file : entries_of(trial))
      if (file.extension() == ".json") outcomes.push_back(from_json(read(file), file));
  }
  std::sort(outcomes.begin(), outcomes.end(), [](const Outcome& a, const Outcome& b) {
    return std::tie(a.rung, a.trial) < std::tie(b.rung, b.trial);
  });
  return outcomes;
}

void SearchFolder::begin(const Step& step, const Config& config) const {
  make_folder(trial_folder(step.trial));
  write_atomically(trial_folder(step.trial) / "config.toml", to_toml(config));
}

void SearchFolder::finish(const Outcome& outcome) const {
  write_atomically(trial_folder(outcome.trial) / fmt::format("rung-{}.json", outcome.rung),
                   json_text(to_json(outcome), 2) + "\n");
}

void SearchFolder::remove_checkpoints(const std::vector<Outcome>& outcomes) const {
  for (const Outcome& outcome : outcomes)
    fs::remove(checkpoint_path(model_path({outcome.trial, outcome.rung})));
}

void SearchFolder::write_table(const std::vector<Outcome>& outcomes,
                               const std::vector<SearchRange>& ranges,
                               const std::vector<Config>& configs) const {
  std::string text =
      "trial,rung,epochs,seconds,interpolation_nll,interpolation_mse,interpolation_ece,"
      "extrapolation_nll,extrapolation_mse";
  for (const SearchRange& range : ranges) text += "," + range.key;
  text += ",failure\n";
  const auto cell = [](double value) {
    return std::isnan(value) ? std::string() : fmt::format("{:.6g}", value);
  };
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    const Outcome& o = outcomes[i];
    text += fmt::format("{},{},{},{:.1f},", o.trial, o.rung, o.epochs, o.seconds);
    text += o.failure.empty() ? fmt::format("{},{},{},{},{}", cell(o.nll), cell(o.mse), cell(o.ece),
                                            cell(o.extrapolation_nll), cell(o.extrapolation_mse))
                              : ",,,,";
    for (const SearchRange& range : ranges)
      text += fmt::format(",{}", setting_text(configs[i], range.key));
    text += fmt::format(",{}\n", csv_cell(o.failure));
  }
  write_atomically(folder_ / "trials.csv", text);
}

void SearchFolder::write_best(const Outcome& best, const Config& config) const {
  write_atomically(
      folder_ / "best.toml",
      fmt::format("# Trial {} of a search, after {} of {} epochs: validation interpolation NLL "
                  "{:.4f}, MSE {:.4f}.\n{}",
                  best.trial, best.epochs, config.train.epochs, best.nll, best.mse,
                  to_toml(config)));
}

}  // namespace edict::study

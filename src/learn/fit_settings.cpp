#include "learn/fit_settings.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/text/counted.h"
#include "base/text/utf8.h"
#include "data/name_listing.h"
#include "model/registry.h"
#include "protocol/protocol.h"

namespace edict {
namespace {

// The length of a series in the model's time, at least.
constexpr double kSpan = 12.0;
// Solver steps over that length: a step as long as the usual gap, within these.
constexpr double kFewestSteps = 32.0, kMostSteps = 128.0;

// Observations to learn from in a whole run, and the epochs that this may come to.
constexpr double kObservationsToSee = 30e6;
constexpr double kFewestEpochs = 8.0, kMostEpochs = 80.0;
// A run of fewer steps than this ends before Adam has gone anywhere, however few series there are.
constexpr double kFewestUpdates = 2000.0, kMostEpochsOfFew = 1000.0;

// A cut that no time reaches, nor one of a series that is measured next year.
constexpr double kNever = 1e30;

// A median gap that is this share of the mean gap is hardly seen beside the longest ones.
constexpr double kHardlySeen = 1e-3;

// Fewer series than this are divided in exact shares, 70/15/15: a draw for each of 40 series can
// leave two of them to validate by. Of fewer than kFewSeries a larger share validates.
constexpr std::size_t kExactShares = 200, kFewSeries = 30;

constexpr std::size_t kFewestSeriesToRead = 100, kMostSeriesToRead = 20000;

std::string_view key_of(std::string_view assignment) {
  return assignment.substr(0, assignment.find('='));
}

// Writes settings down together with their reasons.
class Choices {
 public:
  Choices(FittedSettings& fitted, std::span<const std::string> given)
      : fitted_(fitted), keys_(keys(fitted.config)), given_(given) {
    for (const std::string& assignment : given) settings::assign(keys_, assignment);
  }

  bool given(std::string_view key) const {
    return std::ranges::any_of(given_, [&](const auto& one) { return key_of(one) == key; });
  }

  void choose(std::string_view key, const settings::Value& value, const std::string& why) {
    if (given(key)) return;
    const settings::Key& setting = settings::find(keys_, key, "chosen settings");
    setting.set(value);
    fitted_.choices.push_back({setting.name, settings::value_text(setting), why});
  }

  void add_given() {
    for (const std::string& assignment : given_) {
      const settings::Key& setting = settings::find(keys_, key_of(assignment), option(kAssignment));
      const auto same = [&](const SettingChoice& c) { return c.key == setting.name; };
      if (std::ranges::none_of(fitted_.choices, same))
        fitted_.choices.push_back(
            {setting.name, settings::value_text(setting), "given, not chosen", true});
    }
  }

 private:
  FittedSettings& fitted_;
  settings::Keys keys_;
  std::span<const std::string> given_;
};

// Chance may leave a part empty where series are few. The first seed that leaves none is as good a
// split as any other, and a function of the ids alone.
void choose_split(const Dataset& data, DataSettings& settings, Choices& choices) {
  if (data.size() < 2)
    throw Error(fmt::format(
        "{}: training needs other series to choose the best epoch by; cut a long series into "
        "several, say one a day, each with an id of its own",
        data.size() == 1 ? fmt::format("there is a single series ('{}')", data.ids[0])
                         : std::string("there is no series")));
  if (!data.continues.empty()) {
    const std::string why =
        "few long series are cut into pieces: the last of each are the test split";
    choices.choose("data.split", std::string("time"), why);
    choices.choose("data.train", 0.75, why);
    choices.choose("data.validation", 0.15, why);
  } else if (data.size() < kExactShares) {
    const std::string why =
        fmt::format("exact shares and a larger validation share, because there are only {} series",
                    data.size());
    if (settings.split == SplitBy::series)
      choices.choose("data.split", std::string("stratified"), why);
    const double train = data.size() < 5 ? 0.5 : data.size() < kFewSeries ? 0.6 : 0.7;
    choices.choose("data.train", train, why);
    choices.choose("data.validation", data.size() < kFewSeries ? 0.8 - train : 0.15, why);
  }
  const auto usable = [&](std::int64_t seed) {
    DataSettings tried = settings;
    tried.seed = seed;
    const Split parts = split(data, tried);
    const auto has_event = [&](std::size_t i) { return data.events(i) > 0; };
    return std::ranges::any_of(parts.train, has_event) &&
           std::ranges::any_of(parts.validation, has_event) &&
           (data.size() == 2 || !parts.test.empty()) &&
           3 * parts.train.size() >= std::min(data.size(), kFewSeries);
  };
  if (choices.given("data.seed") || usable(settings.seed)) return;
  constexpr std::int64_t kTries = 1000;
  for (std::int64_t seed = 1; seed < kTries; ++seed)
    if (usable(seed)) {
      choices.choose("data.seed", seed, "the first seed that leaves no part of the split empty");
      return;
    }
}

// The model's unit of time: how long values remember. A GRU-ODE forgets at a rate of at most one a
// unit: in a much shorter unit it cannot turn often enough, in a longer one every gap costs more
// steps.
double time_unit(const DataFacts& facts, double span) {
  const double longest = span / kSpan;
  return facts.memory > 0 ? std::min(longest, std::max(facts.memory, facts.median_gap)) : longest;
}

void choose_time(const DataFacts& facts, const DataSettings& settings, Choices& choices) {
  const double span =
      facts.one_clock && !facts.pieces ? facts.last_time - facts.first_time : facts.length;
  if (!(span > 0)) {
    const std::string why = "all series have one and the same time; no forecast is evaluated";
    choices.choose("data.start", std::string("first"), why);
    choices.choose("data.t_cut", kNever, why);
    return;
  }
  if (facts.pieces) {
    const std::string why = "forecasts are evaluated from many times along each series";
    choices.choose("data.start", std::string("first"), why);
    if (!choices.given("data.t_cut")) choices.choose("data.cut_share", kCutShare, why);
  } else if (facts.one_clock) {
    const std::string why = fmt::format(
        "the series share one clock, from {:.6g} to {:.6g}; forecasts of the last quarter {}are "
        "evaluated",
        facts.first_time, facts.last_time, facts.reach_cut ? "" : "of each ");
    choices.choose("data.start", std::string("origin"), why);
    if (settings.start == ClockStart::origin) choices.choose("data.origin", facts.first_time, why);
    if ((settings.start == ClockStart::first || !facts.reach_cut) && !choices.given("data.t_cut"))
      choices.choose("data.cut_share", kCutShare, why);
    else if (settings.cut_share == 0)
      choices.choose("data.t_cut", facts.first_time + kCutShare * span, why);
  } else {
    const std::string why = fmt::format(
        "the series begin at different times, from {:.6g} to {:.6g}, so each has its own clock; "
        "forecasts of the last quarter of each are evaluated",
        facts.first_time, facts.last_time);
    choices.choose("data.start", std::string("first"), why);
    if (!choices.given("data.t_cut")) choices.choose("data.cut_share", kCutShare, why);
  }
  const double unit = time_unit(facts, span);
  const double steps =
      std::clamp(unit * kSpan / facts.median_gap, kFewestSteps, kMostSteps) / kSpan;  // a unit
  const bool remembered = unit < span / kSpan && facts.memory >= facts.median_gap;
  const std::string why = fmt::format(
      "{} {:.3g}, which is one unit of the model; the median gap between events is {:.3g}",
      remembered            ? "values change within about"
      : unit < span / kSpan ? "values change faster than they are measured, every"
                            : "values change slowly; a twelfth of a series is",
      unit, facts.median_gap);
  // Six digits, so that times written in another unit give the same number.
  const auto rounded = [](double value) { return std::stod(fmt::format("{:.6g}", value)); };
  choices.choose("data.time_unit", unit, why);
  choices.choose("model.step", rounded(unit / settings.time_unit / steps), why);
}

void choose_network(const DataFacts& facts, bool distribution, Choices& choices) {
  const auto features = static_cast<double>(facts.features);
  const std::string why = counted(facts.features, "feature");
  choices.choose("model.hidden", std::int64_t{distribution ? 128 : 64}, why);
  if (!distribution) return;
  choices.choose("model.head_hidden", std::int64_t{50}, why);
  choices.choose("model.encoder_width",
                 static_cast<std::int64_t>(std::clamp(std::round(160.0 / features), 8.0, 32.0)),
                 why);
}

void choose_training(const DataFacts& facts, const Config& config, bool distribution,
                     Choices& choices) {
  const auto windows = static_cast<double>(facts.windows);
  const auto observations = static_cast<double>(facts.observations);
  const auto batch = static_cast<std::int64_t>(
      std::clamp<std::size_t>(std::bit_floor(std::max<std::size_t>(1, facts.windows / 8)), 8, 32));
  const double batches = std::ceil(windows / static_cast<double>(batch));
  const double epochs = std::max(
      std::clamp(std::floor(kObservationsToSee / observations), kFewestEpochs, kMostEpochs),
      std::min(std::ceil(kFewestUpdates / batches), kMostEpochsOfFew));
  const std::string amount = fmt::format("{} training series with {}", facts.series,
                                         counted(facts.observations, "observation"));
  choices.choose("train.batch", batch, amount);
  choices.choose("train.chunk", std::max<std::int64_t>(8, batch / 2), amount);
  choices.choose("train.epochs", static_cast<std::int64_t>(epochs), amount);
  choices.choose("train.patience", usual_patience(static_cast<std::int64_t>(epochs)), amount);
  choices.choose("train.weight_decay", observations < 1e5 ? 0.03 : 0.01, amount);
  const std::string usual = "did well on all data it was tried on";
  choices.choose("train.learning_rate", distribution ? 6e-3 : 1e-3, usual);
  choices.choose("train.clip", 0.0, usual);
  choices.choose("train.clip_norm", 1.0, usual);
  if (!distribution) {
    choices.choose("train.schedule", std::string("cosine"), usual);
    // A constant rate is chosen in order to train on later, and a warm-up is a share of the run.
    if (config.train.schedule != Schedule::constant) choices.choose("train.warmup", 0.05, usual);
    return;
  }
  choices.choose("train.schedule", std::string("square-root"), usual);
  choices.choose("train.average", true, usual);
  choices.choose("train.criterion", std::string("crps"), usual);
  choices.choose("loss.evidence", 1e-3, usual);
  choices.choose("model.propagator", std::string("closed-form"), usual);
  choices.choose("model.recall", true, usual);
  choices.choose("train.whole_series", true, usual);
  choices.choose("train.forecast", 0.5, "in each epoch half of the series train longer horizons");
  choices.choose("train.calibrate", true, "calibrated intervals");
}

// Who reads what was observed beside the state.
void choose_readers(const DataFacts& facts, const ReadoutSettings& readout, Choices& choices) {
  // Of fewer series the validation part could not tell what their vote is worth, and the summaries
  // of more would have to be held in memory.
  if (facts.series < kFewestSeriesToRead || facts.series > kMostSeriesToRead) return;
  const std::string why =
      "networks and trees that read what was observed, not only the state, weighted by their gain "
      "on the validation split";
  choices.choose("readout.members", std::int64_t{10}, why);
  choices.choose("readout.without_state", readout.members / 2, why);
  choices.choose("readout.weight_decay", 0.1, why);
  choices.choose("readout.epochs", std::int64_t{30}, why);
  choices.choose("readout.trees", std::int64_t{400}, why);
}

void add_comment(const std::string& comment, std::string_view mark, std::string& text) {
  constexpr std::size_t kColumns = 88;
  for (const std::string& line : wrapped(comment, kColumns))
    text += fmt::format("{}{}\n", mark, line);
}

}  // namespace

std::int64_t usual_patience(std::int64_t epochs) {
  return std::max<std::int64_t>(4, (epochs + 2) / 3);
}

FittedSettings fit_settings(const Dataset& data, std::span<const std::string> given) {
  FittedSettings fitted;
  Choices choices(fitted, given);
  Config& config = fitted.config;
  choose_split(data, config.data, choices);
  const Split parts = split(data, config.data);
  check_trainable(parts, config.data);
  fitted.facts = facts_of(data, parts.train);
  const DataFacts& facts = fitted.facts;
  const bool distribution = model_kind(config.model.kind).has_distribution;
  choose_time(facts, config.data, choices);
  choose_network(facts, distribution, choices);
  choose_training(facts, config, distribution, choices);
  if (facts.classes > 1 && distribution) {
    const std::string why = "for `edict classify`: there are labels";
    choices.choose("classify.epochs", std::int64_t{60}, why);
    choices.choose("classify.batch", std::int64_t{32}, why);
    choices.choose("classify.learning_rate", 3e-3, why);
    choose_readers(facts, config.classify.readout, choices);
  }
  choices.add_given();
  validate(config);
  if (!facts.constant_features.empty()) {
    std::vector<std::string> names;
    for (const std::size_t j : facts.constant_features) names.push_back(data.features[j]);
    const bool one = names.size() == 1;
    fitted.notes.push_back(fmt::format(
        "feature{} {} never change{} in the training split; {} nothing and may be left out",
        one ? "" : "s", name_listing(names), one ? "s" : "", one ? "it teaches" : "they teach"));
  }
  for (const FeatureWithOutliers& outlying : facts.features_with_outliers)
    fitted.notes.push_back(fmt::format(
        "feature '{}' reaches from {:.6g} to {:.6g} in the training split, where nearly all of its "
        "values deviate by {:.3g} only: look for values in the wrong unit",
        data.features[outlying.feature], outlying.min, outlying.max, outlying.usual_deviation));
  if (facts.median_gap > 0 && facts.median_gap < kHardlySeen * facts.mean_gap)
    fitted.notes.push_back(fmt::format(
        "the usual gap between events is {:.3g}, but some of up to {:.3g} make up most of the "
        "time, and the model's clock hardly moves in between: cut series where they pause, each "
        "part with an id of its own, or set data.time_unit",
        facts.median_gap, facts.longest_gap));
  return fitted;
}

std::string commented_toml(const FittedSettings& fitted) {
  Config config = fitted.config;
  std::string text, open, reason;
  for (const settings::Key& key : keys(config)) {
    const std::size_t dot = key.name.find('.');
    if (const std::string table = key.name.substr(0, dot); table != open) {
      text += fmt::format("\n[{}]\n", table);
      open = table;
    }
    const auto choice = std::ranges::find(fitted.choices, key.name, &SettingChoice::key);
    add_comment(key.help, "# ", text);
    if (choice != fitted.choices.end()) {
      add_comment("here: " + (choice->why == reason ? "for the same reason" : choice->why), "#   ",
                  text);
      reason = choice->why;
    }
    const std::string alone = settings::to_toml(settings::Keys{{key}});  // "[table]\nkey = value\n"
    text += alone.substr(alone.find('\n') + 1);
  }
  return text;
}

}  // namespace edict

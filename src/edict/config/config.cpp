#include "edict/config/config.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>

#include "edict/config/toml_text.h"
#include "edict/core/error.h"
#include "edict/core/json_text.h"

namespace edict {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

template <class... Fs>
struct Overloaded : Fs... {
  using Fs::operator()...;
};
template <class... Fs>
Overloaded(Fs...) -> Overloaded<Fs...>;

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row.back();
}

// The text forms that a value may arrive in; TOML and JSON give typed values, --set gives text.
using Given = std::variant<double, std::int64_t, bool, std::string>;

std::string describe(const Key& key) {
  return std::visit(
      Overloaded{
          [&](double*) { return fmt::format("a number from {} to {}", key.low, key.high); },
          [&](std::int64_t*) {
            return fmt::format("a whole number from {} to {}", key.low, key.high);
          },
          [&](bool*) { return std::string("true or false"); },
          [&](std::string*) { return fmt::format("one of {}", fmt::join(key.choices, ", ")); }},
      key.value);
}

[[noreturn]] void refuse(const Key& key, const std::string& given, std::string_view where) {
  throw Error(fmt::format("{}: {} = {} is not allowed; it must be {}", where, key.name, given,
                          describe(key)));
}

void assign(const Key& key, const Given& given, std::string_view where) {
  const std::string text = std::visit([](const auto& v) { return fmt::format("{}", v); }, given);
  std::visit(Overloaded{[&](double* target) {
                          double v = 0;
                          if (const auto* d = std::get_if<double>(&given))
                            v = *d;
                          else if (const auto* i = std::get_if<std::int64_t>(&given))
                            v = static_cast<double>(*i);
                          else
                            refuse(key, text, where);
                          if (!(v >= key.low && v <= key.high)) refuse(key, text, where);
                          *target = v;
                        },
                        [&](std::int64_t* target) {
                          const auto* i = std::get_if<std::int64_t>(&given);
                          if (!i || static_cast<double>(*i) < key.low ||
                              static_cast<double>(*i) > key.high)
                            refuse(key, text, where);
                          *target = *i;
                        },
                        [&](bool* target) {
                          const auto* b = std::get_if<bool>(&given);
                          if (!b) refuse(key, text, where);
                          *target = *b;
                        },
                        [&](std::string* target) {
                          const auto* s = std::get_if<std::string>(&given);
                          if (!s || std::find(key.choices.begin(), key.choices.end(), *s) ==
                                        key.choices.end())
                            refuse(key, text, where);
                          *target = *s;
                        }},
             key.value);
}

Given parse_text(const Key& key, std::string_view text) {
  const char* end = text.data() + text.size();
  if (std::holds_alternative<std::string*>(key.value)) return std::string(text);
  if (text == "true") return true;
  if (text == "false") return false;
  std::int64_t i = 0;
  if (auto [p, e] = std::from_chars(text.data(), end, i); e == std::errc() && p == end) return i;
  double d = 0;
  if (auto [p, e] = std::from_chars(text.data(), end, d); e == std::errc() && p == end) return d;
  return std::string(text);
}

const Key& find(const std::vector<Key>& all, std::string_view name, std::string_view where) {
  for (const Key& key : all)
    if (key.name == name) return key;
  std::vector<std::string_view> names;
  for (const Key& key : all) names.push_back(key.name);
  throw Error(
      fmt::format("{}: unknown key '{}'; did you mean '{}'?", where, name, nearest(name, names)));
}

}  // namespace

std::string nearest(std::string_view word, const std::vector<std::string_view>& known) {
  return std::string(
      *std::min_element(known.begin(), known.end(), [&](std::string_view a, std::string_view b) {
        return edit_distance(word, a) < edit_distance(word, b);
      }));
}

std::vector<Key> keys(Config& c) {
  constexpr double kMaxSeed = 9e15;  // exactly representable in JSON's doubles
  return {
      {"data.seed", "fixes the split and the held-out observations", &c.data.seed, 0, kMaxSeed},
      {"data.train", "share of the series to train on", &c.data.train, 0.01, 0.98},
      {"data.validation", "share of the series to choose by; the rest is the test split",
       &c.data.validation, 0.01, 0.98},
      {"data.split",
       "stratified by label, or whole groups on one side",
       &c.data.split,
       0,
       0,
       {"label", "group"}},
      {"data.standardise", "z-normalise features by the training split", &c.data.standardise},
      {"data.start",
       "where a series' clock starts: at 0, at its first event, or whichever fits",
       &c.data.start,
       0,
       0,
       {"auto", "zero", "first"}},
      {"data.time_unit", "times are divided by this before the model sees them", &c.data.time_unit,
       1e-30, 1e30},
      {"data.t_cut", "training sees times before this, extrapolation is after; 0: 3/4 of the range",
       &c.data.t_cut, -1e30, 1e30},
      {"data.holdout", "share of the observations before t_cut held out for interpolation",
       &c.data.holdout, 0.0, 0.9},

      {"model.kind", "which model", &c.model.kind, 0, 0, {kModelKinds.begin(), kModelKinds.end()}},
      {"model.hidden", "size of the state h(t)", &c.model.hidden, 1, 4096},
      {"model.head_hidden", "hidden units of each head network", &c.model.head_hidden, 1, 4096},
      {"model.encoder_width", "encoding width per feature; seft: of its set elements",
       &c.model.encoder_width, 1, 1024},
      {"model.solver",
       "how dh/dt is integrated",
       &c.model.solver,
       0,
       0,
       {"euler", "midpoint", "rk4", "dopri5"}},
      {"model.step", "longest step (first step of dopri5), in time units", &c.model.step, 1e-12,
       1e12},
      {"model.rtol", "relative tolerance of dopri5", &c.model.rtol, 1e-14, 1.0},
      {"model.atol", "absolute tolerance of dopri5", &c.model.atol, 1e-14, 1.0},
      {"model.surprise",
       "deviation that scales the encoder's error input",
       &c.model.surprise,
       0,
       0,
       {"epistemic", "predictive"}},
      {"model.dropout", "share of the units left out while training (gru-d, ipn, seft)",
       &c.model.dropout, 0, 0.9},
      {"model.layers", "GRU layers (gru-d)", &c.model.layers, 1, 2},
      {"model.reference_step", "time between reference points (ipn)", &c.model.reference_step,
       1e-12, 1e12},
      {"model.reference_end",
       "reference points reach this long after the start (ipn); 0: to the last observation",
       &c.model.reference_end, 0, 1e12},
      {"model.time_scales", "wave lengths of the time encoding, a sine and a cosine each (seft)",
       &c.model.time_scales, 1, 1024},
      {"model.longest_scale", "longest wave length of the time encoding; the shortest is 1 (seft)",
       &c.model.longest_scale, 1, 1e12},
      {"model.encoder_layers", "layers of the network that encodes set elements (seft)",
       &c.model.encoder_layers, 1, 16},
      {"model.heads", "attention heads (seft)", &c.model.heads, 1, 256},
      {"model.aggregation",
       "how a set becomes one vector (seft)",
       &c.model.aggregation,
       0,
       0,
       {"attention", "mean"}},

      {"loss.kl", "weight beta1 of KL(Bayes||post)", &c.loss.kl, 0, 1e6},
      {"loss.kl_form",
       "conjugate NIW update, or moment-matched Gaussians",
       &c.loss.kl_form,
       0,
       0,
       {"niw", "gaussian"}},
      {"loss.kl_observation_std", "observation std inside the Gaussian form",
       &c.loss.kl_observation_std, 1e-6, 1e6},
      {"loss.evidence", "weight beta2 of the evidential regulariser", &c.loss.evidence, 0, 1e6},
      {"loss.reconstruction", "weight of the held-out observations' squared error (ipn); 0: off",
       &c.loss.reconstruction, 0, 1e6},
      {"loss.reconstruction_holdout", "share of the observations to reconstruct (ipn)",
       &c.loss.reconstruction_holdout, 0.01, 0.99},

      {"train.seed", "weights and order of the batches", &c.train.seed, 0, kMaxSeed},
      {"train.epochs", "passes over the training split", &c.train.epochs, 1, 1e6},
      {"train.batch", "series a step", &c.train.batch, 1, 1e6},
      {"train.learning_rate", "of Adam", &c.train.learning_rate, 0, 10},
      {"train.schedule", "of the learning rate", &c.train.schedule, 0, 0, {"constant", "cosine"}},
      {"train.warmup", "share of the steps over which the rate rises", &c.train.warmup, 0, 1},
      {"train.clip", "largest entry of a gradient; 0: off", &c.train.clip, 0, 1e30},
      {"train.clip_norm", "largest norm of a gradient; 0: off", &c.train.clip_norm, 0, 1e30},
      {"train.weight_decay", "decoupled weight decay", &c.train.weight_decay, 0, 10},
      {"train.patience", "epochs without a better validation before stopping; 0: never",
       &c.train.patience, 0, 1e6},
      {"train.forecast", "share of the series that, each epoch, only forecast after a random time",
       &c.train.forecast, 0, 1},
      {"train.thin", "share of the observations left out of training, drawn anew each epoch",
       &c.train.thin, 0, 0.95},
      {"train.recalibrate",
       "when trained, scale each feature's distribution to what the validation split held",
       &c.train.recalibrate},
      {"train.chunk", "series walked together", &c.train.chunk, 1, 4096},
      {"train.tape_megabytes", "memory a thread may keep for the backward pass",
       &c.train.tape_megabytes, 1, 1e6},

      {"classify.seed", "of the classifier's weights and batches", &c.classify.seed, 0, kMaxSeed},
      {"classify.layers", "1: linear; 2: with a bottleneck of half the state's size",
       &c.classify.layers, 1, 2},
      {"classify.epochs", "passes over the training split", &c.classify.epochs, 1, 1e6},
      {"classify.batch", "series a step", &c.classify.batch, 1, 1e6},
      {"classify.learning_rate", "of Adam", &c.classify.learning_rate, 0, 10},
      {"classify.weight_decay", "decoupled weight decay", &c.classify.weight_decay, 0, 10},
      {"classify.fine_tune", "epochs in which the whole model follows the classes too; 0: frozen",
       &c.classify.fine_tune, 0, 1e6},
      {"classify.fine_tune_rate", "learning rate of these epochs", &c.classify.fine_tune_rate, 0,
       10},
      {"classify.fine_tune_thin", "as train.thin, while fine-tuning", &c.classify.fine_tune_thin, 0,
       0.95},
      {"classify.evidential_weight",
       "weight of the evidential loss per observation beside the classes' per series",
       &c.classify.evidential_weight, 0, 1e6},
  };
}

namespace {

[[noreturn]] void fail(const toml::parse_error& e, const std::string& name) {
  const auto line = e.source().begin.line;
  throw Error(line ? fmt::format("{}:{}: {}", name, line, e.description())
                   : fmt::format("{}: {}", name, e.description()));
}

void apply(const toml::table& document, const std::string& name, Config& config) {
  const std::vector<Key> all = keys(config);
  for (auto&& [table_name, node] : document) {
    const auto at = [&](const toml::node& n) {
      return fmt::format("{}:{}", name, n.source().begin.line);
    };
    const std::string table(table_name.str());
    const toml::table* entries = node.as_table();
    if (!entries)
      throw Error(
          fmt::format("{}: '{}' stands outside a table; put it under [data], [model], "
                      "[loss], [train] or [classify]",
                      at(node), table));
    for (auto&& [key_name, value] : *entries) {
      const Key& key = find(all, table + "." + std::string(key_name.str()), at(value));
      if (auto b = value.value_exact<bool>())
        assign(key, *b, at(value));
      else if (auto i = value.value_exact<std::int64_t>())
        assign(key, *i, at(value));
      else if (auto d = value.value_exact<double>())
        assign(key, *d, at(value));
      else if (auto s = value.value_exact<std::string>())
        assign(key, *s, at(value));
      else
        refuse(key, "a list, table or date", at(value));
    }
  }
}

}  // namespace

void read_toml(const std::filesystem::path& file, Config& config) {
  toml::table document;
  try {
    document = toml::parse_file(file.string());
  } catch (const toml::parse_error& e) {
    fail(e, file.string());
  }
  apply(document, file.string(), config);
}

void read_toml_text(std::string_view text, const std::string& name, Config& config) {
  toml::table document;
  try {
    document = toml::parse(text, name);
  } catch (const toml::parse_error& e) {
    fail(e, name);
  }
  apply(document, name, config);
}

std::string to_toml(const Config& config) {
  Config copy = config;
  std::string text, open;
  for (const Key& key : keys(copy)) {
    const std::size_t dot = key.name.find('.');
    if (const std::string table(key.name.substr(0, dot)); table != open) {
      text += fmt::format("{}[{}]\n", open.empty() ? "" : "\n", table);
      open = table;
    }
    const std::string value = std::visit(
        Overloaded{[](const double* v) {
                     const std::string number = fmt::format("{}", *v);
                     // TOML tells 1 from 1.0.
                     return number.find_first_of(".e") == std::string::npos ? number + ".0"
                                                                            : number;
                   },
                   [](const std::string* v) { return fmt::format("\"{}\"", *v); },
                   [](const auto* v) { return fmt::format("{}", *v); }},
        key.value);
    text += fmt::format("{} = {}\n", key.name.substr(dot + 1), value);
  }
  return text;
}

void set(Config& config, std::string_view assignment) {
  const std::size_t equals = assignment.find('=');
  if (equals == std::string_view::npos)
    throw Error(
        fmt::format("--set {}: expected table.key=value, as in model.hidden=64", assignment));
  const std::vector<Key> all = keys(config);
  const Key& key = find(all, assignment.substr(0, equals), "--set");
  assign(key, parse_text(key, assignment.substr(equals + 1)), "--set");
}

nlohmann::json to_json(const Config& config) {
  Config copy = config;
  nlohmann::json json;
  for (const Key& key : keys(copy)) {
    const std::size_t dot = key.name.find('.');
    auto& slot = json[std::string(key.name.substr(0, dot))][std::string(key.name.substr(dot + 1))];
    std::visit([&](auto* value) { slot = *value; }, key.value);
  }
  return json;
}

void from_json(const nlohmann::json& json, Config& config) {
  const std::vector<Key> all = keys(config);
  for (const auto& [table, entries] : json.items())
    for (const auto& [name, value] : entries.items()) {
      const Key& key = find(all, table + "." + name, "configuration");
      if (value.is_boolean())
        assign(key, value.get<bool>(), "configuration");
      else if (value.is_number_integer())
        assign(key, value.get<std::int64_t>(), "configuration");
      else if (value.is_number())
        assign(key, value.get<double>(), "configuration");
      else if (value.is_string())
        assign(key, value.get<std::string>(), "configuration");
      else
        refuse(key, json_text(value), "configuration");
    }
}

void validate(const Config& config) {
  if (config.data.train + config.data.validation >= 1.0)
    throw Error(
        fmt::format("data.train + data.validation = {} leaves no test split; make them sum "
                    "to less than 1",
                    config.data.train + config.data.validation));
}

}  // namespace edict
